import EventLoop

/// Writes the wall clock's time for readings of the monotonic clock. The text is formatted once a second; only its
/// milliseconds change in between.
struct LogClock: ~Copyable {
    /// The difference between the two clocks.
    private var offsetNanoseconds: Int64 = 0
    private var second = Int.min
    /// The text of `second`; its milliseconds are those of the last time.
    private let text = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.length, alignment: 8)

    /// Length of a time such as `2026-11-21T01:35:33.250Z`.
    private static let length = 24
    private static let millisecondsOffset = 20

    deinit {
        text.deallocate()
    }

    /// Reads both clocks: somebody may have set the wall clock.
    mutating func synchronize() {
        set(WallClock.nanoseconds(), at: MonotonicClock.nanoseconds())
    }

    /// Fixes what the wall clock's time is at a reading of the monotonic clock.
    mutating func set(_ wallNanoseconds: Int64, at monotonicNanoseconds: Int64) {
        offsetNanoseconds = wallNanoseconds - monotonicNanoseconds
    }

    /// Writes the time of a reading, as RFC 3339 has it, in UTC with milliseconds.
    mutating func append(_ monotonicNanoseconds: Int64, to buffer: inout LineBuffer) {
        let milliseconds = Int((monotonicNanoseconds + offsetNanoseconds) / 1_000_000)
        let (second, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        if second != self.second { format(second) }
        let digits = UInt(truncatingIfNeeded: rest)
        text[Self.millisecondsOffset] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digits / 100)
        text[Self.millisecondsOffset + 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digits / 10 % 10)
        text[Self.millisecondsOffset + 2] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digits % 10)
        buffer.append(UnsafeRawBufferPointer(text))
    }

    private mutating func format(_ second: Int) {
        self.second = second
        text.copyBytes(from: Timestamp(seconds: second, milliseconds: 0).rfc3339.utf8.prefix(Self.length))
    }
}
