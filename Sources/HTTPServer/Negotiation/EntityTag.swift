/// A weak entity tag: the name of a response's content, independent of its coding (RFC 9110 section 8.8.3).
public struct EntityTag: Hashable, Sendable {
    /// The bytes of the field's value, the first one lowest; the last byte is zero. So a tag is written and compared as
    /// two numbers.
    private let low: UInt64
    private let high: UInt64

    /// Number of bytes of the field's value.
    private static let length = 15
    /// Number of bytes that `store` writes.
    static let storedBytes = 16
    private static let alphabet: StaticString =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    /// Makes a tag from a hash over everything that the response depends on.
    public init(hash: UInt64) {
        let quote = UInt64(UInt8(ascii: "\""))
        var low = UInt64(UInt8(ascii: "W")) | UInt64(ASCII.slash) << 8 | quote << 16
        for index in 0..<5 { low |= Self.digit(index, of: hash) &<< UInt64(8 &* (3 &+ index)) }
        var high = quote << 48
        for index in 5..<11 { high |= Self.digit(index, of: hash) &<< UInt64(8 &* (index &- 5)) }
        (self.low, self.high) = (low, high)
    }

    @inline(__always)
    private static func digit(_ index: Int, of hash: UInt64) -> UInt64 {
        UInt64(alphabet.utf8Start[Int(truncatingIfNeeded: hash &>> UInt64(6 &* index) & 63)])
    }

    /// The tag as a field's value: `W/"…"`.
    public var fieldValue: String {
        withUnsafeTemporaryAllocation(byteCount: Self.storedBytes, alignment: 8) { bytes in
            guard let start = bytes.baseAddress else { return "" }
            return String(decoding: bytes[..<store(at: start)], as: UTF8.self)
        }
    }

    /// Stores the bytes of `fieldValue`, and returns how many these are. Writes `storedBytes` bytes.
    @inline(__always)
    func store(at memory: UnsafeMutableRawPointer) -> Int {
        memory.storeBytes(of: low.littleEndian, as: UInt64.self)
        memory.storeBytes(of: high.littleEndian, toByteOffset: 8, as: UInt64.self)
        return Self.length
    }

    /// Whether a list of entity tags has this one (weak comparison), up to the first tag that is invalid.
    func isListed(in list: UnsafeRawBufferPointer) -> Bool {
        guard let start = list.baseAddress else { return false }
        // Most lists are the tag as it was sent.
        if list.count == Self.length, isOpaque(start + 2), Self.word(at: start) == low { return true }
        var index = 0
        while index < list.count {
            let byte = list[index]
            if ASCII.isBlank(byte) || byte == ASCII.comma {
                index += 1
                continue
            }
            if byte == UInt8(ascii: "W"), index + 1 < list.count, list[index + 1] == ASCII.slash {
                index += 2
            }
            guard index < list.count, list[index] == UInt8(ascii: "\"") else { return false }
            let opening = index
            repeat {
                index += 1
                guard index < list.count else { return false }
            } while list[index] != UInt8(ascii: "\"")
            index += 1
            if index - opening == Self.length - 2, isOpaque(start + opening) { return true }
        }
        return false
    }

    /// Whether the 13 bytes from here on are the tag's, with its quotes and without `W/`.
    @inline(__always)
    private func isOpaque(_ start: UnsafeRawPointer) -> Bool {
        Self.word(at: start) == low >> 16 | high << 48 && Self.word(at: start + 5) == low >> 56 | high << 8
    }

    @inline(__always)
    private static func word(at memory: UnsafeRawPointer) -> UInt64 {
        UInt64(littleEndian: memory.loadUnaligned(as: UInt64.self))
    }
}

extension HTTPHeaders {
    /// Whether a client's `If-None-Match` names this tag, so that it needs only a 304 (RFC 9110 section 13.1.2, weak
    /// comparison).
    ///
    /// - Parameters:
    ///   - tag: the response's; nil if it has none.
    ///   - countsAny: whether `*` counts, which names any tag.
    public func ifNoneMatchNames(_ tag: EntityTag?, countsAny: Bool = true) -> Bool {
        guard has(.ifNoneMatch) else { return false }
        return storage.withUnsafeBytes { bytes in
            for field in fields where field.known == .ifNoneMatch {
                let value = UnsafeRawBufferPointer(rebasing: bytes[field.valueStart..<field.valueEnd])
                if value.count == 1, value[0] == ASCII.asterisk {
                    if countsAny { return true }
                } else if let tag, tag.isListed(in: value) {
                    return true
                }
            }
            return false
        }
    }
}

extension HTTPHeaders {
    /// Whether the condition of `If-Match` holds for a resource that exists: only if there is no such field, or a `*`.
    ///
    /// The comparison is strong and all tags of this server are weak, so no tag matches (RFC 9110 sections 8.8.3.2 and
    /// 13.1.1).
    public var ifMatchHolds: Bool {
        var isThere = false
        var isAny = false
        forEachValue(of: .ifMatch) { value in
            isThere = true
            if value.count == 1, value[0] == ASCII.asterisk { isAny = true }
        }
        return isAny || !isThere
    }
}
