import EventLoop
import Locking
import PointsOfInterestAPI
import SpatialIndex
import Synchronization

/// The places in memory that a process serves: published by whoever has them, read by the stores of all loops.
///
/// Behind the service, an `IndexFollower` keeps them up to date; a mock publishes its fixtures once.
///
/// Any thread, apart from what is said at a function.
public final class ServedIndex: Sendable {
    /// What is known about the dataset that is served, besides its places.
    package struct Facts: Sendable {
        /// The dataset.
        package let version: DatasetVersion
        /// The id that entity tags are made from, see `servedID(of:)`.
        package let datasetID: DatasetID
        /// The categories that there ever were.
        package let categories: NameVocabulary
        /// The source datasets of which more is known than their places say, by their names.
        let datasets: [ExactName: DatasetFacts]

        /// Says what is known.
        ///
        /// - Parameter datasetID: the id that entity tags are made from, where it isn't the dataset's own.
        package init(
            version: DatasetVersion, datasetID: DatasetID? = nil, categories: NameVocabulary,
            datasets: [ExactName: DatasetFacts] = [:]
        ) {
            self.version = version
            self.datasetID = datasetID ?? version.datasetID
            self.categories = categories
            self.datasets = datasets
        }

        /// Whether the same is known, whatever it is called.
        package func hasSameContent(as other: Facts) -> Bool {
            categories.sortedNames == other.categories.sortedNames && datasets == other.datasets
        }

        /// The same by another dataset id.
        package func renamed(_ id: DatasetID) -> Facts {
            Facts(version: version, datasetID: id, categories: categories, datasets: datasets)
        }
    }

    /// What the metrics tell.
    package struct Status: Sendable {
        /// How far the follower has come.
        package enum Phase: String, Sendable, CaseIterable {
            case connecting, loading, serving, waiting
            case tooLarge = "too_large"
        }

        /// How far the follower has come.
        package var phase = Phase.connecting
        /// The places in memory.
        package var placeCount = 0
        /// What they take.
        package var bytes = 0
        /// Their dataset's revision.
        package var revision = Int64(0)
        /// How many bytes the places may take.
        package var maximumBytes = 0
        /// How often all places were read.
        package var loadCount = 0
        /// How many places were changed.
        package var changeCount = 0
        /// When they were known to be the newest, by the loops' clock.
        package var confirmedAt: Duration?
        /// When all of them were last found to be the database's, by the same clock.
        package var verifiedAt: Duration?
        /// How many places were found to differ from the database's.
        package var differenceCount = 0
        /// How many triggers don't record what is written.
        package var inactiveTriggerCount = 0
    }

    private struct State {
        var facts: Facts?
        /// The newest dataset that was served from memory. A page of the database that is older is refused.
        var published: DatasetVersion?
        /// The newest dataset that was served at all. Places in memory that are older aren't served.
        var served: DatasetVersion?
        /// The last dataset of the database that isn't served by its own id, and its other one.
        var renamed: (id: DatasetID, servedID: DatasetID)?
        var status = Status()
        var hasLoaded = false
        /// When the process was first asked whether it is ready, and whether it ever could have been.
        var startedAt: Duration?
        var hasStarted = false
    }

    /// A process waits for its places for so long at most, unless they are required. A million take a few seconds.
    static let maximumStartTime = Duration.seconds(60)

    let published = PublishedIndex()
    /// Does searches that take long.
    let searches = SearchQueue()
    /// Until when the snapshot may be served, in milliseconds of the loops' clock. Readers check it themselves, so that
    /// nothing old is served even while the follower's thread is busy or stuck.
    private let validUntil = Atomic<Int64>(0)
    /// When the snapshot was last known to be the newest, by the same clock.
    private let confirmedAt = Atomic<Int64>(0)
    /// For so many milliseconds from then on it doesn't count as stale.
    private let freshMilliseconds: Int64
    private let state = Lock(State())

    /// Has no places yet.
    ///
    /// - Parameter freshTime: for how long places count as the newest after they were known to be.
    public init(freshTime: Duration = .seconds(10)) {
        freshMilliseconds = freshTime.milliseconds
    }

    /// Serves these places for ever, each with an id of its own, as a dataset with a new id; nil where they have more than
    /// 65,536 categories.
    package convenience init?(_ places: [PointOfInterest], categories: NameVocabulary) {
        var builder = IndexPartBuilder(expecting: places.count)
        for place in places {
            guard place.withFields({ builder.add($0) }) else { return nil }
        }
        let id = DatasetID(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max))
        let version = DatasetVersion(datasetID: id, revision: 1, incarnation: id)
        let facts = Facts(version: version, categories: categories)
        self.init(freshTime: Self.forEver)
        _ = publish(
            IndexSnapshot(part: builder.build(), version: IndexVersion(facts)), facts, confirmedAt: .zero,
            until: Self.forEver)
    }

    private static let forEver = Duration.seconds(1 << 50)

    // MARK: Readers

    /// Runs `body` with the snapshot that may be served now. Only on the thread of a loop that is a reader; the snapshot
    /// must not be kept, nor used across a suspension.
    ///
    /// - Parameter now: by the loop's clock.
    /// - Returns: nil where there is none.
    @discardableResult
    package func withSnapshot<Result>(at now: Duration, _ body: (IndexSnapshot) throws -> Result) rethrows
        -> Result?
    {
        guard mayServe(at: now) else { return nil }
        return try published.withSnapshot(body)
    }

    /// The snapshot that may be served now, for longer than a turn; nil where there is none.
    package func pinned(at now: Duration) -> IndexSnapshot? {
        mayServe(at: now) ? published.pinned() : nil
    }

    /// Whether a snapshot may be served now.
    package func isServing(at now: Duration) -> Bool {
        mayServe(at: now) && state.withLock { $0.facts != nil }
    }

    /// Whether the time until which a snapshot may be served isn't over.
    func mayServe(at now: Duration) -> Bool {
        now < .milliseconds(validUntil.load(ordering: .acquiring))
    }

    /// How long ago the places that are served were last known to be the newest, in whole seconds; nil where that is so short
    /// a time that they count as such, and where none are served.
    func staleSeconds(at now: Duration) -> Int? {
        let confirmedAt = confirmedAt.load(ordering: .relaxed)
        // To compare takes less than to divide, and mostly they are new.
        guard now > .milliseconds(confirmedAt + freshMilliseconds), mayServe(at: now) else { return nil }
        return Int((now.milliseconds - confirmedAt) / 1000)
    }

    /// What is known about the served dataset; nil where there is none.
    var facts: Facts? { state.withLock { $0.facts } }

    /// Whether a process that has just started may be ready: once the places have been in memory. Where they aren't required,
    /// also once they are known not to fit, or when reading them takes too long.
    func hasStarted(isRequired: Bool, at now: Duration) -> Bool {
        state.withLock { state in
            guard !state.hasStarted else { return true }
            let since = state.startedAt ?? now
            state.startedAt = since
            state.hasStarted =
                state.hasLoaded
                || !isRequired && (state.status.phase == .tooLarge || now - since >= Self.maximumStartTime)
            return state.hasStarted
        }
    }

    /// Whether the places have been in memory once.
    package var hasLoaded: Bool { state.withLock { $0.hasLoaded } }

    /// What the metrics tell.
    package var status: Status { state.withLock { $0.status } }

    /// Notes that a page of the database is about to be served. Where that is of another dataset than the places in memory,
    /// these aren't served any more until the follower publishes some that are as new: a request that began before they
    /// were published may bring such a page, and one that found too many searches waiting.
    ///
    /// - Returns: false where it must not be, since newer places were served from memory before.
    package func admits(_ version: DatasetVersion) -> Bool {
        state.withLock { state in
            if let published = state.published, version.isOlder(than: published) { return false }
            state.served = Self.newer(state.served, version)
            if let facts = state.facts, facts.version != version {
                validUntil.store(0, ordering: .releasing)
            }
            return true
        }
    }

    /// The dataset id that a dataset of the database is served by, which entity tags are made from: its own, unless something
    /// else was served by that.
    package func servedID(of id: DatasetID) -> DatasetID {
        state.withLock { state in
            guard let renamed = state.renamed, renamed.id == id else { return id }
            return renamed.servedID
        }
    }

    // MARK: The follower

    /// Gives a dataset of the database another id to be served by, since other places than its were served by the one before.
    ///
    /// Random, as dataset ids are, so that it needs no digest of what was mended and never comes back.
    ///
    /// - Returns: that id.
    package func rename(_ id: DatasetID) -> DatasetID {
        let servedID = DatasetID(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max))
        state.withLock { $0.renamed = (id, servedID) }
        return servedID
    }

    /// The newest dataset that was served, from memory or from the database.
    package var served: DatasetVersion? { state.withLock { $0.served } }

    /// Serves a snapshot from now on.
    ///
    /// - Parameters:
    ///   - confirmedAt: when it was known to be the newest.
    ///   - time: until when it may be served.
    /// - Returns: false where the database has served newer places: then nothing changes.
    package func publish(
        _ snapshot: IndexSnapshot, _ facts: Facts, confirmedAt: Duration, until time: Duration
    ) -> Bool {
        let isNew: Bool? = state.withLock { state in
            if let served = state.served, facts.version.isOlder(than: served) { return nil }
            let isNew = state.facts?.version != facts.version
            state.facts = facts
            state.published = Self.newer(state.published, facts.version)
            state.served = Self.newer(state.served, facts.version)
            state.hasLoaded = true
            return isNew
        }
        guard let isNew else { return false }
        if isNew || published.pinned() !== snapshot { published.publish(snapshot) }
        return state.withLock { state in
            // The database may have served other places just now.
            guard state.served == facts.version else { return false }
            self.confirmedAt.store(confirmedAt.milliseconds, ordering: .relaxed)
            validUntil.store(time.milliseconds, ordering: .releasing)
            return true
        }
    }

    /// Serves nothing from now on.
    package func withdraw() {
        validUntil.store(0, ordering: .releasing)
        state.withLock { $0.facts = nil }
        published.withdraw()
    }

    /// Forgets what was served: the database has lost it.
    package func forgetServed() {
        state.withLock { ($0.published, $0.served) = (nil, nil) }
    }

    /// Takes what the metrics tell.
    package func update(_ body: (inout Status) -> Void) {
        state.withLock { body(&$0.status) }
    }

    /// The newer of two datasets; the second where they belong to different histories.
    private static func newer(_ first: DatasetVersion?, _ second: DatasetVersion) -> DatasetVersion {
        guard let first, second.isOlder(than: first) else { return second }
        return first
    }
}

extension Duration {
    /// In whole milliseconds.
    fileprivate var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
