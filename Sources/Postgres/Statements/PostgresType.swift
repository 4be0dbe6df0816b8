/// A PostgreSQL type by its object identifier (`pg_type.oid`, fixed for built-in types by `pg_type.dat`).
public struct PostgresType: Sendable, Hashable, CustomStringConvertible {
    /// The object identifier.
    public let oid: UInt32

    /// A type by its identifier, for types without a constant here.
    @inlinable
    public init(oid: UInt32) {
        self.oid = oid
    }

    /// `boolean`.
    public static let bool = PostgresType(oid: 16)
    /// `name`, PostgreSQL's type of identifiers.
    public static let name = PostgresType(oid: 19)
    /// `bytea`.
    public static let bytea = PostgresType(oid: 17)
    /// `bigint`.
    public static let int8 = PostgresType(oid: 20)
    /// `smallint`.
    public static let int2 = PostgresType(oid: 21)
    /// `integer`.
    public static let int4 = PostgresType(oid: 23)
    /// `text`.
    public static let text = PostgresType(oid: 25)
    /// `real`.
    public static let float4 = PostgresType(oid: 700)
    /// `double precision`.
    public static let float8 = PostgresType(oid: 701)
    /// `point`, whose binary form is two `double precision`.
    public static let point = PostgresType(oid: 600)
    /// `double precision[]`.
    public static let float8Array = PostgresType(oid: 1022)
    /// `text[]`.
    public static let textArray = PostgresType(oid: 1009)
    /// `bigint[]`.
    public static let int8Array = PostgresType(oid: 1016)
    /// `boolean[]`.
    public static let boolArray = PostgresType(oid: 1000)
    /// `timestamptz[]`.
    public static let timestamptzArray = PostgresType(oid: 1185)
    /// `uuid[]`.
    public static let uuidArray = PostgresType(oid: 2951)
    /// `jsonb`, whose binary form is a version and its text.
    public static let jsonb = PostgresType(oid: 3802)
    /// `jsonb[]`.
    public static let jsonbArray = PostgresType(oid: 3807)
    /// `varchar`.
    public static let varchar = PostgresType(oid: 1043)
    /// `char(n)`.
    public static let bpchar = PostgresType(oid: 1042)
    /// `timestamp with time zone`.
    public static let timestamptz = PostgresType(oid: 1184)
    /// `json`, whose binary form is its text.
    public static let json = PostgresType(oid: 114)
    /// `uuid`.
    public static let uuid = PostgresType(oid: 2950)
    /// What PostgreSQL calls an untyped literal.
    public static let unknown = PostgresType(oid: 705)

    /// The identifier, for logs.
    public var description: String { "oid \(oid)" }
}

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

/// A UUID as its 16 bytes, in the order in which they are written.
public struct PostgresUUID: Sendable, Hashable, CustomStringConvertible {
    /// The first eight bytes, most significant first.
    public let high: UInt64
    /// The last eight bytes, most significant first.
    public let low: UInt64

    /// A UUID from its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The usual form, lower case: `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` (RFC 9562, section 4).
    public var description: String {
        let digits = Array((Self.hexadecimal(high) + Self.hexadecimal(low)).utf8)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text += "-" }
            text.unicodeScalars.append(Unicode.Scalar(digit))
        }
        return text
    }

    private static func hexadecimal(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
