import PointsOfInterestAPI
import PointsOfInterestServerAPI

package struct RelevanceQuery: Sendable {
    /// The words of the search text in their order; without any, no place is found.
    package private(set) var words: [QueryWord]
    /// Where distances are measured from; without it they are all 0.
    package var center: Coordinate?
    /// Only places at most this far from the centre, in metres; nil is no limit.
    package var radiusMeters: Double?
    /// Places within so many metres of the centre are near; nil where none is.
    package var nearMeters: Double?
    /// Only places in this box; nil is everywhere.
    package var box: BoundingBox?
    /// Only places that match; its `words` aren't used.
    package var filter: IndexFilter
    /// The maximum number of places of the page.
    package var limit: Int
    /// Where the page before this one ends; nil on the first page.
    package var after: PagePosition?
    /// Whether all names are wanted by which a place was found; else the first one.
    package var findsAllNames: Bool

    /// More words of a search text don't count. A text of 100 characters has more only if some of them stand for several words.
    package static let maximumWordCount = 50

    package init(
        _ words: [QueryWord], center: Coordinate?, radiusMeters: Double? = nil, nearMeters: Double? = nil,
        box: BoundingBox? = nil, filter: IndexFilter = IndexFilter(), limit: Int, after: PagePosition? = nil,
        findsAllNames: Bool = true
    ) {
        self.words = Array(words.prefix(Self.maximumWordCount))
        self.center = center
        self.radiusMeters = radiusMeters
        self.nearMeters = nearMeters
        self.box = box
        self.filter = filter
        self.limit = limit
        self.after = after
        self.findsAllNames = findsAllNames
    }

    /// Whether one of the words may be left out.
    var mayLeaveOut: Bool {
        (2...6).contains(words.count) && words.count { !$0.isRun(orHas: 2) } <= 1
    }

    /// The same without one of its words.
    func without(_ word: Int) -> RelevanceQuery {
        var query = self
        query.words.remove(at: word)
        return query
    }

    /// The same without what means nothing; nil where that is all of its words.
    var reduced: RelevanceQuery? {
        SearchWords.reduced(words).map { words in
            var query = self
            query.words = words
            return query
        }
    }
}

package struct RelevancePage: Sendable {
    package struct Found: Hashable, Sendable {
        /// The place, with its distance in metres, or 0 without a centre.
        package let placed: IndexPage.Placed
        /// How it was found.
        package let relevance: RelevanceClass
        /// The number of the word of the text that it is found without; nil where it is found by all.
        package let leftOut: Int?
        /// By which of its names, by their numbers in the order of `IndexEntry.foldedNames`, first to last; only the first one unless
        /// the query wants all.
        package let names: [Int]
    }

    /// The places, in order.
    package internal(set) var found: [Found] = []
    /// Where the page ends; nil where no other follows.
    package internal(set) var end: PagePosition?
}
