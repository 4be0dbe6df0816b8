/// `GET /locations`: the points of interest around a centre, nearest first.
///
/// This one description serves both sides: the client encodes it, the server decodes it.
public struct LocationsRequest: Hashable, Sendable {
    /// Half the Earth's circumference in metres, rounded up: no two places are farther apart.
    public static let greatestRadiusMeters = 20_037_508.0
    /// The numbers of places a request may ask for.
    public static let limits = 1...100
    /// The number of places in the answer to a request that names none.
    public static let defaultLimit = 20

    /// The position that distances are measured from.
    public var center: Coordinate
    /// Only places at most this far from the centre, in metres, above 0; nil is no limit.
    public var radiusMeters: Double?
    /// At most this many places, 1…100; nil is 20.
    public var limit: Int?

    /// Makes a request; its radius and limit are the server's to check.
    public init(center: Coordinate, radiusMeters: Double? = nil, limit: Int? = nil) {
        self.center = center
        self.radiusMeters = radiusMeters
        self.limit = limit
    }
}
