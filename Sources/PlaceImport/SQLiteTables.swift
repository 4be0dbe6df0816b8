import Foundation

/// Reads tables of a SQLite file without running anything of it (SQLite's "Database File Format"). SQLite itself would load
/// the modules that the schema names, and these would open the files that it names. Anything unexpected is an error.
struct SQLiteTables: ~Copyable {
    /// A field of a row, as far as it is looked at.
    enum Value: Equatable {
        case null
        case integer(Int)
        /// A text or a blob, because SQLite returns a blob as a text if it is asked for one.
        case text(String)
        case real
    }

    static let schemaRoot = 1
    /// The maximum number of bytes of pages and rows that are read. It ends a loop of pages, and the reading of rows that
    /// share bytes.
    private static let maximumByteCount = 64 << 20

    private let path: String
    private let descriptor: Int32
    private var pageSize = 512
    private var usableSize = 512
    private var isUTF16 = false
    private var isBigEndian = false
    private var remainingBytes = Self.maximumByteCount

    init(_ path: String) throws(ImportError) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ImportError(String(cString: strerror(errno)), path: path) }
        let header = try bytes(100, at: 0)
        let size = header.bigEndian(at: 16, count: 2)
        pageSize = size == 1 ? 65536 : size
        usableSize = pageSize - Int(header[20])
        let encoding = header.bigEndian(at: 56, count: 4)
        (isUTF16, isBigEndian) = (encoding == 2 || encoding == 3, encoding == 3)
        guard pageSize >= 512, pageSize & (pageSize - 1) == 0, usableSize >= 480, encoding <= 3 else {
            throw damaged
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    mutating func forEachRow(root: Int, _ body: ([Value]) throws(ImportError) -> Void) throws(ImportError) {
        var waiting = [root]
        while let number = waiting.popLast() {
            let page = try page(number)
            let start = number == 1 ? 100 : 0
            let isLeaf = page[start] == 0x0d
            guard isLeaf || page[start] == 0x05 else { throw damaged }
            let cells = start + (isLeaf ? 8 : 12)
            let count = page.bigEndian(at: start + 3, count: 2)
            guard cells + 2 * count <= pageSize else { throw damaged }
            for index in 0..<count {
                let offset = page.bigEndian(at: cells + 2 * index, count: 2)
                if isLeaf {
                    try body(try record(try payload(of: page, at: offset)))
                } else {
                    guard offset + 4 <= pageSize else { throw damaged }
                    waiting.append(page.bigEndian(at: offset, count: 4))
                }
            }
            if !isLeaf { waiting.append(page.bigEndian(at: start + 8, count: 4)) }
        }
    }

    private var damaged: ImportError { ImportError("its SQLite tables are damaged", path: path) }

    private mutating func bytes(_ count: Int, at offset: Int) throws(ImportError) -> [UInt8] {
        guard count <= remainingBytes else {
            throw ImportError("the tables that describe it have more than 64 MiB", path: path)
        }
        remainingBytes -= count
        var bytes = [UInt8](repeating: 0, count: count)
        guard pread(descriptor, &bytes, count, off_t(offset)) == count else { throw damaged }
        return bytes
    }

    private mutating func page(_ number: Int) throws(ImportError) -> [UInt8] {
        guard number > 0 else { throw damaged }
        // This can't overflow: a page's number has at most 32 bits, and its size is at most 2¹⁶ bytes.
        return try bytes(pageSize, at: (number - 1) * pageSize)
    }

    /// A row's bytes: some in its cell, the rest in a chain of pages.
    private mutating func payload(of page: [UInt8], at offset: Int) throws(ImportError) -> [UInt8] {
        var reader = RecordReader(page[min(offset, usableSize)..<usableSize])
        guard let size = reader.varint(), reader.varint() != nil, 0...remainingBytes ~= size else {
            throw damaged
        }
        remainingBytes -= size
        let most = usableSize - 35
        var localSize = size
        if size > most {
            let least = (usableSize - 12) * 32 / 255 - 23
            let fitting = least + (size - least) % (usableSize - 4)
            localSize = fitting <= most ? fitting : least
        }
        guard var payload = reader.take(localSize).map({ Array($0) }) else { throw damaged }
        guard payload.count < size else { return payload }
        guard var next = reader.take(4).map({ Array($0).bigEndian(at: 0, count: 4) }) else { throw damaged }
        while payload.count < size {
            let page = try self.page(next)
            payload += page[4..<usableSize].prefix(size - payload.count)
            next = page.bigEndian(at: 0, count: 4)
        }
        return payload
    }

    private func record(_ payload: [UInt8]) throws(ImportError) -> [Value] {
        var header = RecordReader(payload[...])
        guard let size = header.varint(), size >= header.position, size <= payload.count else {
            throw damaged
        }
        var body = RecordReader(payload[size...])
        header = RecordReader(payload[header.position..<size])
        var values: [Value] = []
        while !header.isAtEnd {
            guard values.count < 4096, let type = header.varint(), let value = value(ofType: type, &body)
            else { throw damaged }
            values.append(value)
        }
        return values
    }

    private func value(ofType type: Int, _ body: inout RecordReader) -> Value? {
        switch type {
        case 0: return .null
        case 1...6:
            let width = [1, 2, 3, 4, 6, 8][type - 1]
            return body.take(width).map { .integer(Array($0).bigEndian(at: 0, count: width)) }
        case 7: return body.take(8).map { _ in .real }
        case 8, 9: return .integer(type - 8)
        case 10, 11: return nil
        default:
            return body.take((type - 12) / 2).map { .text(text($0)) }
        }
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> String {
        guard isUTF16 else { return String(decoding: bytes, as: UTF8.self) }
        let bytes = Array(bytes)
        let units = stride(from: 0, to: bytes.count - bytes.count % 2, by: 2).map { index in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        return String(decoding: units, as: UTF16.self)
    }
}

/// Reads what a record is made of, as far as there are bytes.
private struct RecordReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var position: Int { rest.startIndex }
    var isAtEnd: Bool { rest.isEmpty }

    /// A number of up to nine bytes, seven bits each and the ninth with eight; nil where it is cut off.
    mutating func varint() -> Int? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard let byte = rest.popFirst() else { return nil }
            guard index < 8 else { return Int(truncatingIfNeeded: value << 8 | UInt64(byte)) }
            value = value << 7 | UInt64(byte & 0x7f)
            if byte & 0x80 == 0 { return Int(value) }
        }
        return nil
    }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard 0...rest.count ~= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}

extension [UInt8] {
    /// A number of up to eight bytes, the most significant one first. The caller has to know that the bytes are there.
    fileprivate func bigEndian(at offset: Int, count: Int) -> Int {
        Int(truncatingIfNeeded: self[offset..<offset + count].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}
