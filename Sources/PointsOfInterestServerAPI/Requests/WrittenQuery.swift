import Bytes
import PointsOfInterestAPI

/// A request's query as the server understood it. It is written once; the entity tag, the fingerprint in cursors and the
/// link to the next page are made from it.
package struct WrittenQuery: ~Copyable {
    /// The query. The beginning of a link is kept in front of it.
    package private(set) var query = QueryWriter(behind: "<?")
    /// The range of the page's size in the query, with the separator; empty where the request has no size.
    private var limit = 0..<0
    /// How many bytes the query has without a cursor.
    private var firstPageCount = 0

    /// Writes the query of a request.
    package init(_ request: borrowing NearbyPlacesRequest) {
        write(request)
    }

    // Not in `init`: the optimizer of Swift 6.3 frees a value that can't be copied twice if it is written to there.
    private mutating func write(_ request: borrowing NearbyPlacesRequest) {
        request.encodeCenter(into: &query)
        let limitStart = query.count
        if let limit = request.limit { query.add("limit", limit) }
        let limitEnd = query.count
        request.encodeFilters(into: &query)
        firstPageCount = query.count
        // If the size is the first item, its separator is the one after it.
        let isFirst = limitStart == 0 && limitEnd > 0 && limitEnd < firstPageCount
        limit = limitStart..<(isFirst ? limitEnd + 1 : limitEnd)
        if let cursor = request.cursor { query.add("cursor", cursor.rawValue) }
    }

    /// The hash of the query that a cursor is bound to: without the cursor and the page's size, which may change from
    /// page to page.
    var fingerprint: UInt64 {
        let start = query.hash(of: 0..<limit.lowerBound)
        return query.hash(of: limit.upperBound..<firstPageCount, seed: start)
    }

    /// Makes the value of a `Link` field that leads to the page after a position. The link is a reference
    /// of a query alone (RFC 3986, section 4.2), so it is right whatever path prefix or proxy the client has used.
    ///
    /// The link is written into the query's memory, so the query can't be used afterwards.
    package mutating func makeNextPageLink(behind end: PagePosition) -> [UInt8] {
        let (fingerprint, cursorCount) = (fingerprint, query.count - firstPageCount)
        return query.withBuffer { link in
            link.removeLast(cursorCount)
            link.append("&cursor=")
            PageCursor.write(end, fingerprint: fingerprint, to: &link)
            link.append(">; rel=\"next\"")
            return link.bytes
        }
    }
}

/// A point of the order by distance, then by id; or of that by relevance. A page ends there, and the next page begins behind
/// it.
package struct PagePosition: Hashable, Sendable {
    /// By relevance, the rank of the last place, by which places are ordered first; nil in the order by distance.
    package let rank: RelevanceRank?
    /// The unrounded geodesic distance from the order's centre, in metres: the last place's, or a bound of it that is below
    /// the distance of every place that follows.
    package let distanceMeters: Double
    /// The last place's id.
    package let id: Int64
    /// How many places there are up to this one; it hints at how dense places are.
    package let count: Int

    package init(rank: RelevanceRank? = nil, distanceMeters: Double, id: Int64, count: Int) {
        self.rank = rank
        self.distanceMeters = distanceMeters
        self.id = id
        self.count = count
    }
}

/// What the server puts into a cursor: where the last page ended, and a fingerprint of the query that it belongs to.
///
/// Nothing in it is secret or trusted: with a forged cursor, a client gets another page of the same public data at most.
/// While one release replaces another, the servers of both get each other's cursors. So a release has to read a new form
/// of cursors before the next release writes it.
extension PageCursor {
    /// The bytes of a cursor: the revision, the query's fingerprint, distance, id, count, by relevance the rank, and a checksum of
    /// them all, so that a damaged cursor isn't taken for another page's.
    private static let byteCount = 1 + 8 + 8 + 8 + 4 + 4
    private static let byteCountByRelevance = byteCount + 2
    private static let revision: UInt8 = 1
    /// Releases before 0.7.0 wrote 2, with ranks of another order.
    private static let revisionByRelevance: UInt8 = 3
    /// A regular expression that all cursors match: characters of six bits each, without padding.
    package static let pattern =
        "^[A-Za-z0-9_-]{\(characterCount(of: byteCount))}([A-Za-z0-9_-]{\(characterCount(of: byteCountByRelevance) - characterCount(of: byteCount))})?$"

    private static func characterCount(of byteCount: Int) -> Int { (byteCount * 8 + 5) / 6 }

    package init(_ end: PagePosition, in request: NearbyPlacesRequest) {
        var text = ByteBuffer(capacity: Self.characterCount(of: Self.byteCountByRelevance))
        Self.write(end, fingerprint: WrittenQuery(request).fingerprint, to: &text)
        self.init(rawValue: String(decoding: text.bytes, as: UTF8.self))
    }

    /// Writes the text of a cursor.
    static func write(_ end: PagePosition, fingerprint: UInt64, to text: inout ByteBuffer) {
        let count = end.rank == nil ? byteCount : byteCountByRelevance
        let start = text.count
        text.append(end.rank == nil ? revision : revisionByRelevance)
        text.append(bigEndian: fingerprint)
        text.append(bigEndian: end.distanceMeters.bitPattern)
        text.append(bigEndian: end.id)
        text.append(bigEndian: UInt32(clamping: end.count))
        if let rank = end.rank { text.append(bigEndian: rank.packed) }
        text.append(bigEndian: text.withBytes(in: start..<text.count) { checksum(of: $0) })
        text.encodeBase64URL(last: count)
    }

    /// Why a cursor is refused.
    enum Fault: Error {
        case malformed, mismatch
    }

    /// The position after which the cursor's page begins. The cursor has to belong to the request.
    func start(in request: NearbyPlacesRequest) throws(Fault) -> PagePosition {
        // Another length is refused before it is decoded, at next to no cost.
        let count = rawValue.utf8.count
        guard
            count == Self.characterCount(of: Self.byteCount)
                || count == Self.characterCount(of: Self.byteCountByRelevance),
            let bytes = Base64URL.decode(rawValue.utf8),
            bytes.count == Self.byteCount && bytes[0] == Self.revision
                || bytes.count == Self.byteCountByRelevance && bytes[0] == Self.revisionByRelevance
        else { throw .malformed }
        func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        guard number(bytes.count - 4..<bytes.count) == Self.checksum(of: bytes.dropLast(4)) else {
            throw .malformed
        }
        guard number(1..<9) == WrittenQuery(request).fingerprint else { throw .mismatch }
        let distanceMeters = Double(bitPattern: number(9..<17))
        // A range does not contain NaN.
        guard (0...NearbyPlacesRequest.maximumRadiusMeters).contains(distanceMeters) else { throw .malformed }
        var rank: RelevanceRank?
        if bytes[0] == Self.revisionByRelevance {
            rank = RelevanceRank(checking: UInt16(truncatingIfNeeded: number(29..<31)))
            guard rank != nil else { throw .malformed }
        }
        // Only a forged cursor has the query's fingerprint and another order's form.
        guard (rank != nil) == (request.sort == .relevance) else { throw .malformed }
        // A count of four bytes fits into an `Int`, with room to count on.
        return PagePosition(
            rank: rank, distanceMeters: distanceMeters, id: Int64(bitPattern: number(17..<25)),
            count: Int(number(25..<29)))
    }

    static func checksum(of bytes: some Sequence<UInt8>) -> UInt32 {
        UInt32(truncatingIfNeeded: StableHash.hash(bytes))
    }
}
