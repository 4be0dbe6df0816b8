import CLibPQ

package enum PostgresValue: Sendable, Hashable {
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
    case float8(Double)
    /// `text`. The server refuses a text with U+0000, which PostgreSQL cannot store (SQLSTATE 22021).
    case text(String)
    case uuid(PostgresUUID)
    case timestamptz(PostgresTimestamp)
    case textArray([String])
    case int8Array([Int64])
    case float8Array([Double])
    case boolArray([Bool])
    case uuidArray([PostgresUUID])
    case timestamptzArray([PostgresTimestamp])
    /// `jsonb[]`, one dimension: each element is JSON in UTF-8, which the server parses.
    case jsonbArray([ArraySlice<UInt8>])

    /// The type that the server is told.
    package var type: PostgresType {
        switch self {
        case .null(let type): type
        case .bool: .bool
        case .int2: .int2
        case .int4: .int4
        case .int8: .int8
        case .float8: .float8
        case .text: .text
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

// MARK: - The binary form

extension PostgresValue {
    /// Appends the value's binary form: what the type's `…send` function writes, all of it big-endian.
    ///
    /// A null appends nothing: on the wire it is a length of −1.
    func appendBinary(to bytes: inout [UInt8]) {
        switch self {
        case .null: break
        case .bool(let value): bytes.append(value ? 1 : 0)
        case .int2(let value): bytes.appendBigEndian(value)
        case .int4(let value): bytes.appendBigEndian(value)
        case .int8(let value): bytes.appendBigEndian(value)
        case .float8(let value): bytes.appendBigEndian(value.bitPattern)
        case .text(let value): bytes.append(contentsOf: value.utf8)
        case .uuid(let value): bytes.append(value)
        case .timestamptz(let value): bytes.appendBigEndian(value.microsecondsSince2000)
        case .textArray(let values):
            bytes.appendArray(values, of: .text, size: { $0.utf8.count }) { $1.copyBytes(from: $0.utf8) }
        case .int8Array(let values):
            bytes.appendArray(values, of: .int8, size: { _ in 8 }) { $1.storeBigEndian($0) }
        case .float8Array(let values):
            bytes.appendArray(values, of: .float8, size: { _ in 8 }) { $1.storeBigEndian($0.bitPattern) }
        case .boolArray(let values):
            bytes.appendArray(values, of: .bool, size: { _ in 1 }) { $1.storeBigEndian($0 ? 1 : 0 as UInt8) }
        case .uuidArray(let values):
            bytes.appendArray(values, of: .uuid, size: { _ in 16 }) {
                $1.storeBigEndian($0.high)
                $1.storeBigEndian($0.low, at: 8)
            }
        case .timestamptzArray(let values):
            bytes.appendArray(values, of: .timestamptz, size: { _ in 8 }) {
                $1.storeBigEndian($0.microsecondsSince2000)
            }
        case .jsonbArray(let values):
            // The only version that there is (jsonb_recv, jsonb.c), and the JSON.
            bytes.appendArray(values, of: .jsonb, size: { 1 + $0.count }) {
                $1.storeBigEndian(1 as UInt8)
                UnsafeMutableRawBufferPointer(rebasing: $1[1...]).copyBytes(from: $0)
            }
        }
    }

    /// Whether this is a null.
    var isNull: Bool {
        if case .null = self { true } else { false }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Stores an integer, most significant byte first.
    @inline(__always)
    fileprivate func storeBigEndian(_ value: some FixedWidthInteger & BitwiseCopyable, at offset: Int = 0) {
        storeBytes(of: value.bigEndian, toByteOffset: offset, as: type(of: value))
    }
}

extension [UInt8] {
    /// Appends an integer, most significant byte first.
    @inline(__always)
    mutating func appendBigEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    /// Appends a UUID's 16 bytes.
    fileprivate mutating func append(_ uuid: PostgresUUID) {
        appendBigEndian(uuid.high)
        appendBigEndian(uuid.low)
    }

    /// Writes into the four bytes at `position` how many bytes follow them.
    mutating func writeLength(at position: Int) {
        let length = Int32(clamping: count - position - 4)
        withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: length.bigEndian, toByteOffset: position, as: Int32.self)
        }
    }

    /// Appends a one-dimensional array without nulls, as `array_send` writes it (arrayfuncs.c).
    ///
    /// - Parameters:
    ///   - size: how many bytes an element has.
    ///   - store: stores an element into so many bytes.
    @inline(__always)
    fileprivate mutating func appendArray<Item>(
        _ elements: [Item], of elementType: PostgresType, size: (Item) -> Int,
        store: (Item, UnsafeMutableRawBufferPointer) -> Void
    ) {
        let head = elements.isEmpty ? 12 : 20
        let total = elements.reduce(head) { $0 + 4 + size($1) }
        append(addingCapacity: total) { span in
            span.withUnsafeMutableBufferPointer { memory, count in
                let memory = UnsafeMutableRawBufferPointer(memory)
                memory.storeBigEndian(Int32(elements.isEmpty ? 0 : 1))
                memory.storeBigEndian(Int32(0), at: 4)
                memory.storeBigEndian(elementType.oid, at: 8)
                if !elements.isEmpty {
                    // A count beyond Int32 also exceeds PostgreSQL's 1 GB a value, so the server refuses it.
                    memory.storeBigEndian(Int32(clamping: elements.count), at: 12)
                    memory.storeBigEndian(Int32(1), at: 16)
                }
                var end = head
                for element in elements {
                    let start = end + 4
                    memory.storeBigEndian(Int32(clamping: size(element)), at: end)
                    end = start + size(element)
                    store(element, UnsafeMutableRawBufferPointer(rebasing: memory[start..<end]))
                }
                count = total
            }
        }
    }
}

/// The arrays of parameters that libpq's send functions read, kept between queries so that sending allocates nothing.
///
/// libpq copies everything into its output buffer before a send function returns.
struct ParameterBuffer {
    private var bytes: [UInt8] = []
    private var types: [Oid] = []
    private var values: [UnsafePointer<CChar>?] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    /// Bytes kept for the next query; larger memory is given back.
    private static let retainedCapacity = 64 * 1024

    /// libpq's arguments: count, types, values, lengths, formats.
    typealias Arguments = (
        count: Int32, types: UnsafePointer<Oid>?, values: UnsafePointer<UnsafePointer<CChar>?>?,
        lengths: UnsafePointer<Int32>?, formats: UnsafePointer<Int32>?
    )

    /// Encodes the parameters and calls `body` with pointers that are valid during the call.
    mutating func withArguments<Result>(_ parameters: [PostgresValue], _ body: (Arguments) -> Result)
        -> Result
    {
        encode(parameters)
        let bytes = bytes
        if bytes.capacity > Self.retainedCapacity { self.bytes = [] }
        return bytes.withUnsafeBytes { bytes in
            locate(parameters, in: bytes)
            return types.withUnsafeBufferPointer { types in
                values.withUnsafeBufferPointer { values in
                    lengths.withUnsafeBufferPointer { lengths in
                        formats.withUnsafeBufferPointer { formats in
                            body(
                                (
                                    Int32(clamping: parameters.count), types.baseAddress, values.baseAddress,
                                    lengths.baseAddress, formats.baseAddress
                                ))
                        }
                    }
                }
            }
        }
    }

    /// Fills in types and lengths. The arrays only grow, and what lies behind the last parameter isn't read.
    private mutating func encode(_ parameters: [PostgresValue]) {
        let missing = parameters.count - lengths.count
        if missing > 0 {
            types.append(contentsOf: repeatElement(0, count: missing))
            values.append(contentsOf: repeatElement(nil, count: missing))
            lengths.append(contentsOf: repeatElement(0, count: missing))
            formats.append(contentsOf: repeatElement(1, count: missing))
        }
        bytes.removeAll(keepingCapacity: true)
        for index in parameters.indices {
            let start = bytes.count
            parameters[index].appendBinary(to: &bytes)
            types[index] = parameters[index].type.oid
            lengths[index] = Int32(clamping: bytes.count - start)
        }
        // An empty array would have no address.
        bytes.append(0)
    }

    /// Points at each value. An empty one needs an address too, since libpq takes a null pointer for SQL's null.
    private mutating func locate(_ parameters: [PostgresValue], in bytes: UnsafeRawBufferPointer) {
        var start = bytes.baseAddress
        for index in parameters.indices {
            values[index] = parameters[index].isNull ? nil : start?.assumingMemoryBound(to: CChar.self)
            start = start?.advanced(by: Int(lengths[index]))
        }
    }
}
