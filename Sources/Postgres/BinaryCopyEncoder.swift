/// Writes rows in the format of `COPY … WITH (FORMAT binary)` (PostgreSQL manual, "COPY", "Binary Format").
public struct BinaryCopyEncoder: Sendable {
    private var bytes: [UInt8]

    /// The signature, no flags, no extension.
    private static let header: [UInt8] =
        Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00] + [UInt8](repeating: 0, count: 8)

    /// Starts with the format's header.
    public init() {
        bytes = Self.header
    }

    /// How many bytes have not been taken yet.
    public var byteCount: Int { bytes.count }

    /// Adds a row; each value must have exactly its column's type, for the server converts nothing.
    public mutating func append(_ row: [PostgresValue]) {
        bytes.appendBigEndian(Int16(clamping: row.count))
        for value in row {
            guard !value.isNull else {
                bytes.appendBigEndian(Int32(-1))
                continue
            }
            let lengthAt = bytes.count
            bytes.appendBigEndian(Int32(0))
            value.appendBinary(to: &bytes)
            bytes.writeLength(at: lengthAt)
        }
    }

    /// Takes what has been written so far, as one chunk.
    public mutating func takeBytes() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    /// Ends the data and takes the last chunk.
    public mutating func finish() -> [UInt8] {
        bytes.appendBigEndian(Int16(-1))
        return takeBytes()
    }
}
