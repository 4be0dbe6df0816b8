import Geodesy
import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// What a search looks for.
public struct IndexQuery: Sendable {
    /// The order and where its page begins. Its limit is one more than the page's, see `Ranking(pageOf:)`.
    public var ranking: Ranking
    /// Only places in this box; nil is everywhere.
    public var box: BoundingBox?
    /// Only places that match.
    public var filter = IndexFilter()

    /// Looks for all places of a ranking; filters are set afterwards.
    public init(ranking: Ranking) {
        self.ranking = ranking
    }
}

/// Where a place is in a snapshot. It means nothing in another one.
public struct IndexPlaceReference: Hashable, Sendable {
    let part: UInt32
    let place: UInt32
}

/// A page's places, the nearest first, and where it ends.
///
/// A page that isn't needed any more can be used for the next search, which then allocates nothing.
public struct IndexPage: Sendable {
    /// A place of the page.
    public struct Placed: Hashable, Sendable {
        /// Where the snapshot has it.
        public let reference: IndexPlaceReference
        /// Its id.
        public let id: Int64
        /// Its distance in metres, as `Ranking.Placed` has it.
        public let distanceMeters: Double

        /// Makes a place of a page.
        public init(reference: IndexPlaceReference, id: Int64, distanceMeters: Double) {
            self.reference = reference
            self.id = id
            self.distanceMeters = distanceMeters
        }
    }

    /// The places, nearest first.
    public internal(set) var placed: [Placed] = []
    /// Where it ends; nil where no other page follows.
    public internal(set) var end: PagePosition?

    /// A page without places.
    public init() {}
}
