import Postgres

/// How far a replica is behind, in time, from what is seen of it once a second.
///
/// A value that remembers when which position of the log was there to be replayed: the lag is the age of the
/// oldest that is not. So an idle primary is no lag, however long ago its last transaction was; a replica that is
/// cut off from its primary lags though it has replayed all that it received; and clocks of other machines don't
/// matter, but in the first estimate. Exact to the second between two looks.
struct ReplicaLag {
    /// What was seen of a replica.
    struct Sighting {
        /// Where it is, in bytes of the write-ahead log.
        var replayed: Int64
        /// The end of what it has received; nil where it receives nothing.
        var received: Int64?
        /// By its own clock, the time since the last transaction that it replayed was committed.
        var sinceLastTransaction: Duration?
    }

    private struct Milestone {
        let position: Int64
        let time: Duration
    }

    /// Positions that aren't replayed yet, with the time at which each was first seen.
    private var ahead: [Milestone] = []
    private var isFirst = true

    /// Beyond as many, every second one is forgotten, which makes the lag coarser and never greater.
    private static let maximumCount = 1000

    /// The lag now.
    ///
    /// - Parameter primary: where the primary is; nil where nobody knows: nothing newer than what the replica has
    ///   received can be had then.
    mutating func update(_ sighting: Sighting, primary: Int64?, now: Duration) -> Duration {
        let goal = primary ?? sighting.received ?? sighting.replayed
        // What a primary wrote and took with it is no goal any more, nor what another timeline has.
        ahead.removeAll { $0.position <= sighting.replayed || $0.position > goal }
        if goal > sighting.replayed, ahead.last.map({ goal > $0.position }) ?? true {
            let age = isFirst ? sighting.sinceLastTransaction ?? .zero : .zero
            ahead.append(Milestone(position: goal, time: now - max(age, .zero)))
        }
        if ahead.count > Self.maximumCount {
            ahead = ahead.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
        }
        isFirst = false
        return ahead.first.map { now - $0.time } ?? .zero
    }
}
