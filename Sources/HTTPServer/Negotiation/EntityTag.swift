import Bytes

/// A weak entity tag: the name of a response's content, independent of its coding (RFC 9110 section 8.8.3).
package struct EntityTag: Hashable, Sendable {
    /// The bytes of the field's value, the first one lowest; the last byte is zero. So a tag is written and compared as
    /// two numbers.
    private let low: UInt64
    private let high: UInt64

    private static let length = 15

    /// - Parameter hash: over everything that the response depends on.
    package init(hash: UInt64) {
        let quote = UInt64(UInt8(ascii: "\""))
        var low = UInt64(UInt8(ascii: "W")) | UInt64(ASCII.slash) << 8 | quote << 16
        for index in 0..<5 { low |= Self.digit(index, of: hash) &<< UInt64(8 &* (3 &+ index)) }
        var high = quote << 48
        for index in 5..<11 { high |= Self.digit(index, of: hash) &<< UInt64(8 &* (index &- 5)) }
        (self.low, self.high) = (low, high)
    }

    @inline(__always)
    private static func digit(_ index: Int, of hash: UInt64) -> UInt64 {
        UInt64(Base64URL.alphabet.utf8Start[Int(truncatingIfNeeded: hash &>> UInt64(6 &* index) & 63)])
    }

    package var fieldValue: String {
        var text = ByteBuffer(capacity: 16)
        append(to: &text)
        return text.text
    }

    @inline(__always)
    func append(to buffer: inout ByteBuffer) { buffer.append(low: low, high: high, count: Self.length) }

    /// Whether a list of entity tags has this one (weak comparison), up to the first tag that is invalid.
    func isListed(in list: Span<UInt8>) -> Bool {
        // Most lists are the tag as it was sent.
        if list.count == Self.length, isOpaque(list.bytes, at: 2), EightBytes(list.bytes, at: 0).word == low {
            return true
        }
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
            if index - opening == Self.length - 2, isOpaque(list.bytes, at: opening) { return true }
        }
        return false
    }

    /// Whether the 13 bytes from here on are the tag's, with its quotes and without `W/`.
    @inline(__always)
    private func isOpaque(_ bytes: RawSpan, at index: Int) -> Bool {
        EightBytes(bytes, at: index).word == low >> 16 | high << 48
            && EightBytes(bytes, at: index + 5).word == low >> 56 | high << 8
    }
}

extension HTTPHeaders {
    /// Whether a client's `If-None-Match` names this tag, so that it needs only a 304 (RFC 9110 section 13.1.2, weak comparison).
    ///
    /// - Parameter countsAny: whether `*` counts, which names any tag.
    package func ifNoneMatchNames(_ tag: EntityTag?, countsAny: Bool = true) -> Bool {
        guard has(.ifNoneMatch) else { return false }
        for field in fields where field.known == .ifNoneMatch {
            let value = storage.span.extracting(field.value)
            if value.count == 1, value[0] == ASCII.asterisk {
                if countsAny { return true }
            } else if let tag, tag.isListed(in: value) {
                return true
            }
        }
        return false
    }
}

extension HTTPHeaders {
    /// Whether the condition of `If-Match` holds for a resource that exists: only if there is no such field, or a `*`.
    ///
    /// The comparison is strong and all tags of this server are weak, so no tag matches (RFC 9110 sections 8.8.3.2 and
    /// 13.1.1).
    package var ifMatchHolds: Bool {
        let values = values(of: .ifMatch)
        return values.isEmpty || values.contains { $0.elementsEqual([ASCII.asterisk]) }
    }
}
