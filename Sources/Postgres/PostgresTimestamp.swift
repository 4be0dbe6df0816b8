/// A point in time as PostgreSQL keeps it in `timestamptz`: microseconds, in UTC.
public struct PostgresTimestamp: Sendable, Hashable, Comparable {
    /// Microseconds since 2000-01-01 00:00 UTC, without leap seconds.
    public let microsecondsSince2000: Int64

    /// Later than every other time.
    public static let infinity = PostgresTimestamp(microsecondsSince2000: .max)
    /// Earlier than every other time.
    public static let minusInfinity = PostgresTimestamp(microsecondsSince2000: .min)

    private static let unixEpochOffset: Int64 = 946_684_800_000_000

    /// A time by PostgreSQL's own count.
    public init(microsecondsSince2000: Int64) {
        self.microsecondsSince2000 = microsecondsSince2000
    }

    /// A time by Unix's count; nil where it is out of an `Int64`'s range.
    public init?(microsecondsSince1970: Int64) {
        let (value, overflow) = microsecondsSince1970.subtractingReportingOverflow(Self.unixEpochOffset)
        guard !overflow else { return nil }
        microsecondsSince2000 = value
    }

    /// Microseconds since 1970-01-01 00:00 UTC; nil for the infinities and where it is out of range.
    public var microsecondsSince1970: Int64? {
        guard self != .infinity, self != .minusInfinity else { return nil }
        let (value, overflow) = microsecondsSince2000.addingReportingOverflow(Self.unixEpochOffset)
        return overflow ? nil : value
    }

    /// Earlier is less.
    public static func < (left: PostgresTimestamp, right: PostgresTimestamp) -> Bool {
        left.microsecondsSince2000 < right.microsecondsSince2000
    }
}
