/// A PostgreSQL type by its object identifier (`pg_type.oid`, fixed for built-in types by `pg_type.dat`).
package struct PostgresType: Sendable, Hashable, CustomStringConvertible {
    /// The object identifier.
    package let oid: UInt32

    /// A type by its identifier, for types without a constant here.
    package init(oid: UInt32) {
        self.oid = oid
    }

    /// `boolean`.
    package static var bool: PostgresType { PostgresType(oid: 16) }
    /// `name`, PostgreSQL's type of identifiers.
    package static var name: PostgresType { PostgresType(oid: 19) }
    package static var bytea: PostgresType { PostgresType(oid: 17) }
    /// `bigint`.
    package static var int8: PostgresType { PostgresType(oid: 20) }
    /// `smallint`.
    package static var int2: PostgresType { PostgresType(oid: 21) }
    /// `integer`.
    package static var int4: PostgresType { PostgresType(oid: 23) }
    package static var text: PostgresType { PostgresType(oid: 25) }
    /// `real`.
    package static var float4: PostgresType { PostgresType(oid: 700) }
    package static var float8: PostgresType { PostgresType(oid: 701) }
    /// `double precision[]`.
    package static var float8Array: PostgresType { PostgresType(oid: 1022) }
    package static var textArray: PostgresType { PostgresType(oid: 1009) }
    /// `bigint[]`.
    package static var int8Array: PostgresType { PostgresType(oid: 1016) }
    /// `boolean[]`.
    package static var boolArray: PostgresType { PostgresType(oid: 1000) }
    package static var timestamptzArray: PostgresType { PostgresType(oid: 1185) }
    package static var uuidArray: PostgresType { PostgresType(oid: 2951) }
    /// `jsonb`, whose binary form is a version and its text.
    package static var jsonb: PostgresType { PostgresType(oid: 3802) }
    package static var jsonbArray: PostgresType { PostgresType(oid: 3807) }
    package static var varchar: PostgresType { PostgresType(oid: 1043) }
    /// `char(n)`.
    package static var bpchar: PostgresType { PostgresType(oid: 1042) }
    /// `timestamp with time zone`.
    package static var timestamptz: PostgresType { PostgresType(oid: 1184) }
    /// `json`, whose binary form is its text.
    package static var json: PostgresType { PostgresType(oid: 114) }
    package static var uuid: PostgresType { PostgresType(oid: 2950) }
    /// What PostgreSQL calls an untyped literal.
    package static var unknown: PostgresType { PostgresType(oid: 705) }

    package var description: String { "oid \(oid)" }
}

/// A point in time as PostgreSQL keeps it in `timestamptz`: microseconds, in UTC.
package struct PostgresTimestamp: Sendable, Hashable, Comparable {
    /// Microseconds since 2000-01-01 00:00 UTC, without leap seconds.
    package let microsecondsSince2000: Int64

    /// Later than every other time.
    package static let infinity = PostgresTimestamp(microsecondsSince2000: .max)
    /// Earlier than every other time.
    package static let minusInfinity = PostgresTimestamp(microsecondsSince2000: .min)

    private static let unixEpochOffset: Int64 = 946_684_800_000_000

    /// A time by PostgreSQL's own count.
    package init(microsecondsSince2000: Int64) {
        self.microsecondsSince2000 = microsecondsSince2000
    }

    /// A time by Unix's count; nil where it is out of an `Int64`'s range.
    package init?(microsecondsSince1970: Int64) {
        let (value, overflow) = microsecondsSince1970.subtractingReportingOverflow(Self.unixEpochOffset)
        guard !overflow else { return nil }
        microsecondsSince2000 = value
    }

    /// Microseconds since 1970-01-01 00:00 UTC; nil for the infinities and where it is out of range.
    package var microsecondsSince1970: Int64? {
        guard self != .infinity, self != .minusInfinity else { return nil }
        let (value, overflow) = microsecondsSince2000.addingReportingOverflow(Self.unixEpochOffset)
        return overflow ? nil : value
    }

    /// Earlier is less.
    package static func < (left: PostgresTimestamp, right: PostgresTimestamp) -> Bool {
        left.microsecondsSince2000 < right.microsecondsSince2000
    }
}

/// A UUID as its 16 bytes, in the order in which they are written.
package struct PostgresUUID: Sendable, Hashable, CustomStringConvertible {
    /// The first eight bytes, most significant first.
    package let high: UInt64
    /// The last eight bytes, most significant first.
    package let low: UInt64

    /// A UUID from its two halves.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The usual form, lower case: `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` (RFC 9562, section 4).
    package var description: String {
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
