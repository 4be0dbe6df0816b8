import PointsOfInterestClient
import Testing

@Suite("Clusters, compared with their places", .timeLimit(.minutes(2)))
struct ClusterTests {
    /// The deepest zoom at which the region has no more cells than a request may, and one three levels higher.
    private static func zooms(of region: Region) throws -> (fine: Int, coarse: Int) {
        guard let tile = region.tile else { throw NotShown(fact: .clusters) }
        let fine = min(tile.level + 3, ClustersRequest.zooms.upperBound)
        return (fine, max(fine - 3, tile.level - MapTile.levelsBelowZoom, 0))
    }

    private static func compare(
        _ request: ClustersRequest, in region: Region, into differences: inout Differences
    ) async throws {
        let response = try await Service.client().clusters(request)
        ExpectedClusters(request, in: region).compare(response, into: &differences)
    }

    @Test(
        "Each cell has the number, the mean and the box of its places, in order from north to south",
        .contract(
            .invariant, in: .clusters,
            otherwise: "A map would show wrong numbers, or put them where no place is."),
        .needs(.clusters), .needs(.place))
    func cells() async throws {
        try await Region.compare { region, differences in
            let zooms = try Self.zooms(of: region)
            for zoom in [zooms.fine, zooms.coarse] {
                try await Self.compare(
                    ClustersRequest(box: region.box, zoom: zoom), in: region, into: &differences)
            }
        }
    }

    @Test(
        "A cell that a box touches is counted whole, beyond the box too",
        .contract(
            .invariant, in: .clusters,
            otherwise: "Numbers at a map's edge would jump while the map is moved."),
        .needs(.clusters), .needs(.place))
    func wholeCells() async throws {
        try await Region.compare { region, differences in
            let zooms = try Self.zooms(of: region)
            let box = try #require(region.quarter)
            for zoom in [zooms.fine, zooms.coarse] {
                try await Self.compare(
                    ClustersRequest(box: box, zoom: zoom), in: region, into: &differences)
            }
        }
    }

    @Test(
        "A filter by category, dataset or featured places counts only the places of each cell that match",
        .contract(
            .invariant, in: .clusters,
            otherwise: "A map's numbers would count places that its list leaves out."),
        .needs(.clusters), .needs(.twoCategories))
    func filteredCells() async throws {
        try await Region.compare { region, differences in
            let zooms = try Self.zooms(of: region)
            var request = ClustersRequest(
                box: region.box, zoom: zooms.fine, categories: Array(region.categories.prefix(2)))
            try await Self.compare(request, in: region, into: &differences)
            (request.zoom, request.categories, request.featured) = (zooms.coarse, [], true)
            try await Self.compare(request, in: region, into: &differences)
            (request.categories, request.featured) = ([region.categories[0]], false)
            try await Self.compare(request, in: region, into: &differences)
            if let dataset = region.first(where: { $0.source != nil })?.source?.dataset {
                (request.categories, request.datasets, request.featured) = ([], [dataset], nil)
                try await Self.compare(request, in: region, into: &differences)
            }
        }
    }

    @Test(
        "A search for a text counts only the places of each cell that have all of its words",
        .contract(
            .invariant, in: .clusters, otherwise: "A map would show places that a search doesn't find."),
        .needs(.clusters), .needs(.sharedWord))
    func textCells() async throws {
        try await Region.compare { region, differences in
            let zooms = try Self.zooms(of: region)
            let pair = try region.needed(\.pair, .sharedWord)
            var request = ClustersRequest(box: region.box, zoom: zooms.fine, searchText: pair.first)
            try await Self.compare(request, in: region, into: &differences)
            (request.zoom, request.searchText) = (zooms.coarse, "\(pair.first) \(pair.second)")
            try await Self.compare(request, in: region, into: &differences)
        }
    }

    @Test(
        "A box across the antimeridian has the cells of the whole Earth, each row from the box's west to its east",
        .contract(
            .invariant, in: .clusters, otherwise: "A map of the Pacific would lack one half of it."),
        .needs(.clusters), .needs(.place))
    func antimeridian() async throws {
        try await Region.compare { region, differences in
            guard let earth = region.earth else { throw NotShown(fact: .clusters) }
            // From the 100th degree eastwards to the 60th: the places of most continents are in it.
            let box = try FoundBox.box(100, -90, 60, 90)
            let touched = TouchedCells(box, zoom: earth.zoom)
            let expected = earth.clusters.compactMap { cluster in
                let tile = MapTile(
                    level: touched.level, latitude: cluster.latitude, longitude: cluster.longitude)
                return touched.number(of: tile).map { ($0, cluster) }
            }
            .sorted { $0.0 < $1.0 }.map(\.1)
            let found = try await Service.client().clusters(ClustersRequest(box: box, zoom: earth.zoom))
            differences.expect(found.clusters.count, is: expected.count, "clusters")
            for (number, pair) in zip(found.clusters, expected).enumerated() where pair.0 != pair.1 {
                differences.expect(false, "cluster \(number) is \(pair.0) instead of \(pair.1)")
            }
        }
    }

    @Test(
        "The clusters of a category have as many places as the category says, and all clusters as all categories",
        .contract(
            .invariant, in: .categories,
            otherwise: "A filter would promise another number of places than the map then shows."),
        .needs(.clusters), .needs(.place))
    func categories() async throws {
        try await Region.compare { region, differences in
            guard let earth = region.earth else { throw NotShown(fact: .clusters) }
            let service = try await Service.client()
            let categories = try await service.categories()
            let total = earth.clusters.map(\.count).reduce(0, +)
            differences.expect(total, is: categories.map(\.count).reduce(0, +), "places in all clusters")
            for category in categories.prefix(12) {
                let request = ClustersRequest(
                    box: try FoundBox.wholeEarth, zoom: earth.zoom, categories: [category.name])
                let count = try await service.clusters(request).clusters.map(\.count).reduce(0, +)
                differences.expect(count, is: category.count, "places of \(category.name) in clusters")
            }
        }
    }
}
