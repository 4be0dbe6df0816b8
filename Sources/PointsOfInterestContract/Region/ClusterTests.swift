import Foundation
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
        _ request: ClustersRequest, found: Set<Int>? = nil, in region: Region,
        into differences: inout Differences
    ) async throws {
        let response = try await Service.client().clusters(request)
        ExpectedClusters(request, found: found, in: region).compare(response, into: &differences)
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
        "A search for a text counts the places of each cell that the list has for it, and no others",
        .contract(
            .invariant, in: .clusters, otherwise: "A map would show places that a search doesn't find."),
        .needs(.clusters), .needs(.sharedWord))
    func textCells() async throws {
        try await Region.compare { region, differences in
            let zooms = try Self.zooms(of: region)
            let pair = try region.needed(\.pair, .sharedWord)
            for (zoom, text) in [(zooms.fine, pair.first), (zooms.coarse, "\(pair.first) \(pair.second)")] {
                // Also those that are found by names which no response shows.
                var found: Set<Int> = []
                let list = NearbyPlacesRequest(box: region.box, limit: 100, searchText: text)
                for try await place in try await Service.client().allNearbyPlaces(list) {
                    found.insert(place.id)
                }
                let request = ClustersRequest(box: region.box, zoom: zoom, searchText: text)
                try await Self.compare(request, found: found, in: region, into: &differences)
            }
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

/// The clusters that a region's box has to have, by brute force.
struct ExpectedClusters {
    /// The maximum error by rounding of the mean and of each position, in degrees.
    private static let precision = 1.5e-7

    let request: ClustersRequest
    private let touched: TouchedCells
    /// The matching places of each cell.
    private let cells: [Int: [PointOfInterest]]

    /// Every cell that the request's box touches has to be in the region, unless that is of no tile.
    ///
    /// - Parameter found: the ids of the places that the search text finds; nil without one.
    init(_ request: ClustersRequest, found: Set<Int>? = nil, in region: Region) {
        self.request = request
        let touched = TouchedCells(request.box, zoom: request.zoom)
        let filter = RegionFilter(request)
        var cells: [Int: [PointOfInterest]] = [:]
        for known in region.places {
            let place = known.place
            let tile = MapTile(level: touched.level, latitude: place.latitude, longitude: place.longitude)
            guard let number = touched.number(of: tile), filter.keeps(place),
                found?.contains(place.id) ?? true
            else { continue }
            cells[number, default: []].append(place)
        }
        (self.touched, self.cells) = (touched, cells)
    }

    func compare(_ response: PlaceClusters, into differences: inout Differences) {
        let query = "/locations/clusters?\(request.encodedQuery)"
        differences.expect(response.zoom, is: request.zoom, "\(query): zoom")
        let numbers = response.clusters.map { cluster in
            touched.number(
                of: MapTile(
                    level: touched.level, latitude: cluster.latitude, longitude: cluster.longitude)) ?? -1
        }
        differences.expect(
            zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 },
            "\(query): not from north to south, each row from the box's west to its east, each cell once")
        for (number, cluster) in zip(numbers, response.clusters) {
            guard let places = cells[number] else {
                differences.expect(false, "\(query): a cluster where no place matches: \(cluster)")
                continue
            }
            compare(cluster, places, query, into: &differences)
        }
        let shown = Set(numbers)
        for (number, places) in cells {
            differences.expect(
                shown.contains(number), "\(query): no cluster for \(places.count) places, \(places[0])")
        }
    }

    private func compare(
        _ cluster: PlaceCluster, _ places: [PointOfInterest], _ query: String,
        into differences: inout Differences
    ) {
        let latitudes = places.map(\.latitude)
        let longitudes = places.map { $0.longitude == 180 ? -180 : $0.longitude }
        func mean(_ numbers: [Double]) -> Double { numbers.reduce(0, +) / Double(numbers.count) }
        differences.expect(cluster.count, is: places.count, "\(query): count of \(cluster)")
        differences.expect(
            abs(cluster.latitude - mean(latitudes)) <= Self.precision
                && abs(cluster.longitude - mean(longitudes)) <= Self.precision,
            "\(query): the mean is \(mean(latitudes)), \(mean(longitudes)): \(cluster)")
        differences.expect(
            [cluster.box.west, cluster.box.south, cluster.box.east, cluster.box.north],
            is: [longitudes.min(), latitudes.min(), longitudes.max(), latitudes.max()].map { $0 ?? .nan },
            "\(query): bbox of \(cluster)")
        guard places.count == 1 else {
            return differences.expect(cluster.place == nil, "\(query): a place of several: \(cluster)")
        }
        let isThere = cluster.place != nil && cluster.place?.distance == nil
        differences.expect(isThere, "\(query): no place, or one with a distance: \(cluster)")
        for difference in cluster.place?.differences(from: places[0]) ?? [] {
            differences.expect(false, "\(query): place \(places[0].id), \(difference)")
        }
    }
}

/// A tile of Web Mercator, computed from the definition (EPSG method 1024), apart from the service.
struct MapTile: Hashable {
    /// How many levels the cells of a request are below its zoom.
    static let levelsBelowZoom = 2
    /// The latitude where the map's square ends; the rows at its edges reach the poles.
    private static let edge = atan(sinh(Double.pi)) * 180 / .pi
    /// A tenth of a millimetre, in degrees. Positions on the edge between two tiles are kept out of a box by it.
    private static let inset = 1e-9

    let level: Int
    let row: Int
    let column: Int

    /// How many tiles there are from the antimeridian around the Earth, and from pole to pole.
    private var across: Int { 1 << level }
}

extension MapTile {
    /// The tile that a position is in.
    init(level: Int, latitude: Double, longitude: Double) {
        let across = Double(1 << level)
        let inSquare = min(max(latitude, -Self.edge), Self.edge) * .pi / 180
        let fromNorth = 0.5 - asinh(tan(inSquare)) / (2 * .pi)
        let fromWest = longitude == 180 ? 0 : (longitude + 180) / 360
        func index(_ fraction: Double) -> Int { Int(min(max(fraction * across, 0), across - 1)) }
        self.init(level: level, row: index(fromNorth), column: index(fromWest))
    }

    /// The box of the positions that are in this tile and on no edge that is another tile's.
    var box: BoundingBox? {
        let width = 360 / Double(across)
        let west = Double(column) * width - 180
        let isEarthWide = across == 1
        return BoundingBox(
            west: west, south: row == across - 1 ? -90 : latitude(ofRow: row + 1) + Self.inset,
            east: isEarthWide ? 180 : west + width - Self.inset,
            // The equator is an edge that places are on; it belongs to the tile south of it.
            north: row == 0 ? 90 : row * 2 == across ? 0 : latitude(ofRow: row) - Self.inset)
    }

    /// The latitude of a row's northern edge.
    private func latitude(ofRow row: Int) -> Double {
        atan(sinh(.pi * (1 - 2 * Double(row) / Double(across)))) * 180 / .pi
    }
}

/// The cells that a box touches.
struct TouchedCells {
    let level: Int
    private let rows: ClosedRange<Int>
    private let firstColumn: Int
    private let columnCount: Int

    init(_ box: BoundingBox, zoom: Int) {
        level = zoom + MapTile.levelsBelowZoom
        let northWest = MapTile(level: level, latitude: box.north, longitude: box.west)
        let southEast = MapTile(level: level, latitude: box.south, longitude: box.east)
        rows = northWest.row...southEast.row
        firstColumn = northWest.column
        let across = 1 << level
        var lastColumn = southEast.column
        // The meridian of 180 is in the first column, which a box that ends there touches behind the last one.
        if box.west > box.east && box.west != 180 || box.east == 180 && abs(box.west) != 180 {
            lastColumn += across
        }
        let isEarthWide = box.west == -180 && box.east == 180
        columnCount = isEarthWide ? across : min(across, lastColumn - firstColumn + 1)
    }

    /// The cell's number from north to south, and in each row from the box's west to its east; nil for a cell that the
    /// box doesn't touch.
    func number(of tile: MapTile) -> Int? {
        let across = 1 << level
        let eastward = (tile.column - firstColumn + across) % across
        guard rows.contains(tile.row), eastward < columnCount else { return nil }
        return (tile.row - rows.lowerBound) * across + eastward
    }
}
