import PointsOfInterestClient
import Testing

@Suite("Clusters, compared with their places", .timeLimit(.minutes(2)))
struct ClusterTests {
    @Test(
        "Each cell has the number, the mean and the box of its places, in order from north to south",
        .contract(
            .invariant, in: .clusters,
            otherwise: "A map would show wrong numbers, or put them where no place is."), .needs(.place))
    func cells() async throws {
        try await Region.compare { region, differences in
            for zoom in region.zooms {
                try await region.compare(ClustersRequest(box: region.box, zoom: zoom), into: &differences)
            }
        }
    }

    @Test(
        "A filter by category, dataset or featured places counts only the places of each cell that match",
        .contract(
            .invariant, in: .clusters,
            otherwise: "A map's numbers would count places that its list leaves out."),
        .needs(.twoCategories))
    func filteredCells() async throws {
        try await Region.compare { region, differences in
            let zooms = region.zooms
            var request = ClustersRequest(
                box: region.box, zoom: zooms[0], categories: Array(region.categories.prefix(2)))
            try await region.compare(request, into: &differences)
            (request.zoom, request.categories, request.featured) = (zooms[1], [], true)
            try await region.compare(request, into: &differences)
            (request.categories, request.featured) = ([region.categories[0]], false)
            try await region.compare(request, into: &differences)
            if let dataset = region.first(where: { $0.source != nil })?.source?.dataset {
                (request.categories, request.datasets, request.featured) = ([], [dataset], nil)
                try await region.compare(request, into: &differences)
            }
        }
    }

    @Test(
        "A search for a text counts the places of each cell that the list has for it, and no others",
        .contract(
            .invariant, in: .clusters, otherwise: "A map would show places that a search doesn't find."),
        .needs(.sharedWord))
    func textCells() async throws {
        try await Region.compare { region, differences in
            let pair = try region.needed(\.pair, .sharedWord)
            for (zoom, text) in zip(region.zooms, [pair.first, "\(pair.first) \(pair.second)"]) {
                // Also those that are found by names which no response shows.
                let list = NearbyPlacesRequest(box: region.box, limit: 100, searchText: text)
                var found: Set<Int> = []
                for try await place in try await Service.client().allNearbyPlacesAsSent(list) {
                    found.insert(place.id)
                }
                let request = ClustersRequest(box: region.box, zoom: zoom, searchText: text)
                try await region.compare(request, found: found, into: &differences)
            }
        }
    }

    @Test(
        "A cell that a box touches is counted whole, beyond the box and across the antimeridian too",
        .contract(
            .invariant, in: .clusters,
            otherwise: "Numbers at a map's edge would jump while the map is moved."),
        .needs(.place))
    func wholeCells() async throws {
        try await Region.compare { region, differences in
            for zoom in region.zooms {
                let whole = try await Service.client().clusters(ClustersRequest(box: region.box, zoom: zoom))
                try await compare(region.quarter, with: whole, into: &differences)
            }
            // From the edge of a cell eastwards to the 60th degree: the places of most continents are in it.
            try await compare(.edges(90, -90, 60, 90), with: region.earth, into: &differences)
        }
    }

    /// Compares the clusters of a box with those of a larger one: the cells that it touches are the same.
    private func compare(
        _ box: BoundingBox, with whole: PlaceClusters, into differences: inout Differences
    ) async throws {
        let part = try await Service.client().clusters(ClustersRequest(box: box, zoom: whole.zoom)).clusters
        let west = box.crossesAntimeridian ? box.west : -180
        differences.expect(part.isInOrder(from: west), "clusters of \(box) aren't in order")
        for cluster in part {
            differences.expect(whole.clusters.contains(cluster), "not a cell of the larger box: \(cluster)")
        }
        for cluster in whole.clusters where cluster.box.touches(box) {
            differences.expect(part.contains(cluster), "the box \(box) lacks \(cluster)")
        }
    }

    @Test(
        "The clusters of a category have as many places as the category says, and all clusters as all categories",
        .contract(
            .invariant, in: .categories,
            otherwise: "A filter would promise another number of places than the map then shows."),
        .needs(.place))
    func categories() async throws {
        try await Region.compare { region, differences in
            let service = try await Service.client()
            let categories = try await service.categories()
            differences.expect(
                region.earth.clusters.total, is: categories.map(\.count).reduce(0, +),
                "places in all clusters")
            for category in categories.prefix(12) {
                let request = ClustersRequest(
                    box: try .earth, zoom: region.earth.zoom, categories: [category.name])
                let count = try await service.clusters(request).clusters.total
                differences.expect(count, is: category.count, "places of \(category.name) in clusters")
            }
        }
    }
}

extension Region {
    /// The deepest zoom at which its box has no more cells than a request may, and one three levels higher.
    fileprivate var zooms: [Int] {
        let fine = min(cellZoom + 5, ClustersRequest.zooms.upperBound)
        return [fine, max(fine - 3, cellZoom)]
    }

    /// Compares the clusters of its box with its places.
    ///
    /// Where cells begin and end is not recomputed: a cell's places are all those in the cluster's box, since cells are
    /// rectangles, and no two of them have a place in common.
    ///
    /// - Parameter found: the ids of the places that a text or the properties find; nil without such a filter.
    func compare(
        _ request: ClustersRequest, found: Set<Int>? = nil, into differences: inout Differences
    ) async throws {
        let response = try await Service.client().clusters(request)
        let (query, clusters) = ("/locations/clusters?\(request.encodedQuery)", response.clusters)
        let filter = RegionFilter(request)
        let matching = places.map(\.place).filter {
            filter.keeps($0) && found?.contains($0.id) ?? true && box.isAround($0)
        }
        differences.expect(response.zoom, is: request.zoom, "\(query): zoom")
        differences.expect(clusters.total, is: matching.count, "\(query): places in all clusters")
        differences.expect(
            clusters.isInOrder(from: -180), "\(query): not from north to south and west to east")
        let cellCount = 1 << (2 * (request.zoom - cellZoom))
        differences.expect(
            clusters.count <= cellCount, "\(query): \(clusters.count) clusters in \(cellCount) cells")
        for cluster in clusters {
            let width = cluster.box.east - cluster.box.west
            differences.expect(
                width <= 90 / Double(1 << request.zoom), "\(query): wider than a cell: \(cluster)")
            cluster.compare(matching.filter(cluster.box.isAround), query, into: &differences)
        }
    }
}

extension PlaceCluster {
    /// The maximum error by rounding of the mean, in degrees.
    private static let precision = 1.5e-7

    fileprivate func compare(
        _ places: [PointOfInterest], _ query: String, into differences: inout Differences
    ) {
        let (latitudes, longitudes) = (places.map(\.latitude), places.map(\.clusteredLongitude))
        func isMean(_ number: Double, _ numbers: [Double]) -> Bool {
            abs(number - numbers.reduce(0, +) / Double(numbers.count)) <= Self.precision
        }
        differences.expect(count, is: places.count, "\(query): count of \(self)")
        differences.expect(
            isMean(latitude, latitudes) && isMean(longitude, longitudes), "\(query): not the mean: \(self)")
        differences.expect(
            [box.west, box.south, box.east, box.north],
            is: [longitudes.min(), latitudes.min(), longitudes.max(), latitudes.max()].map { $0 ?? .nan },
            "\(query): bbox of \(self)")
        guard places.count == 1 else {
            return differences.expect(place == nil, "\(query): a place of several: \(self)")
        }
        differences.expect(
            place != nil && place?.distance == nil, "\(query): no place, or one with a distance: \(self)")
        for difference in place?.differences(from: places[0]) ?? [] {
            differences.expect(false, "\(query): place \(places[0].id), \(difference)")
        }
    }
}

extension [PlaceCluster] {
    fileprivate var total: Int { map(\.count).reduce(0, +) }

    /// Whether each one is south of the one before, or east of it, counted from a meridian.
    fileprivate func isInOrder(from west: Double) -> Bool {
        func eastward(_ longitude: Double) -> Double { longitude < west ? longitude + 360 : longitude }
        return zip(self, dropFirst()).allSatisfy { one, other in
            one.box.south > other.box.north || eastward(other.box.west) > eastward(one.box.east)
        }
    }
}

extension PointOfInterest {
    /// As clusters have it, for which 180 is -180.
    fileprivate var clusteredLongitude: Double { longitude == 180 ? -180 : longitude }
}

extension BoundingBox {
    fileprivate func isAround(_ place: PointOfInterest) -> Bool {
        (south...north).contains(place.latitude) && (west...east).contains(place.clusteredLongitude)
    }

    /// Whether it has a point in common with another one, which may cross the antimeridian.
    fileprivate func touches(_ other: BoundingBox) -> Bool {
        let (isAfter, isBefore) = (other.west <= east, west <= other.east)
        return south <= other.north && other.south <= north
            && (other.west <= other.east ? isAfter && isBefore : isAfter || isBefore)
    }
}
