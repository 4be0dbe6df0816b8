import PointsOfInterestAPI

extension Ranking {
    /// The ranking that a request's page asks for; nil where it has neither a centre nor a box.
    ///
    /// Its `limit` is one more than the page's: whether that one exists tells whether a page follows. See
    /// `page(of:from:)`.
    public init?(pageOf request: NearbyPlacesRequest) {
        guard let center = request.orderCenter else { return nil }
        self.init(
            center: center, radiusMeters: request.radiusMeters,
            limit: (request.limit ?? NearbyPlacesRequest.defaultLimit) + 1, after: request.position)
    }

    /// The places of a page, and where the next one begins.
    public struct Page: Hashable, Sendable {
        /// The page's places, nearest first.
        public let placed: [Placed]
        /// The page's last place; nil where no page follows.
        public let next: PagePosition?
    }

    /// Cuts a page out of the whole answer to a ranking whose `limit` is one more than the page's.
    ///
    /// The position of the next page holds the geodesic distance itself, as `geod_inverse` has it, never a
    /// bound of it: the next page is told from this one by comparing with it bit by bit.
    ///
    /// - Parameters:
    ///   - placed: the answer, proven to be whole.
    ///   - candidates: what it was ranked from, at the same indices.
    public func page(of placed: [Placed], from candidates: [Candidate]) -> Page {
        let size = max(0, limit - 1)
        let shown = Array(placed.prefix(size))
        guard placed.count > size, let last = shown.last else { return Page(placed: shown, next: nil) }
        // The count comes from a cursor, which may be forged.
        let count = (after?.count ?? 0).addingReportingOverflow(shown.count)
        return Page(
            placed: shown,
            next: PagePosition(
                distanceMeters: Geodesic.distanceMeters(from: center, to: candidates[last.index]),
                id: last.id, count: count.overflow ? .max : count.partialValue))
    }
}
