/// A request's query as the server understood it, written once for all that is made of it: the entity tag, the fingerprint
/// that cursors have, and the link to the next page.
package struct WrittenQuery: ~Copyable {
    /// The query. In front of it is what a link begins with.
    package private(set) var query = QueryWriter(behind: "<?")
    /// Where the page's size is in it, with what separates it from the rest; empty without one.
    private var limit = 0..<0
    /// How many bytes it has without a cursor.
    private var firstPageCount = 0

    /// Writes the query of a request.
    package init(_ request: NearbyPlacesRequest) {
        write(request)
    }

    // Not in `init`: the optimizer of Swift 6.3 frees a value that can't be copied twice if it is written to there.
    private mutating func write(_ request: NearbyPlacesRequest) {
        request.encodeCenter(into: &query)
        let limitStart = query.count
        if let limit = request.limit { query.add("limit", limit) }
        let limitEnd = query.count
        request.encodeFilters(into: &query)
        firstPageCount = query.count
        // The first item has its separator behind it.
        let isFirst = limitStart == 0 && limitEnd > 0 && limitEnd < firstPageCount
        limit = limitStart..<(isFirst ? limitEnd + 1 : limitEnd)
        if let cursor = request.cursor { query.add("cursor", cursor.rawValue) }
    }

    /// The hash of the query that a cursor is bound to: without the cursor and the page's size, which may change from
    /// page to page.
    var fingerprint: UInt64 {
        var hash = StableHash.basis
        query.withBytes { bytes in
            for part in [bytes[..<limit.lowerBound], bytes[limit.upperBound..<firstPageCount]] {
                hash = StableHash.hash(UnsafeRawBufferPointer(rebasing: part), seed: hash)
            }
        }
        return hash
    }

    /// Calls a closure with the value of the `Link` field that leads to the page behind another one: a reference of a query
    /// alone (RFC 3986, section 4.2), which is right behind any prefix or proxy.
    ///
    /// It is made of the query where that is, so there is no query any more.
    package mutating func makeNextPageLink(behind end: PagePosition, _ body: (UnsafeRawBufferPointer) -> Void)
    {
        let (fingerprint, cursorCount) = (fingerprint, query.count - firstPageCount)
        query.withBuffer { link in
            link.removeLast(cursorCount)
            link.append("&cursor=")
            PageCursor.write(end, fingerprint: fingerprint, to: &link)
            link.append(">; rel=\"next\"")
            link.withBytes(body)
        }
    }
}
