import Places

/// Decides what a follower of the database does with what it has read, and whether the places in memory may be served.
///
/// A value that is passed the time. It knows the dataset of the places in memory (`held`), and whether they are served.
/// Places may be served if they were known to be the newest not too long ago: also while the database is away, while the
/// server that is read is behind, and while newer places are being read; and for as long as newer ones don't fit into memory.
/// Places of another history are never served once that is known.
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
        /// Serve nothing from now on.
        case withdraw(Reason)
        /// Read the places that changed since `held`, in the same snapshot, and report `changed`.
        case readChanges
        /// Read all places, in the same snapshot, report `loaded`, and look again.
        case load
        /// Look at the primary too, and report `lookedAtPrimary`: the server that is read is behind, or may be.
        case askPrimary
        /// Read from the primary for a while: the server that is read is too far behind.
        case leaveStandby
    }

    /// Why the places in memory aren't served any more.
    enum Reason: String, Hashable, Sendable {
        /// They couldn't be compared with the database for too long.
        case unconfirmed
        /// The database has another history: it was restored, or lost commits in a failover.
        case anotherHistory = "another-history"
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
    /// Whether newer places don't fit into memory.
    private var isOutgrown = false
    /// When the last look began that showed the held places to be the newest.
    private(set) var confirmedAt: Duration?
    private var heldCount = 0
    /// Since when the server that is read is behind the places in memory.
    private var behindSince: Duration?
    /// What the primary had that the standby hasn't had since, and when.
    private var expected: (version: DatasetVersion, since: Duration)?
    private var primaryAskedAt: Duration?
    /// When places from a file are served at the latest; nil where none wait for a look.
    private var restoredUntil: Duration?

    /// How long places from a file wait for a look that may show newer ones.
    private static let timeForLook = Duration.seconds(1)
    /// If there are more changes than this, and than a quarter of all places, loading all places is quicker.
    private static let maximumChanges = 100_000
    private static let forEver = Duration.seconds(1 << 50)

    init(maximumStaleness: Duration, maximumLag: Duration) {
        self.maximumStaleness = maximumStaleness
        self.maximumLag = maximumLag
    }

    mutating func looked(_ look: Look, at time: Duration) -> [Action] {
        guard let version = look.version else { return drop(.anotherHistory) }
        guard let held else { return [.load] }
        if version.incarnation != held.incarnation || look.own == .another {
            return drop(.anotherHistory) + [.load]
        }
        if version.isOlder(than: held) {
            // A primary that is behind has lost what it had.
            guard look.isStandby else { return drop(.anotherHistory) + [.load] }
            let since = behindSince ?? time
            behindSince = since
            return time - since > maximumLag ? [.askPrimary] : []
        }
        behindSince = nil
        if let expected, !look.isStandby || !version.isOlder(than: expected.version) { self.expected = nil }
        if look.isStandby {
            if let expected, time - expected.since > maximumLag { return [.leaveStandby] }
            if primaryAskedAt.map({ time - $0 >= maximumLag / 2 }) ?? true {
                return [.askPrimary] + follow(look, version, at: time)
            }
        }
        return follow(look, version, at: time)
    }

    /// What to do about a server that has what is held, or something newer.
    private mutating func follow(_ look: Look, _ version: DatasetVersion, at time: Duration) -> [Action] {
        if version == held { return confirm(at: time) }
        // All places are loaded if the log doesn't reach back far enough, doesn't name the changes, or names too many. The
        // held places are served meanwhile.
        guard look.own == .same, let count = look.changedCount,
            count <= max(Self.maximumChanges, heldCount / 4)
        else { return [.load] }
        return [.readChanges]
    }

    /// Takes the result of a look at the primary, which is asked while a standby is read; nil where it can't be asked.
    mutating func lookedAtPrimary(_ look: Look?, at time: Duration) -> [Action] {
        primaryAskedAt = time
        guard let held, let look, let version = look.version, !look.isStandby else { return [] }
        if version.incarnation != held.incarnation || version.isOlder(than: held) || look.own == .another {
            return drop(.anotherHistory) + [.leaveStandby]
        }
        if behindSince != nil { return [.leaveStandby] }
        if expected == nil, version != held { expected = (version, time) }
        return []
    }

    /// Notes that another server is read from now on.
    mutating func changedServer() {
        (behindSince, expected, primaryAskedAt) = (nil, nil, nil)
    }

    /// Notes that the places come from a file, and were known to be the newest at a time that may be long ago. They are served
    /// once a look has failed or has taken a second, unless it has shown newer ones: who starts a server after an import sees
    /// what was imported.
    mutating func restored(
        _ version: DatasetVersion, placeCount: Int, confirmedAt: Duration, at now: Duration
    ) {
        held = version
        heldCount = placeCount
        self.confirmedAt = confirmedAt
        restoredUntil = now + Self.timeForLook
    }

    /// Notes that a look has failed.
    mutating func failedToLook(at now: Duration) -> [Action] {
        guard restoredUntil != nil, let confirmedAt else { return [] }
        restoredUntil = nil
        isServing = now <= confirmedAt + maximumStaleness
        return serve()
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

    /// Until when the places in memory may be served, unless they are confirmed before; nil where they aren't served.
    var servedUntil: Duration? {
        guard isServing, let confirmedAt else { return nil }
        return isOutgrown ? Self.forEver : confirmedAt + maximumStaleness
    }

    /// Notes that newer places don't fit. Those that are held go on being served, and grow old.
    mutating func outgrown(at now: Duration) -> [Action] {
        _ = failedToLook(at: now)
        guard isServing, !isOutgrown else { return [] }
        isOutgrown = true
        return serve()
    }

    /// Gives up the places in memory.
    mutating func drop(_ reason: Reason) -> [Action] {
        held = nil
        (isOutgrown, restoredUntil) = (false, nil)
        changedServer()
        return withdraw(reason)
    }

    /// Withdraws places that weren't confirmed for too long. To be called again and again.
    mutating func tick(at now: Duration) -> [Action] {
        if let restoredUntil, now >= restoredUntil { return failedToLook(at: now) }
        guard let servedUntil, now > servedUntil else { return [] }
        return withdraw(.unconfirmed)
    }

    private mutating func confirm(at time: Duration) -> [Action] {
        (isServing, isOutgrown, restoredUntil) = (true, false, nil)
        confirmedAt = time
        return serve()
    }

    private func serve() -> [Action] { servedUntil.map { [.serve(until: $0)] } ?? [] }

    private mutating func withdraw(_ reason: Reason) -> [Action] {
        defer { isServing = false }
        return isServing ? [.withdraw(reason)] : []
    }
}
