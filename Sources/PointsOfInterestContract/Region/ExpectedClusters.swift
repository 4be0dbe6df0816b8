import Foundation
import PointsOfInterestClient

/// The clusters that a region's box has to have, by brute force.
struct ExpectedClusters {
    /// The matching places of a cell.
    private struct Cell {
        var places: [PointOfInterest] = []
        /// The number of places that may match or not.
        var openCount = 0
    }

    /// The maximum error by rounding of the mean and of each position, in degrees.
    private static let precision = 1.5e-7

    let request: ClustersRequest
    private let touched: TouchedCells
    private let cells: [Int: Cell]

    /// Every cell that the request's box touches has to be in the region, unless that is of no tile.
    init(_ request: ClustersRequest, in region: Region) {
        self.request = request
        let touched = TouchedCells(request.box, zoom: request.zoom)
        let filter = RegionFilter(request)
        var cells: [Int: Cell] = [:]
        for known in region.places {
            let place = known.place
            let tile = MapTile(level: touched.level, latitude: place.latitude, longitude: place.longitude)
            guard let number = touched.number(of: tile), let isCertain = filter.keeps(known) else { continue }
            cells[number, default: Cell()].places.append(place)
            if !isCertain { cells[number, default: Cell()].openCount += 1 }
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
            guard let cell = cells[number] else {
                differences.expect(false, "\(query): a cluster where no place matches: \(cluster)")
                continue
            }
            compare(cluster, cell, query, into: &differences)
        }
        let shown = Set(numbers)
        for (number, cell) in cells where cell.places.count > cell.openCount {
            differences.expect(
                shown.contains(number),
                "\(query): no cluster for \(cell.places.count) places, \(cell.places[0])")
        }
    }

    private func compare(
        _ cluster: PlaceCluster, _ cell: Cell, _ query: String, into differences: inout Differences
    ) {
        let places = cell.places
        guard cell.openCount == 0 else {
            let counts = max(1, places.count - cell.openCount)...places.count
            return differences.expect(counts.contains(cluster.count), "\(query): not \(counts): \(cluster)")
        }
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
