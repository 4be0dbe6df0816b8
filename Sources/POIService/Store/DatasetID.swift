/// Vouches for places: as long as it is the same, so are they. Random, so that it never comes back.
public struct DatasetID: Hashable, Sendable {
    /// The id's 16 bytes, in two words.
    public let high: UInt64
    /// The id's lower half.
    public let low: UInt64

    /// In 32 hexadecimal digits.
    var hexadecimal: String {
        [high, low].map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        .joined()
    }

    /// Makes an id of its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
