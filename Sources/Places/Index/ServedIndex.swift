import PointsOfInterestServerAPI
import EventLoop
import Locking
import PointsOfInterestAPI
import SpatialIndex
import Synchronization

/// The places in memory that a process serves. Their owner publishes them, and the stores of all loops read them.
///
/// In the service, an `IndexFollower` keeps them up to date; a mock publishes its fixtures, and again after each edit.
///
/// Any thread, unless a function says otherwise.
package final class ServedIndex: Sendable {
    /// What is known about the dataset that is served, besides its places.
    package struct Facts: Sendable {
        package let version: DatasetVersion
        /// The id that entity tags are made from, see `servedID(of:)`.
        package let datasetID: DatasetID
        package let categories: NameVocabulary
        /// The words for them.
        package let labels: CategoryLabels
        /// What is known of source datasets besides their places, by the datasets' names.
        package let datasets: [ExactName: DatasetFacts]
        /// The ids of removed places; nil where they aren't known. A place that is there is none of these, whatever they say.
        package let former: FormerIDs?

        /// Makes the facts of a dataset.
        ///
        /// - Parameter datasetID: the id that entity tags are made from, if it isn't the dataset's own.
        package init(
            version: DatasetVersion, datasetID: DatasetID? = nil, categories: NameVocabulary,
            labels: CategoryLabels = .none, datasets: [ExactName: DatasetFacts] = [:],
            former: FormerIDs? = FormerIDs()
        ) {
            self.version = version
            self.datasetID = datasetID ?? version.datasetID
            self.categories = categories
            self.labels = labels
            self.datasets = datasets
            self.former = former
        }

        /// Whether both have the same categories, words for them, source datasets and ids of removed places, whatever their own ids and versions
        /// are.
        package func hasSameContent(as other: Facts) -> Bool {
            categories.sortedNames == other.categories.sortedNames && labels == other.labels
                && datasets == other.datasets && former == other.former
        }

        package func renamed(_ id: DatasetID) -> Facts {
            Facts(
                version: version, datasetID: id, categories: categories, labels: labels, datasets: datasets,
                former: former)
        }

        /// The memory that the ids of removed places take, in bytes.
        package var formerBytes: Int { former?.bytes ?? 0 }
    }

    /// What the metrics tell.
    package struct Status: Sendable {
        /// How far the follower has come.
        package enum Phase: String, Sendable, CaseIterable {
            case connecting, loading, serving, waiting
            case tooLarge = "too_large"
        }

        /// Where places may come from.
        package enum Origin: String, Sendable, CaseIterable { case database, file }

        /// How far the follower has come.
        package var phase = Phase.connecting
        /// The number of places in memory.
        package var placeCount = 0
        /// The memory that they take, in bytes.
        package var bytes = 0
        /// Their dataset's revision.
        package var revision = Int64(0)
        /// The maximum memory that they may take, in bytes.
        package var maximumBytes = 0
        package var loadCount = 0
        /// How many places were added, changed or removed in memory, as in the database.
        package var changeCount = 0
        /// When they were last known to be the newest, by the loops' clock.
        package var confirmedAt: Duration?
        /// The time since which each of them was read from the database or compared with it, by the same clock.
        package var verifiedAt: Duration?
        /// How many differences from the database were found: each place that differed, and each time that the
        /// categories, source datasets or ids of removed places differed.
        package var differenceCount = 0
        /// How many triggers don't record what is written.
        package var inactiveTriggerCount = 0
        /// When refreshes of datasets last succeeded and failed, in seconds since 1970.
        package var refreshes: [(dataset: String, succeededAt: Double?, failedAt: Double?)] = []
        /// Where the first places came from; nil before there are any.
        package var origin: Origin?
        /// The bytes of the file that the places are kept in, 0 where there is none; nil where this process writes none.
        package var fileBytes: Int?
        /// When the places in that file were last known to be the newest, by the loops' clock.
        package var fileConfirmedAt: Duration?
        /// Whether the places are read from a standby; nil where none is wanted.
        package var followsStandby: Bool?
    }

    private struct State {
        /// What is known about the snapshot that is served, and about the one before: a reader may still have that one.
        var (facts, previousFacts): (Facts?, Facts?)
        /// The last dataset of the database that isn't served by its own id, and the id that it is served by.
        var renamed: (id: DatasetID, servedID: DatasetID)?
        var status = Status()
        var health: StoreHealth?
        var hasLoaded = false
        /// Who waits for a revision, by numbers.
        var waiters: [Int: (revision: Int64, wake: @Sendable () -> Void)] = [:]
        var lastWaiter = 0
    }

    let published: PublishedIndex
    /// Runs the searches that take long.
    let searches = SearchQueue()
    let digests = DigestCache()
    /// Until when the snapshot may be served, in milliseconds of the loops' clock. Readers check it themselves, so that
    /// nothing old is served even while the follower's thread is busy or stuck.
    private let validUntil = Atomic<Int64>(0)
    /// When the snapshot was last known to be the newest, by the same clock.
    private let confirmedAt = Atomic<Int64>(0)
    /// For how many milliseconds after `confirmedAt` the snapshot doesn't count as stale.
    private let freshMilliseconds: Int64
    private let state = Lock(State())

    /// Makes an index that has no places yet.
    ///
    /// - Parameters:
    ///   - freshTime: for how long places count as the newest after they were last known to be the newest.
    ///   - runFreeing: runs a job that frees places that were replaced, which takes tens of milliseconds for a million.
    package init(
        freshTime: Duration = .seconds(10), runFreeing: @escaping PublishedIndex.Runner = { job in job() }
    ) {
        published = PublishedIndex(runFreeing: runFreeing)
        freshMilliseconds = freshTime.milliseconds
    }

    /// Serves these places for ever, as a dataset with a new id; nil if they have more than 65,536 categories. No two
    /// places may have the same id.
    package convenience init?(
        _ places: [PlaceFields], categories: NameVocabulary, labels: CategoryLabels = .none,
        properties: FilterableProperties = .none
    ) {
        self.init(freshTime: Self.forEver)
        let revision = serve(places, categories: categories, labels: labels, properties: properties)
        guard revision != nil else { return nil }
    }

    /// Serves for ever what another one serves now. The places are in memory once, until one of both serves others.
    package convenience init(copying other: ServedIndex) {
        self.init(freshTime: Self.forEver)
        guard let snapshot = other.published.pinned(), let facts = other.facts(of: snapshot.datasetID) else {
            return
        }
        update(health: .reachable(missingMigrations: []))
        publish(snapshot, facts, confirmedAt: .zero, until: Self.forEver)
    }

    /// Serves these places for ever instead of others, as a dataset with a new id.
    ///
    /// - Parameter former: the ids of places that were removed.
    /// - Returns: the dataset's revision; nil if the places have more than 65,536 categories, and then nothing is changed.
    package func serve(
        _ places: [PlaceFields], former: FormerIDs = FormerIDs(), categories: NameVocabulary,
        labels: CategoryLabels = .none, properties: FilterableProperties
    ) -> Int64? {
        var builder = IndexPartBuilder(
            expecting: places.count, vocabulary: IndexVocabulary(properties: properties))
        for place in places {
            guard builder.add(place) else { return nil }
        }
        let id = DatasetID(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max))
        let revision = state.withLock { $0.facts?.version.revision ?? 0 } + 1
        let facts = Facts(
            version: DatasetVersion(datasetID: id, revision: revision, incarnation: id),
            categories: categories, labels: labels, former: former)
        update(health: .reachable(missingMigrations: []))
        publish(
            IndexSnapshot(part: builder.build(), version: IndexVersion(facts)).labelled(labels), facts,
            confirmedAt: .zero, until: Self.forEver)
        return revision
    }

    private static let forEver = Duration.seconds(1 << 50)

    // MARK: Readers

    /// Runs `body` with the snapshot that may be served now. Call it only on the thread of a loop that is a reader.
    /// `body` must not keep the snapshot, nor use it across a suspension.
    ///
    /// - Parameter now: by the loop's clock.
    @discardableResult
    package func withSnapshot<Result>(at now: Duration, _ body: (IndexSnapshot) throws -> Result) rethrows
        -> Result?
    {
        guard mayServe(at: now) else { return nil }
        return try published.withSnapshot(body)
    }

    /// The snapshot that may be served now, for use beyond the current turn; nil if there is none.
    package func pinned(at now: Duration) -> IndexSnapshot? {
        mayServe(at: now) ? published.pinned() : nil
    }

    /// Whether a snapshot may be served now.
    package func isServing(at now: Duration) -> Bool {
        mayServe(at: now) && state.withLock { $0.facts != nil }
    }

    /// Whether a snapshot that is there may still be served at this time.
    func mayServe(at now: Duration) -> Bool {
        now < .milliseconds(validUntil.load(ordering: .acquiring))
    }

    /// How long ago the places that are served were last known to be the newest, in whole seconds. Nil if they still
    /// count as the newest, and if none are served.
    func staleSeconds(at now: Duration) -> Int? {
        let confirmedAt = confirmedAt.load(ordering: .relaxed)
        // A comparison is cheaper than a division, and the places are mostly new.
        guard now > .milliseconds(confirmedAt + freshMilliseconds), mayServe(at: now) else { return nil }
        return Int((now.milliseconds - confirmedAt) / 1000)
    }

    /// What is known about a dataset that is served; nil where another is.
    package func facts(of id: DatasetID) -> Facts? {
        state.withLock { state in
            [state.facts, state.previousFacts].compactMap(\.self).first { $0.datasetID == id }
        }
    }

    /// Whether the places have been in memory once.
    package var hasLoaded: Bool { state.withLock { $0.hasLoaded } }

    /// Whether the snapshot that is served, if one is, has what a revision has.
    func isServing(_ revision: Int64) -> Bool {
        state.withLock { $0.facts.map { $0.version.revision >= revision } ?? false }
    }

    /// Calls a closure once a snapshot with a revision is published, on whatever thread; nil where there is one.
    func addWaiter(for revision: Int64, _ wake: @escaping @Sendable () -> Void) -> Int? {
        state.withLock { state in
            if let facts = state.facts, facts.version.revision >= revision { return nil }
            state.lastWaiter += 1
            state.waiters[state.lastWaiter] = (revision, wake)
            return state.lastWaiter
        }
    }

    func removeWaiter(_ number: Int) { state.withLock { $0.waiters[number] = nil } }

    /// What the metrics tell.
    package var status: Status { state.withLock { $0.status } }

    /// The state of the database that the places come from, as the follower has last found it; nil before that.
    var health: StoreHealth? { state.withLock { $0.health } }

    /// The id that a dataset of the database is served by, and that entity tags are made from. It is the dataset's own
    /// id, unless other places were served by that one.
    package func servedID(of id: DatasetID) -> DatasetID {
        state.withLock { state in
            guard let renamed = state.renamed, renamed.id == id else { return id }
            return renamed.servedID
        }
    }

    // MARK: The follower

    /// Gives a dataset of the database another id to be served by, since other places were served by its previous one.
    ///
    /// The new id is random, as all dataset ids are. So it needs no digest of what was mended, and is never used twice.
    package func rename(_ id: DatasetID) -> DatasetID {
        let servedID = DatasetID(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max))
        state.withLock { $0.renamed = (id, servedID) }
        return servedID
    }

    /// Takes the id by which a dataset was served when it was written to a file.
    package func restoreName(of id: DatasetID, servedID: DatasetID) {
        guard id != servedID else { return }
        state.withLock { $0.renamed = (id, servedID) }
    }

    /// Serves a snapshot from now on.
    ///
    /// - Parameters:
    ///   - confirmedAt: when it was known to be the newest.
    ///   - time: until when it may be served.
    package func publish(
        _ snapshot: IndexSnapshot, _ facts: Facts, confirmedAt: Duration, until time: Duration
    ) {
        state.withLock { state in
            if state.facts?.datasetID != facts.datasetID { state.previousFacts = state.facts }
            state.facts = facts
            state.hasLoaded = true
        }
        if published.pinned() !== snapshot { published.publish(snapshot) }
        self.confirmedAt.store(confirmedAt.milliseconds, ordering: .relaxed)
        validUntil.store(time.milliseconds, ordering: .releasing)
        let reached = state.withLock { state in
            state.waiters.isEmpty
                ? [] : state.waiters.values.filter { $0.revision <= facts.version.revision }.map(\.wake)
        }
        for wake in reached { wake() }
    }

    /// Takes the state of the database that the places come from.
    package func update(health: StoreHealth) {
        state.withLock { $0.health = health }
    }

    /// Serves nothing from now on.
    package func withdraw() {
        validUntil.store(0, ordering: .releasing)
        state.withLock { ($0.facts, $0.previousFacts) = (nil, nil) }
        published.withdraw()
    }

    /// Changes what the metrics tell.
    package func update(_ body: (inout Status) -> Void) {
        state.withLock { body(&$0.status) }
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}

/// Which dataset places were read from, and its position in the database's history.
package struct DatasetVersion: Hashable, Sendable {
    package let datasetID: DatasetID
    /// The number of the transaction that made it; grows with each that changes places.
    package let revision: Int64
    /// The id of the history that the revision belongs to. A restore begins another history, and revisions of different
    /// histories can't be compared.
    package let incarnation: DatasetID

    package init(datasetID: DatasetID, revision: Int64, incarnation: DatasetID) {
        self.datasetID = datasetID
        self.revision = revision
        self.incarnation = incarnation
    }

    /// Whether a reader that has seen `other` would go back in time by seeing this one: both are of one history, and
    /// this revision is smaller.
    package func isOlder(than other: DatasetVersion) -> Bool {
        incarnation == other.incarnation && revision < other.revision
    }
}

extension IndexVersion {
    /// The version of the dataset that these facts belong to, with the id that it is served by.
    package init(_ facts: ServedIndex.Facts) {
        self.init(
            revision: facts.version.revision, datasetIDHigh: facts.datasetID.high,
            datasetIDLow: facts.datasetID.low)
    }
}

/// What is known of a source dataset besides its places.
package struct DatasetFacts: Hashable, Sendable {
    package let license: String
    package let credit, url: String?

    /// Makes the facts of a source dataset: its license, the credit that a map has to show, and the address of a page
    /// about it.
    package init(license: String, credit: String?, url: String?) {
        self.license = license
        self.credit = credit
        self.url = url
    }
}
