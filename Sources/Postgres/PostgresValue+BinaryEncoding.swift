extension PostgresValue {
    /// Appends the value's binary form (what the type's `…send` function writes: big-endian throughout).
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
        case .bytea(let value): bytes.append(contentsOf: value)
        case .uuid(let value):
            bytes.appendBigEndian(value.high)
            bytes.appendBigEndian(value.low)
        case .timestamptz(let value): bytes.appendBigEndian(value.microsecondsSince2000)
        case .textArray(let values):
            bytes.appendArray(values, elementType: .text) { $0.append(contentsOf: $1.utf8) }
        case .int8Array(let values):
            bytes.appendArray(values, elementType: .int8) { $0.appendBigEndian($1) }
        case .float8Array(let values):
            bytes.appendArray(values, elementType: .float8) { $0.appendBigEndian($1.bitPattern) }
        }
    }

    /// Whether this is a null.
    var isNull: Bool {
        if case .null = self { true } else { false }
    }
}

extension [UInt8] {
    /// Appends an integer, most significant byte first.
    mutating func appendBigEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    /// Writes how many bytes follow the four at `position` into these.
    mutating func writeLength(at position: Int) {
        let length = Int32(clamping: count - position - 4)
        Swift.withUnsafeBytes(of: length.bigEndian) { bytes in
            for index in 0..<4 { self[position + index] = bytes[index] }
        }
    }

    /// Appends a one-dimensional array without nulls, as `array_send` writes it (arrayfuncs.c).
    fileprivate mutating func appendArray<Item>(
        _ elements: [Item], elementType: PostgresType,
        appendElement: (inout [UInt8], Item) -> Void
    ) {
        appendBigEndian(Int32(elements.isEmpty ? 0 : 1))
        appendBigEndian(Int32(0))
        appendBigEndian(elementType.oid)
        guard !elements.isEmpty else { return }
        // More elements, or bytes in one, than an Int32 counts exceed PostgreSQL's 1 GB a value: it refuses them.
        appendBigEndian(Int32(clamping: elements.count))
        appendBigEndian(Int32(1))
        for element in elements {
            let lengthAt = count
            appendBigEndian(Int32(0))
            appendElement(&self, element)
            writeLength(at: lengthAt)
        }
    }
}
