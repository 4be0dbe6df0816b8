/// How often times of each size occurred.
public struct Histogram: Hashable, Sendable {
    /// The upper bounds of the buckets, in seconds, each included; one without a bound follows.
    public let bounds: [Double]
    /// How many times fell into each bucket.
    public private(set) var counts: [UInt64]
    /// The sum of all times, in seconds.
    public private(set) var sum = 0.0

    /// Empty, with buckets up to these bounds, in ascending order.
    public init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// How many times there were.
    public var count: UInt64 { counts.reduce(0, &+) }

    /// Counts a time, in seconds.
    public mutating func record(_ seconds: Double) {
        var index = 0
        while index < bounds.count, bounds[index] < seconds { index += 1 }
        counts[index] &+= 1
        sum += seconds
    }

    /// Adds what another one has counted, whose bounds are the same.
    public mutating func add(_ other: Histogram) {
        precondition(bounds == other.bounds, "one family has one set of buckets")
        for index in counts.indices { counts[index] &+= other.counts[index] }
        sum += other.sum
    }
}
