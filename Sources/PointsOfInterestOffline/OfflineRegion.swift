import Foundation
import PointsOfInterestHTTP
import PointsOfInterestServerAPI

/// A part of the world whose places are on the device: what is in it, and how large it may become.
public struct OfflineRegion: Hashable, Sendable, Identifiable {
    /// Names the region and its files.
    public let id: UUID
    /// What people call it.
    public var name: String
    /// Where its places are.
    public var box: BoundingBox
    /// Which places it has. It searches no text.
    public var filter: PlaceFilter
    /// The languages of the user, the preferred one first, at most 10: favourites that are elsewhere have their names in these. All
    /// else is in the region in all languages.
    public var languages: [String]
    /// The ids of places that it has wherever they are, such as a person's favourites; at most 100.
    public var favorites: [Int] = []
    /// How many bytes its file may have.
    public var maximumBytes: Int

    /// Makes the region of a box. By default it may have 64 MiB, which is about 100,000 places.
    public init(
        id: UUID = UUID(), name: String, box: BoundingBox, filter: PlaceFilter = PlaceFilter(),
        languages: [String] = [], maximumBytes: Int = 64 << 20
    ) {
        self.id = id
        self.name = name
        self.box = box
        self.filter = filter
        self.languages = languages
        self.maximumBytes = maximumBytes
    }

    /// Makes the region of the box around a circle.
    ///
    /// - Parameter radiusMeters: above 0; what reaches beyond a pole ends there.
    public init(
        id: UUID = UUID(), name: String, around center: Coordinate, radiusMeters: Double,
        filter: PlaceFilter = PlaceFilter(), languages: [String] = [], maximumBytes: Int = 64 << 20
    ) {
        self.init(
            id: id, name: name, box: BoundingBox(around: center, radiusMeters: radiusMeters), filter: filter,
            languages: languages, maximumBytes: maximumBytes)
    }
}

extension OfflineRegion: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, name, filter, languages, favorites, maximumBytes
    }

    /// Decodes a region.
    ///
    /// - Throws: `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let query = try container.decode(String.self, forKey: .filter)
        let request = try? DigestRequest.decode(query: query.utf8)
        guard let request, let box = request.box else {
            throw DecodingError.dataCorruptedError(
                forKey: .filter, in: container, debugDescription: "not a box and a filter")
        }
        self.init(
            id: try container.decode(UUID.self, forKey: .id),
            name: try container.decode(String.self, forKey: .name), box: box, filter: request.filter,
            languages: try container.decode([String].self, forKey: .languages),
            maximumBytes: try container.decode(Int.self, forKey: .maximumBytes))
        favorites = try container.decodeIfPresent([Int].self, forKey: .favorites) ?? []
    }

    /// Encodes the region; its box and its filter as in a request's query.
    ///
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(name, forKey: .name)
        try container.encode(request(.root).encodedFilter, forKey: .filter)
        try container.encode(languages, forKey: .languages)
        try container.encode(favorites, forKey: .favorites)
        try container.encode(maximumBytes, forKey: .maximumBytes)
    }

    /// The request for a part of its digest.
    func request(_ part: DigestRequest.Part) -> DigestRequest {
        var request = DigestRequest(box: box, filter: filter, part: part)
        switch part {
        case .buckets, .places: request.hasAllNames = true
        case .root, .groups: break
        }
        return request
    }
}

/// What is on the device of a region.
public struct OfflineRegionState: Hashable, Sendable, Identifiable {
    /// The region, as it was added last.
    public let region: OfflineRegion
    /// Whether its places are there: the region was downloaded once. They stay while it is compared, or changed.
    public let isComplete: Bool
    /// How many places there are.
    public let placeCount: Int
    /// How many bytes its files have, those of a download that isn't done included.
    public let byteCount: Int
    /// When its places were last found equal to the service's, by the device's clock; nil where they never were.
    public let comparedAt: Date?
    /// The datasets that its places came from, whose credits a map has to show.
    public let attributions: [Attribution]

    /// The region's.
    public var id: UUID { region.id }
}

/// How far a download has come.
public struct OfflineRegionProgress: Hashable, Sendable {
    /// How many places are there that the service has, too.
    public let placeCount: Int
    /// How many places the service has.
    public let expectedCount: Int
    /// How many bytes of JSON came so far.
    public let byteCount: Int
}

/// Why a region can't be kept.
public enum OfflineRegionError: Error, Hashable, Sendable {
    /// There is no such region.
    case unknownRegion
    /// The region is being updated already.
    case alreadyUpdating
    /// The places would take this many bytes, which is more than they may.
    case tooLarge(bytes: Int)
    /// The places changed during each of several comparisons. What came is kept for the next one.
    case changesTooOften
    /// The region doesn't have what was asked for: another part of the world, or places that its filter leaves out.
    case notKept
    /// A file can't be written or read; the reason is for developers.
    case storage(reason: String)
}

extension BoundingBox {
    /// The least radius of curvature of the WGS 84 ellipsoid, that of a meridian at the equator: a(1 − e²). So no geodesic is
    /// shorter than the arc between the same latitudes and longitudes on a sphere of this radius.
    private static let leastRadius = 6_335_439.0

    /// The box around all that is at most so far from a centre; somewhat larger than needed.
    init(around center: Coordinate, radiusMeters: Double) {
        let angle = max(0, radiusMeters) / Self.leastRadius
        let (south, north) = (
            center.latitude - angle * 180 / .pi, center.latitude + angle * 180 / .pi
        )
        var (west, east) = (-180.0, 180.0)
        let sine = sin(angle) / cos(center.latitude * .pi / 180)
        if south > -90, north < 90, sine < 1 {
            let width = asin(sine) * 180 / .pi
            (west, east) = (center.longitude - width, center.longitude + width)
            if west < -180 { west += 360 }
            if east > 180 { east -= 360 }
        }
        self.init(validWest: west, south: max(-90, south), east: east, north: min(90, north))
    }

    /// A distance in metres from a position in the box that all that is outside of it exceeds; nil where nothing is.
    func metersToOutside(from center: Coordinate) -> Double? {
        var angles: [Double] = []
        if north < 90 { angles.append((north - center.latitude) * .pi / 180) }
        if south > -90 { angles.append((center.latitude - south) * .pi / 180) }
        let width = crossesAntimeridian ? east - west + 360 : east - west
        if width < 360 {
            let eastward = (center.longitude - west).truncatingRemainder(dividingBy: 360)
            let fromWest = eastward < 0 ? eastward + 360 : eastward
            for degrees in [fromWest, width - fromWest] {
                // Beyond a quarter of a turn, the nearest point of a meridian is a pole.
                let turn = min(max(degrees, 0), 90) * .pi / 180
                angles.append(asin(sin(turn) * cos(center.latitude * .pi / 180)))
            }
        }
        return angles.min().map { max(0, $0) * Self.leastRadius }
    }
}
