/// Says when a search is to end before it is done: nobody waits for it any more, or it has taken too long. Any thread.
public final class SearchStop: Sendable {
    /// Whether it has to end now.
    package let isDue: @Sendable () -> Bool

    /// - Parameter isDue: called on the searching thread about every half a millisecond. Once it has returned true, the
    ///   search ends.
    public init(_ isDue: @escaping @Sendable () -> Bool) {
        self.isDue = isDue
    }
}

/// How much work a search may still do, in units of ten to twenty nanoseconds, and what may end it earlier.
struct WorkBudget {
    /// What a loop may spend on one search: about a fifth of a millisecond. All its other clients wait meanwhile.
    static let ofATurn = 12_000
    /// The work for a node's block, for a place, and for a place that is checked by a filter.
    static let node = 15, place = 2, filteredPlace = 6
    /// The work for a place of a list, whose neighbours in the list aren't next to it in memory.
    static let listedPlace = 8
    /// The work for a geodesic that `geod_inverse` computes, and for comparing a node's box with one of latitudes and
    /// longitudes.
    static let geodesic = 200, boxComparison = 40
    /// The work between two looks at `stop`.
    private static let slice = 30_000

    /// What may be done until the next look at `stop`.
    private var untilLook: Int
    /// What may be done after that.
    private var later: Int
    /// Nil if there is none, or if it has ended the search. Not retained, so that a copy costs nothing: the caller of the
    /// search keeps it alive.
    private var stop: Unmanaged<SearchStop>?

    /// A budget of this much work, which nothing ends earlier.
    init(remaining: Int) {
        (untilLook, later, stop) = (remaining, 0, nil)
    }

    /// A budget of as much work as it takes, unless `stop` ends the search. The caller keeps `stop` alive.
    init(until stop: SearchStop) {
        (untilLook, later) = (Self.slice, .max / 2)
        self.stop = Unmanaged.passUnretained(stop)
    }

    /// How much is left.
    var remaining: Int { untilLook + later }

    /// A budget of at most `work` of what is left.
    func prefix(_ work: Int) -> WorkBudget {
        var part = self
        part.untilLook = min(untilLook, work)
        part.later = min(later, work - part.untilLook)
        return part
    }

    mutating func spend(_ work: Int) { untilLook &-= work }

    /// Whether nothing is left, or the search is to end. Looks at `stop` when that is due.
    var isSpent: Bool {
        mutating get { untilLook < 0 && !goOn() }
    }

    private mutating func goOn() -> Bool {
        if let stop, stop._withUnsafeGuaranteedRef({ $0.isDue() }) {
            (later, self.stop) = (0, nil)
            return false
        }
        let more = min(later, Self.slice - untilLook)
        untilLook += more
        later -= more
        return untilLook >= 0
    }
}
