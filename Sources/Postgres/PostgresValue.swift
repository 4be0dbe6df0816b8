/// A value bound to a parameter of a statement, with its PostgreSQL type.
public enum PostgresValue: Sendable, Hashable {
    /// SQL's null, of the given type.
    case null(PostgresType)
    /// `boolean`.
    case bool(Bool)
    /// `smallint`.
    case int2(Int16)
    /// `integer`.
    case int4(Int32)
    /// `bigint`.
    case int8(Int64)
    /// `double precision`.
    case float8(Double)
    /// `text`. PostgreSQL cannot store U+0000: such a text is refused by the server (SQLSTATE 22021).
    case text(String)
    /// `bytea`.
    case bytea([UInt8])
    /// `uuid`.
    case uuid(PostgresUUID)
    /// `timestamptz`.
    case timestamptz(PostgresTimestamp)
    /// `text[]`, one dimension.
    case textArray([String])
    /// `bigint[]`, one dimension.
    case int8Array([Int64])
    /// `double precision[]`, one dimension.
    case float8Array([Double])
    /// `boolean[]`, one dimension.
    case boolArray([Bool])
    /// `uuid[]`, one dimension.
    case uuidArray([PostgresUUID])
    /// `timestamptz[]`, one dimension.
    case timestamptzArray([PostgresTimestamp])
    /// `jsonb[]`, one dimension: each element is JSON in UTF-8, which the server parses.
    case jsonbArray([ArraySlice<UInt8>])

    /// The type that the server is told.
    public var type: PostgresType {
        switch self {
        case .null(let type): type
        case .bool: .bool
        case .int2: .int2
        case .int4: .int4
        case .int8: .int8
        case .float8: .float8
        case .text: .text
        case .bytea: .bytea
        case .uuid: .uuid
        case .timestamptz: .timestamptz
        case .textArray: .textArray
        case .int8Array: .int8Array
        case .float8Array: .float8Array
        case .boolArray: .boolArray
        case .uuidArray: .uuidArray
        case .timestamptzArray: .timestamptzArray
        case .jsonbArray: .jsonbArray
        }
    }
}
