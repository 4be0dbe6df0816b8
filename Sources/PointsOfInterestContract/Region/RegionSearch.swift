import Foundation
import PointsOfInterestClient

struct FoundBox {
    let box: BoundingBox
    let cellZoom: Int
    let earth: PlaceClusters
}

enum RegionSearch {
    /// A region with fewer places shows little; a more crowded part of the Earth is looked at again.
    private static let desiredCount = 300
    /// How many zooms deeper a cell is looked at again: 1,024 cells are as many as a request may have.
    private static let step = 5

    static func region() async throws -> Region? {
        for _ in 1...3 {
            guard let found = try await byClusters() else { return nil }
            guard let pages = try await walk(found.box) else { continue }
            if try await pages[0].hasChanged() { continue }
            return pages[0].places.isEmpty ? nil : Region(found, pages: pages)
        }
        throw MovingData()
    }

    /// The whole Earth, or the cell of a map that has the most places of those that don't have too many.
    private static func byClusters() async throws -> FoundBox? {
        let client = try await Service.client()
        var zoom = 3
        let earth = try await client.clusters(ClustersRequest(box: .earth, zoom: zoom))
        var clusters = earth.clusters
        guard !clusters.isEmpty else { return nil }
        if clusters.map(\.count).reduce(0, +) <= Region.maximumCount {
            return FoundBox(box: try .earth, cellZoom: -2, earth: earth)
        }
        var best: (cluster: PlaceCluster, zoom: Int)?
        while true {
            for cluster in clusters where cluster.count <= Region.maximumCount {
                if cluster.count > best?.cluster.count ?? 0 { best = (cluster, zoom) }
            }
            guard best?.cluster.count ?? 0 < desiredCount, zoom + step <= ClustersRequest.zooms.upperBound,
                let crowd = clusters.max(by: { $0.count < $1.count }), crowd.count > Region.maximumCount
            else { break }
            zoom += step
            clusters = try await client.clusters(ClustersRequest(box: crowd.box, zoom: zoom)).clusters
        }
        guard let best else { throw NoRegion() }
        return FoundBox(box: best.cluster.box, cellZoom: best.zoom, earth: earth)
    }

    /// All pages of a box, by their links; nil where they have more places than a region, as they may after a change.
    private static func walk(_ box: BoundingBox) async throws -> [PlacesResponse]? {
        let request = NearbyPlacesRequest(box: box, limit: 100)
        var pages = [try await PlacesResponse(to: "/locations?" + request.encodedQuery)]
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
    private let response: Exchange

    init(to target: String) async throws {
        response = try await Service.response(to: target)
        guard response.status == 200 else { throw RequestError.unexpectedStatus(response.status) }
        self.target = target
        places = try JSONDecoder().decode([PointOfInterest].self, from: response.body)
        next = try response.header("Link").map { link in
            guard let match = try /<(\?[^>]*)>; *rel=(?:"next"|next(?![^,;\s]))/.firstMatch(in: link) else {
                throw RequestError.undecodableBody(reason: "not a link to the next page: \(link)")
            }
            return String(match.output.1)
        }
    }

    /// The distances just as they came: the client rounds those of its places.
    var distances: [Double?] {
        get throws { try JSON(response.body).array?.map { $0["distance"]?.number } ?? [] }
    }

    func hasChanged() async throws -> Bool {
        let tag = response.header("ETag")
        let now = try await Service.response(to: target, headers: tag.map { ["If-None-Match": $0] } ?? [:])
        if now.status == 304 { return false }
        // A proxy may take the condition away; a service that doesn't know its dataset's id sends no tag.
        guard let tag, let newTag = now.header("ETag") else { return now.body != response.body }
        return newTag != tag
    }
}

extension BoundingBox {
    static func edges(_ west: Double, _ south: Double, _ east: Double, _ north: Double) throws -> BoundingBox
    {
        guard let box = BoundingBox(west: west, south: south, east: east, north: north) else {
            throw RequestError.invalidCoordinate
        }
        return box
    }

    static var earth: BoundingBox { get throws { try edges(-180, -90, 180, 90) } }
}

extension PointOfInterest {
    var position: Coordinate { Coordinate(validLatitude: latitude, validLongitude: longitude) }

    var pointBox: BoundingBox { get throws { try .edges(longitude, latitude, longitude, latitude) } }
}
