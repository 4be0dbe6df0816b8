/// A weak entity tag: the name of a response's content, independent of its coding (RFC 9110 section 8.8.3).
public struct EntityTag: Hashable, Sendable {
    /// The tag as a field's value: `W/"…"`.
    public let fieldValue: String

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Makes a tag from a hash over everything that the response depends on.
    public init(hash: UInt64) {
        // A string of 15 bytes needs no allocation.
        fieldValue = String(unsafeUninitializedCapacity: 15) { buffer in
            (buffer[0], buffer[1], buffer[2]) = (UInt8(ascii: "W"), ASCII.slash, UInt8(ascii: "\""))
            for index in 0..<11 {
                buffer[3 + index] = Self.alphabet[Int(truncatingIfNeeded: hash >> UInt64(6 * index)) & 63]
            }
            buffer[14] = UInt8(ascii: "\"")
            return 15
        }
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
        var isNamed = false
        forEachValue(of: .ifNoneMatch) { value in
            if isNamed { return }
            isNamed =
                value.count == 1 && value.first == ASCII.asterisk
                ? countsAny : tag.map(EntityTagList(value).contains) ?? false
        }
        return isNamed
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
            if value.count == 1, value.first == ASCII.asterisk { isAny = true }
        }
        return isAny || !isThere
    }
}

/// Reads a list of entity tags, up to the first that is invalid.
private struct EntityTagList {
    private var rest: Slice<UnsafeRawBufferPointer>

    init(_ value: Slice<UnsafeRawBufferPointer>) {
        rest = value
    }

    func contains(_ tag: EntityTag) -> Bool {
        var list = self
        while let opaque = list.next() {
            if opaque.elementsEqual(tag.fieldValue.utf8.dropFirst(2)) { return true }
        }
        return false
    }

    /// The next tag with its quotes, without `W/`.
    private mutating func next() -> Slice<UnsafeRawBufferPointer>? {
        rest = rest.drop { ASCII.isBlank($0) || $0 == ASCII.comma }
        if rest.first == UInt8(ascii: "W"), rest.dropFirst().first == ASCII.slash { rest = rest.dropFirst(2) }
        guard rest.first == UInt8(ascii: "\""),
            let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "\""))
        else { return nil }
        defer { rest = rest[(end + 1)...] }
        return rest[...end]
    }
}
