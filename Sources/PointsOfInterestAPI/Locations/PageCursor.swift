/// Names the next page of an answer; opaque to clients, which have it from a `Link` header.
///
/// It holds where the last page ended and a fingerprint of the query that it belongs to. Nothing in it is a
/// secret or trusted: a forged one at most asks for another part of the same public answer.
public struct PageCursor: Hashable, Sendable {
    /// The cursor as it stands in a query: unreserved characters only.
    public let rawValue: String

    /// The bytes of a cursor: the revision, the query's fingerprint, distance, id and count.
    private static let byteCount = 1 + 8 + 8 + 8 + 8
    private static let revision: UInt8 = 1
    /// How many characters every cursor of this revision has: six bits each, without padding.
    package static let characterCount = (byteCount * 8 + 5) / 6

    /// Takes a cursor as it came.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Makes the cursor of a position in the answer to a request.
    public init(_ position: PagePosition, in request: LocationsRequest) {
        var bytes = [Self.revision]
        bytes.reserveCapacity(Self.byteCount)
        for word in [
            request.fingerprint, position.distanceMeters.bitPattern, UInt64(bitPattern: position.id),
            UInt64(max(position.count, 0)),
        ] {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
            }
        }
        rawValue = Base64URL.encode(bytes)
    }

    /// Why a cursor is refused.
    enum Fault: Error {
        case malformed, mismatch
    }

    /// The position that the cursor names in the answer to a request.
    func position(in request: LocationsRequest) throws(Fault) -> PagePosition {
        guard let bytes = Base64URL.decode(rawValue.utf8), bytes.count == Self.byteCount,
            bytes[0] == Self.revision
        else { throw .malformed }
        func word(_ index: Int) -> UInt64 {
            bytes[(1 + 8 * index)...].prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        }
        guard word(0) == request.fingerprint else { throw .mismatch }
        let distanceMeters = Double(bitPattern: word(1))
        guard distanceMeters >= 0, distanceMeters <= LocationsRequest.greatestRadiusMeters,
            let count = Int(exactly: word(3))
        else { throw .malformed }
        return PagePosition(distanceMeters: distanceMeters, id: Int64(bitPattern: word(2)), count: count)
    }
}

extension LocationsRequest {
    /// Tells apart the queries that cursors are bound to: all but the cursor itself and the page's size, which
    /// may change on the way.
    var fingerprint: UInt64 {
        var query = self
        query.cursor = nil
        query.limit = nil
        return StableHash.hash(query.encode().percentEncodedQuery.utf8)
    }
}
