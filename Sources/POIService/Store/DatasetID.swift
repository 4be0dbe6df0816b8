/// Vouches for places: as long as it is the same, so are they. Random, so that it never comes back.
public struct DatasetID: Hashable, Sendable {
    /// The id's 16 bytes, in two words.
    public let high: UInt64
    /// The id's lower half.
    public let low: UInt64

    /// Makes an id of its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
