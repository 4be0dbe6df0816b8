import Places

/// Decides what a follower of the database does with what it has read, and whether the places in memory may be served.
///
/// A value that is passed the time. It knows the dataset of the places in memory (`held`), and whether they are served.
/// Places may be served if they were known to be the newest not too long ago: also while the database is away, while the
/// server that is read is behind, and while newer places are being read. Places of another history are never served once that
/// is known.
struct IndexFollowStateMachine {
    /// What one look at the database has shown, all in one snapshot.
    struct Look: Hashable {
        /// The newest dataset; nil where the log is empty.
        var version: DatasetVersion?
        /// Whether the server is a standby, which may be behind.
        var isStandby: Bool
        /// What the server's log has at the revision that is held.
        var own = OwnRevision.missing
        /// How many places the newer revisions name in total; a place that several revisions name counts several times. Nil
        /// if one of the revisions doesn't name its places.
        var changedCount: Int?
    }

    /// What a server's log has at the revision of the places in memory.
    enum OwnRevision: Hashable {
        /// The same dataset: what follows it are its changes.
        case same
        /// Another dataset: the server has another history.
        case another
        /// Nothing: the revision was pruned, or hasn't arrived yet.
        case missing
    }

    /// What is to be done, in this order.
    enum Action: Hashable {
        /// Serve the places in memory until that time, unless another action comes before.
        case serve(until: Duration)
        /// Serve from the database from now on.
        case withdraw(Reason)
        /// Forget which revisions were served: they were lost.
        case forgetServed
        /// Read the places that changed since `held`, in the same snapshot, and report `changed`.
        case readChanges
        /// Read all places, in the same snapshot, report `loaded`, and look again.
        case load
        /// Look at the primary too: the server that is read is behind, perhaps for ever.
        case askPrimary
    }

    /// Why the places in memory aren't served any more.
    enum Reason: String, Hashable, Sendable {
        /// They couldn't be compared with the database for too long.
        case unconfirmed
        /// The database has another history: it was restored, or lost commits in a failover.
        case anotherHistory = "another-history"
        /// They take too much memory.
        case tooLarge = "too-large"
        /// The process ends.
        case closed
    }

    /// How long places may be served after they were last known to be the newest.
    private let maximumStaleness: Duration
    /// How long the server that is read may be behind before the primary is asked.
    private let maximumLag: Duration
    /// The dataset of the places in memory; nil where there are none.
    private(set) var held: DatasetVersion?
    private(set) var isServing = false
    /// Whether the places in memory aren't served because the database has served newer ones.
    private(set) var isRefused = false
    /// When the last look began that showed the held places to be the newest.
    private(set) var confirmedAt: Duration?
    private var heldCount = 0
    private var behindSince: Duration?

    /// If there are more changes than this, and than a quarter of all places, loading all places is quicker.
    private static let maximumChanges = 100_000

    init(maximumStaleness: Duration, maximumLag: Duration) {
        self.maximumStaleness = maximumStaleness
        self.maximumLag = maximumLag
    }

    /// Takes the result of a look at the database, which began at `time`, and returns what to do.
    ///
    /// - Parameter served: the newest dataset that had been served when the look began, from memory or from the database.
    mutating func looked(_ look: Look, served: DatasetVersion?, at time: Duration) -> [Action] {
        isRefused = false
        guard let version = look.version else { return drop(.anotherHistory) }
        // If a primary's newest dataset is older than what was served, the newer revisions were lost.
        let isLost = !look.isStandby && served.map { version.isOlder(than: $0) } == true
        let forget: [Action] = isLost ? [.forgetServed] : []
        guard let held else { return forget + [.load] }
        if version.incarnation != held.incarnation || look.own == .another {
            return drop(.anotherHistory) + [.forgetServed, .load]
        }
        if version.isOlder(than: held) {
            if !look.isStandby { return drop(.anotherHistory) + [.forgetServed, .load] }
            return behind(at: time)
        }
        if !isLost, let served, version.isOlder(than: served) { return behind(at: time) }
        behindSince = nil
        if version == held { return forget + confirm(at: time) }
        // All places are loaded if the log doesn't reach back far enough, doesn't name the changes, or names too many. The
        // held places are served meanwhile.
        guard look.own == .same, let count = look.changedCount,
            count <= max(Self.maximumChanges, heldCount / 4)
        else { return forget + [.load] }
        return forget + [.readChanges]
    }

    /// Takes the result of a look at the primary, which is asked while the server that is read is behind.
    mutating func lookedAtPrimary(_ look: Look) -> [Action] {
        guard let held, let version = look.version, !look.isStandby else { return [] }
        guard
            version.incarnation != held.incarnation || version.isOlder(than: held) || look.own == .another
        else { return [] }
        return drop(.anotherHistory) + [.forgetServed]
    }

    /// Notes that all places were read. The next look shows whether they are still the newest.
    mutating func loaded(_ version: DatasetVersion, placeCount: Int) {
        held = version
        heldCount = placeCount
    }

    /// Notes that the changes were read, by a look that began at `time`.
    mutating func took(_ version: DatasetVersion, placeCount: Int, at time: Duration) -> [Action] {
        held = version
        heldCount = placeCount
        return confirm(at: time)
    }

    /// Notes that the places in memory aren't served after all, because the database has served newer ones meanwhile.
    mutating func refused() {
        (isServing, isRefused) = (false, true)
    }

    /// Gives up the places in memory.
    mutating func drop(_ reason: Reason) -> [Action] {
        held = nil
        behindSince = nil
        return withdraw(reason)
    }

    /// Withdraws places that weren't confirmed for too long. To be called again and again.
    mutating func tick(at now: Duration) -> [Action] {
        guard isServing, now - (confirmedAt ?? .zero) > maximumStaleness else { return [] }
        return withdraw(.unconfirmed)
    }

    private mutating func confirm(at time: Duration) -> [Action] {
        isServing = true
        confirmedAt = time
        return [.serve(until: time + maximumStaleness)]
    }

    private mutating func withdraw(_ reason: Reason) -> [Action] {
        defer { isServing = false }
        return isServing ? [.withdraw(reason)] : []
    }

    /// Notes that the server is behind what is held or was served.
    private mutating func behind(at time: Duration) -> [Action] {
        let since = behindSince ?? time
        behindSince = since
        return time - since > maximumLag ? [.askPrimary] : []
    }
}
