import Foundation
import PointsOfInterestClient

/// A box that is to be a region.
struct FoundBox {
    let box: BoundingBox
    var tile: MapTile?
    var earth: PlaceClusters?
    /// Its pages, where they were looked at to find it.
    var pages: [PlacesResponse]?

    static var wholeEarth: BoundingBox { get throws { try box(-180, -90, 180, 90) } }

    static func box(_ west: Double, _ south: Double, _ east: Double, _ north: Double) throws -> BoundingBox {
        guard let box = BoundingBox(west: west, south: south, east: east, north: north) else {
            throw RequestError.invalidCoordinate
        }
        return box
    }
}

/// Finds a region, and walks through its pages.
enum RegionSearch {
    /// A region with fewer places shows little; a more crowded part of the Earth is looked at again.
    private static let desiredCount = 300
    private static let earthZoom = 3
    /// How many levels deeper a tile is looked at again: 1,024 cells are as many as a request may have.
    private static let step = 5

    /// Finds a region and walks through it; nil where there are no places.
    static func region(number: Int) async throws -> Region? {
        for _ in 1...3 {
            let found: FoundBox?
            do {
                found = try await byClusters()
            } catch RequestError.problem(let problem) where problem.code == .indexRequired {
                found = try await byDoubling()
            }
            guard let found else { return nil }
            guard let pages = try await pages(of: found) else { continue }
            if try await pages[0].hasChanged() { continue }
            return pages[0].places.isEmpty ? nil : Region(number: number, found: found, pages: pages)
        }
        throw MovingData()
    }

    private static func pages(of found: FoundBox) async throws -> [PlacesResponse]? {
        if let pages = found.pages { return pages }
        return try await walk(found.box)
    }

    // MARK: - By the numbers of places in the tiles of a map

    private static func byClusters() async throws -> FoundBox? {
        let client = try await Service.client()
        let earth = try await client.clusters(ClustersRequest(box: FoundBox.wholeEarth, zoom: earthZoom))
        var clusters = earth.clusters
        guard !clusters.isEmpty else { return nil }
        if clusters.map(\.count).reduce(0, +) <= Region.maximumCount {
            let tile = MapTile(level: 0, row: 0, column: 0)
            return FoundBox(box: try FoundBox.wholeEarth, tile: tile, earth: earth)
        }
        var best: (tile: MapTile, count: Int)?
        var zoom = earthZoom
        while true {
            let tiles = clusters.map { cluster in
                let level = zoom + MapTile.levelsBelowZoom
                let tile = MapTile(level: level, latitude: cluster.latitude, longitude: cluster.longitude)
                return (tile: tile, count: cluster.count)
            }
            let candidates = tiles.filter { $0.count <= Region.maximumCount } + (best.map { [$0] } ?? [])
            best = candidates.max { $0.count < $1.count }
            guard best?.count ?? 0 < desiredCount, zoom + step <= ClustersRequest.zooms.upperBound,
                let crowd = tiles.max(by: { $0.count < $1.count }), crowd.count > Region.maximumCount,
                let box = crowd.tile.box
            else { break }
            zoom += step
            clusters = try await client.clusters(ClustersRequest(box: box, zoom: zoom)).clusters
        }
        guard let tile = best?.tile, let box = tile.box else { throw NoRegion() }
        return FoundBox(box: box, tile: tile, earth: earth)
    }

    // MARK: - Around a place, where clusters can't be counted

    private static func byDoubling() async throws -> FoundBox? {
        let client = try await Service.client()
        let total = try await client.categories().map(\.count).reduce(0, +)
        if total == 0 { return nil }
        if total <= Region.maximumCount { return FoundBox(box: try FoundBox.wholeEarth) }
        let center = try await Service.center()
        // In a box as wide as this disc are about as many places as a page has.
        let distance = try await Service.places(around: center, limit: 100).last?.distance ?? 0
        var half = max(distance / 111_000, 1e-6)
        var last: FoundBox?
        while true {
            let box = try FoundBox.box(
                max(-180, center.longitude - half), max(-90, center.latitude - half),
                min(180, center.longitude + half), min(90, center.latitude + half))
            guard let pages = try await walk(box) else {
                if let last { return last }
                half /= 2
                guard half > 1e-9 else { throw NoRegion() }
                continue
            }
            let found = FoundBox(box: box, pages: pages)
            if pages.map(\.places.count).reduce(0, +) >= desiredCount { return found }
            last = found
            half *= 2
        }
    }

    // MARK: - Its pages

    /// All pages of a box, by their links; nil where they have more places than a region, as they may after a change.
    private static func walk(_ box: BoundingBox) async throws -> [PlacesResponse]? {
        var pages = [
            try await PlacesResponse(
                to: "/locations?" + NearbyPlacesRequest(box: box, limit: 100).encodedQuery)
        ]
        while let next = pages[pages.count - 1].next {
            guard pages.count < Region.maximumCount / 100 else { return nil }
            pages.append(try await PlacesResponse(to: "/locations" + next))
        }
        return pages
    }
}

/// No box can be found that has places, but not too many.
struct NoRegion: Error, CustomStringConvertible {
    let description =
        "no part of the Earth was found with 1…\(Region.maximumCount) places to compare by brute force"
}

/// A page of places, with what the client doesn't show.
struct PlacesResponse: Sendable {
    let target: String
    let places: [PointOfInterest]
    /// The query of the next page, with its question mark.
    let next: String?
    let tag: String?
    private let body: Data

    init(to target: String) async throws {
        let response = try await Service.response(to: target)
        guard response.status == 200 else { throw Refused(target: target, status: response.status) }
        self.target = target
        places = try JSONDecoder().decode([PointOfInterest].self, from: response.body)
        next = try response.header("Link").map { link in
            guard let match = try /<(\?[^>]*)>; *rel="next"/.firstMatch(in: link) else {
                throw RequestError.undecodableBody(reason: "not a link to the next page: \(link)")
            }
            return String(match.output.1)
        }
        tag = response.header("ETag")
        body = response.body
    }

    /// A request that should have been fine.
    private struct Refused: Error, CustomStringConvertible {
        let target: String
        let status: Int

        var description: String { "\(target) has the status \(status)" }
    }

    /// The distances just as they came: the client rounds those of its places.
    var distances: [Double?] {
        get throws {
            struct Place: Decodable {
                let distance: Double?
            }
            return try JSONDecoder().decode([Place].self, from: body).map(\.distance)
        }
    }

    /// Whether the service would send something else now.
    func hasChanged() async throws -> Bool {
        let response = try await Service.response(
            to: target, headers: tag.map { ["If-None-Match": $0] } ?? [:])
        if response.status == 304 { return false }
        // A proxy may take the condition away; a service that doesn't know its dataset's id sends no tag.
        guard let tag, let newTag = response.header("ETag") else { return response.body != body }
        return newTag != tag
    }
}
