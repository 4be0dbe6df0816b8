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
    /// `bytea`.
    public static let bytea = PostgresType(oid: 17)
    /// `name`, PostgreSQL's type of identifiers.
    public static let name = PostgresType(oid: 19)
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
