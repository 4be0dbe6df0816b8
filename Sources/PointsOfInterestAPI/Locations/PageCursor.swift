/// Names the next page of an answer; opaque to clients, which have it from a `Link` header.
///
/// It holds where the last page ended and a fingerprint of the query that it belongs to. Nothing in it is a
/// secret or trusted: a forged one at most asks for another part of the same public answer.
public struct PageCursor: Hashable, Sendable {
    /// The cursor as it stands in a query: unreserved characters only.
    public let rawValue: String

    /// The bytes of a cursor: the revision, the query's fingerprint, distance, id, count, and a check sum of
    /// them all, so that a cursor that was damaged on its way isn't taken for another page's.
    private static let byteCount = 1 + 8 + 8 + 8 + 4 + 4
    private static let revision: UInt8 = 1
    /// How many characters every cursor of this revision has: six bits each, without padding.
    package static let characterCount = (byteCount * 8 + 5) / 6

    /// Takes a cursor as it came.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Makes the cursor of a position in the answer to a request.
    public init(_ position: PagePosition, in request: NearbyPlacesRequest) {
        var bytes = [Self.revision]
        bytes.reserveCapacity(Self.byteCount)
        bytes.append(bigEndian: request.fingerprint)
        bytes.append(bigEndian: position.distanceMeters.bitPattern)
        bytes.append(bigEndian: UInt64(bitPattern: position.id))
        bytes.append(bigEndian: UInt32(clamping: position.count))
        bytes.append(bigEndian: Self.checkSum(of: bytes))
        rawValue = Base64URL.encode(bytes)
    }

    /// Why a cursor is refused.
    enum Fault: Error {
        case malformed, mismatch
    }

    /// The position that the cursor names in the answer to a request.
    func position(in request: NearbyPlacesRequest) throws(Fault) -> PagePosition {
        guard let bytes = Base64URL.decode(rawValue.utf8), bytes.count == Self.byteCount,
            bytes[0] == Self.revision
        else { throw .malformed }
        func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        guard number(29..<33) == Self.checkSum(of: bytes.prefix(29)) else { throw .malformed }
        guard number(1..<9) == request.fingerprint else { throw .mismatch }
        let distanceMeters = Double(bitPattern: number(9..<17))
        // A range does not contain NaN. Of four bytes, any count is an `Int` with room to count on.
        guard (0...NearbyPlacesRequest.maximumRadiusMeters).contains(distanceMeters) else { throw .malformed }
        return PagePosition(
            distanceMeters: distanceMeters, id: Int64(bitPattern: number(17..<25)),
            count: Int(number(25..<29)))
    }

    private static func checkSum(of bytes: some Sequence<UInt8>) -> UInt32 {
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
