/// Where a page ends and the next one begins, in the order of distance, then id.
public struct PagePosition: Hashable, Sendable {
    /// The unrounded geodesic distance of the page's last place from the order's centre, in metres.
    public let distanceMeters: Double
    /// That place's id.
    public let id: Int64
    /// How many places this page and those before it hold: a hint to how dense places are.
    public let count: Int

    /// Makes a position.
    public init(distanceMeters: Double, id: Int64, count: Int) {
        self.distanceMeters = distanceMeters
        self.id = id
        self.count = count
    }
}

/// What the server puts into a cursor: where the last page ended, and a fingerprint of the query that it belongs to.
///
/// Nothing in it is a secret or trusted: a forged one gets another page of the same public data at most.
extension PageCursor {
    /// The bytes of a cursor: the revision, the query's fingerprint, distance, id, count, and a checksum of
    /// them all, so that a damaged cursor isn't taken for another page's.
    private static let byteCount = 1 + 8 + 8 + 8 + 4 + 4
    private static let revision: UInt8 = 1
    /// How many characters every cursor of this revision has: six bits each, without padding.
    package static let characterCount = (byteCount * 8 + 5) / 6

    /// Makes the cursor of a position in the response to a request.
    package init(_ position: PagePosition, in request: NearbyPlacesRequest) {
        var bytes = [Self.revision]
        bytes.reserveCapacity(Self.byteCount)
        bytes.append(bigEndian: request.fingerprint)
        bytes.append(bigEndian: position.distanceMeters.bitPattern)
        bytes.append(bigEndian: UInt64(bitPattern: position.id))
        bytes.append(bigEndian: UInt32(clamping: position.count))
        bytes.append(bigEndian: Self.checksum(of: bytes))
        self.init(rawValue: Base64URL.encode(bytes))
    }

    /// Why a cursor is refused.
    enum Fault: Error {
        case malformed, mismatch
    }

    /// The position that the cursor names in the response to a request.
    func position(in request: NearbyPlacesRequest) throws(Fault) -> PagePosition {
        guard let bytes = Base64URL.decode(rawValue.utf8), bytes.count == Self.byteCount,
            bytes[0] == Self.revision
        else { throw .malformed }
        func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        guard number(29..<33) == Self.checksum(of: bytes.prefix(29)) else { throw .malformed }
        guard number(1..<9) == request.fingerprint else { throw .mismatch }
        let distanceMeters = Double(bitPattern: number(9..<17))
        // A range does not contain NaN. Of four bytes, any count is an `Int` with room to count on.
        guard (0...NearbyPlacesRequest.maximumRadiusMeters).contains(distanceMeters) else { throw .malformed }
        return PagePosition(
            distanceMeters: distanceMeters, id: Int64(bitPattern: number(17..<25)),
            count: Int(number(25..<29)))
    }

    private static func checksum(of bytes: some Sequence<UInt8>) -> UInt32 {
        UInt32(truncatingIfNeeded: StableHash.hash(bytes))
    }
}

extension [UInt8] {
    fileprivate mutating func append<Number: FixedWidthInteger & UnsignedInteger>(bigEndian number: Number) {
        for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> Number(shift)))
        }
    }
}

extension NearbyPlacesRequest {
    /// Tells apart the queries that cursors are bound to: all but the cursor itself and the page's size, which
    /// may change on the way.
    var fingerprint: UInt64 {
        var query = self
        query.cursor = nil
        query.limit = nil
        return StableHash.hash(query.encode().percentEncodedQuery.utf8)
    }
}

/// Base64 with the alphabet for URLs, without padding (RFC 4648, section 5).
enum Base64URL {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start...].prefix(3)
            var word = UInt32(0)
            for index in 0..<3 { word = word << 8 | (index < group.count ? UInt32(group[start + index]) : 0) }
            for index in 0...group.count {
                text.append(alphabet[Int(word >> UInt32(18 - 6 * index) & 63)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes; nil where the text is anything but what `encode` writes.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var word = UInt32(0)
        var bits = 0
        for character in text {
            guard let value = value(of: character) else { return nil }
            word = word << 6 | value
            bits += 6
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(bits)))
            word &= 1 << UInt32(bits) - 1
        }
        return word == 0 ? bytes : nil
    }

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
