/// A place that a store proposes: enough of it to rank it exactly.
public struct Candidate: Hashable, Sendable {
    /// The place's id, which breaks ties.
    public let id: Int64
    /// The exact latitude, in degrees.
    public let latitude: Double
    /// The exact longitude, in degrees.
    public let longitude: Double
    /// The straight line from the ranking's centre through the Earth, in metres and true to
    /// `Ranking.roundingMarginMeters`; nil where the store doesn't know it.
    public let chordMeters: Double?

    /// Names a place by its id and exact position.
    public init(id: Int64, latitude: Double, longitude: Double, chordMeters: Double? = nil) {
        self.id = id
        self.latitude = latitude
        self.longitude = longitude
        self.chordMeters = chordMeters
    }
}
