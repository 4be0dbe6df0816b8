import EventLoop
import Locking
import Places
import Postgres
import SpatialIndex
import Telemetry

/// Keeps the places of a process in memory, and follows the changes of the database.
///
/// Confined to its loop, which has a thread of its own, since loading takes seconds. It has one connection, to a server
/// that reads go to.
final class IndexFollower {
    let loop: EventLoop
    let index: ServedIndex
    let configuration: DatabaseConfiguration
    let record: @Sendable (Observation) -> Void
    private let route: ReadRoute?
    private let connectionLog: ConnectionLog
    private let threads = PostgresThreads()
    private let merging = BlockingThread(name: "poi-merge", capacity: 1, yields: true)

    var machine: IndexFollowStateMachine
    /// The places in memory; nil where there are none.
    var snapshot: IndexSnapshot?
    /// What else is known about them.
    var facts: ServedIndex.Facts?
    /// Which of them are verified next.
    var rounds: VerificationRounds?
    /// The triggers that were missing or inactive when they were last checked.
    var inactiveTriggers: [String] = []
    var triggersCheckedAt: Duration?
    /// What has been loaded so far, while loading.
    var progress: IndexLoadProgress?
    private var connection: PostgresConnection?
    private var isMerging = false
    private var isClosing = false
    private let tasks: LoopTasks
    private var timer: LoopTimer?
    private var alarm: LoopTimer?
    private var sleeper: CheckedContinuation<Void, Never>?
    private var (isHinted, isLongPause) = (false, false)
    /// Whether the places fit into memory.
    var fit: MemoryFit
    /// The dataset that a notification has named, and until when the follower keeps looking for it.
    private var goal: (id: DatasetID?, until: Duration)?
    private var failures = 0
    /// How often in a row a standby has ended the reading because it was in the way of what the standby has to replay.
    private var conflicts = 0

    /// The pause between two looks if there is no notification, so that a change is seen within a second.
    private static let interval = Duration.milliseconds(900)
    /// The shortest time between two looks, so that many small commits are followed together.
    private static let shortestPause = Duration.milliseconds(5)
    /// The pause between two looks at a standby that hasn't replayed yet what the primary has notified.
    private static let goalInterval = Duration.milliseconds(20)
    /// How long each query of a look may take.
    static let lookTimeout = Duration.seconds(5)

    init(
        _ configuration: DatabaseConfiguration, index: ServedIndex, route: ReadRoute?, loop: EventLoop,
        connectionLog: ConnectionLog, record: @escaping @Sendable (Observation) -> Void
    ) {
        self.configuration = configuration
        self.index = index
        self.route = route
        self.loop = loop
        self.connectionLog = connectionLog
        self.record = record
        fit = MemoryFit(maximumBytes: configuration.index.placeBytes)
        machine = IndexFollowStateMachine(
            maximumStaleness: configuration.index.maximumStaleness, maximumLag: configuration.maxReplicaLag)
        tasks = LoopTasks(loop: loop)
        alarm = LoopTimer(loop: loop) { [weak self] in self?.wake() }
        timer = LoopTimer(loop: loop) { [weak self] in self?.tick() }
        timer?.start(after: .milliseconds(250), repeating: .milliseconds(250))
        let settings = configuration.index
        record(.index(.allowed(bytes: settings.maximumBytes, origin: settings.maximumOrigin)))
        index.update { $0.maximumBytes = settings.placeBytes }
        let follower = LoopBound(self, loop: loop)
        tasks.start { await follower.value.run() }
    }

    /// Stops serving from memory, and closes the connection.
    func close() async {
        isClosing = true
        timer?.close()
        timer = nil
        perform(machine.drop(.closed))
        wake()
        await connection?.close()
        await tasks.end()
        alarm?.close()
        alarm = nil
        merging.shutdown()
        (snapshot, facts) = (nil, nil)
    }

    /// Takes a notification that the dataset has this id now; nil where it doesn't say which.
    func hint(_ id: DatasetID?) {
        guard !fit.isExceeded else { return }
        goal = (id, loop.now + Self.interval)
        isHinted = true
        if isLongPause { wake() }
    }

    // MARK: Looking again and again

    private func run() async {
        while !isClosing {
            await pause(for: await look())
        }
    }

    /// Looks at the database, and does what follows; returns how long to wait before the next look.
    private func look() async -> Duration {
        isHinted = false
        do {
            let connection = try await openConnection()
            let isDone = try await follow(connection)
            (failures, conflicts) = (0, 0)
            guard isDone, !machine.isRefused, !isHinted else { return Self.shortestPause }
            guard let goal, let id = goal.id, id != machine.held?.datasetID, loop.now < goal.until else {
                goal = nil
                return min(Self.interval, configuration.index.verificationInterval)
            }
            return Self.goalInterval
        } catch is IndexTooLarge {
            // A COPY may be under way on the connection.
            let old = connection
            connection = nil
            await old?.close()
            // Meanwhile the follower still looks at the database's history, because some of it may get lost.
            return Self.interval
        } catch {
            failures += 1
            await end(because: error)
            let isConflict = (error as? PostgresError)?.isReplayConflict == true
            conflicts = isConflict ? conflicts + 1 : 0
            return isConflict && failures < 10 ? .milliseconds(100) : Self.interval
        }
    }

    private func end(because error: any Error) async {
        if let error = error as? PostgresError, connection != nil, !isClosing {
            connectionLog.observe(.connectionLost(.fast, error))
        }
        let old = connection
        connection = nil
        await old?.close()
    }

    /// The connection, which is made anew if reads go elsewhere by now.
    private func openConnection() async throws -> PostgresConnection {
        if let connection, connection.isOpen {
            let isRight = route.map { $0.fate(of: connection.target, now: loop.now) == .keep } ?? true
            if isRight { return connection }
        }
        let old = connection
        connection = nil
        await old?.close()
        var failure = PostgresError(.connectionFailed)
        for configuration in readConfigurations {
            do throws(PostgresError) {
                let connection = try await connect(configuration)
                guard !isClosing else {
                    await connection.close()
                    throw PostgresError(.closed)
                }
                self.connection = connection
                connectionLog.observe(.connected(.fast))
                return connection
            } catch {
                // Closing ends what is under way, which is no failure.
                if !isClosing { connectionLog.observe(.connectFailed(.fast, error)) }
                failure = error
            }
        }
        throw failure
    }

    /// The servers that may be read, the best first: those of the route, or only the primary once a standby has ended the
    /// reading twice in a row.
    private var readConfigurations: [PostgresConfiguration] {
        guard let route, conflicts < 2 else { return [configuration.postgres] }
        return route.configurations
    }

    private func connect(
        _ configuration: PostgresConfiguration
    ) async throws(PostgresError) -> PostgresConnection {
        var configuration = configuration
        // Its queries are parsed each time.
        configuration.preparedStatements = .off
        return try await PostgresConnection.connect(configuration, loop: loop, threads: threads)
    }

    // MARK: What follows from a look

    /// Performs actions that need no connection.
    func perform(_ actions: [IndexFollowStateMachine.Action]) {
        for action in actions {
            switch action {
            case .serve(let time): serve(until: time)
            case .withdraw(let reason):
                index.withdraw()
                if reason != .closed { record(.index(.withdrawn(reason: reason.rawValue))) }
            case .forgetServed: index.forgetServed()
            case .readChanges, .load, .askPrimary: break
            }
        }
        if machine.held == nil { (snapshot, facts) = (nil, nil) }
        noteStatus()
    }

    private func serve(until time: Duration) {
        guard let snapshot, let facts, let confirmedAt = machine.confirmedAt else { return }
        let wasServing = index.isServing(at: loop.now)
        guard index.publish(snapshot, facts, confirmedAt: confirmedAt, until: time) else {
            machine.refused()
            return index.withdraw()
        }
        if !wasServing { record(.index(.serving(places: snapshot.placeCount, bytes: snapshot.bytes))) }
        merge()
    }

    /// Looks at the primary, because the server that is read stays behind.
    func askPrimary() async {
        guard route != nil, let held = machine.held else { return }
        guard let primary = try? await connect(configuration.postgres) else { return }
        if let look = try? await self.look(at: primary, held) { perform(machine.lookedAtPrimary(look)) }
        await primary.close()
    }

    /// Merges parts of the index on a thread of its own, where that is due.
    private func merge() {
        guard !isMerging, let merge = snapshot?.proposedMerge() else { return }
        isMerging = true
        let follower = LoopBound(self, loop: loop)
        // Not among the tasks: closing doesn't wait for a merge.
        Task(executorPreference: loop) { [merging] in
            let part = try? await merging.run { merge.run() }
            follower.value.isMerging = false
            if let part { follower.value.adopt(part, of: merge) }
        }
    }

    private func adopt(_ part: IndexPart, of merge: IndexMerge) {
        guard !isClosing, let merged = snapshot?.adopting(part, of: merge) else { return }
        snapshot = merged
        // Only the form changes: the places are served for as long as they would have been without the merge.
        if machine.isServing, let confirmedAt = machine.confirmedAt {
            serve(until: confirmedAt + configuration.index.maximumStaleness)
        }
    }

    // MARK: Time

    private func tick() {
        perform(machine.tick(at: loop.now))
        progress?.tick(at: loop.now, record)
        // Ends the session of a server that is silent in the middle of a COPY.
        if let progress, progress.isStuck(at: loop.now) {
            let follower = LoopBound(self, loop: loop)
            tasks.start { await follower.value.connection?.close() }
        }
    }

    private func noteStatus() {
        let (snapshot, machine, rounds) = (snapshot, machine, rounds)
        let phase: ServedIndex.Status.Phase =
            fit.isExceeded
            ? .tooLarge
            : progress != nil
                ? .loading : machine.isServing ? .serving : machine.held == nil ? .connecting : .waiting
        index.update { status in
            status.phase = phase
            status.placeCount = snapshot?.placeCount ?? 0
            status.bytes = snapshot?.bytes ?? 0
            status.revision = machine.held?.revision ?? 0
            status.confirmedAt = machine.confirmedAt
            status.verifiedAt = snapshot == nil ? nil : rounds?.verifiedAt
        }
    }

    private func pause(for time: Duration) async {
        guard !isClosing else { return }
        isLongPause = time > Self.shortestPause
        alarm?.start(after: time)
        await withCheckedContinuation { sleeper = $0 }
        alarm?.stop()
    }

    private func wake() {
        let woken = sleeper
        sleeper = nil
        woken?.resume()
    }
}

/// The places take more memory than they may.
struct IndexTooLarge: Error {}

/// Runs the follower of a process on a thread of its own.
public final class IndexFollowerThread: Sendable {
    /// What stores serve from.
    public let index: ServedIndex
    private let thread: EventLoopThread
    private let follower = Lock<LoopBound<IndexFollower>?>(nil)
    private let makeFollower: @Sendable () -> LoopBound<IndexFollower>

    /// Starts the thread, which does nothing until `begin()`.
    ///
    /// - Parameters:
    ///   - dataset: tells of changes, once one of the process's stores watches the database.
    ///   - route: where reads go, if they have an address of their own; the same as the stores'.
    ///   - connectionLog: logs what happens to the connection.
    ///   - record: gets what happens to the places in memory.
    /// - Throws: `EventLoopError` if the system has no thread or no file descriptor left.
    public init(
        _ configuration: DatabaseConfiguration, dataset: DatasetState, route: ReadRoute?,
        connectionLog: ConnectionLog, record: @escaping @Sendable (Observation) -> Void
    ) throws {
        let index = ServedIndex(freshTime: configuration.maxReplicaLag)
        self.index = index
        // A change is seen in milliseconds all the same, and places are read again while requests are served.
        thread = try EventLoopThread.start(name: "poi-follow", yields: true)
        makeFollower = { [loop = thread.loop] in
            LoopBound(
                IndexFollower(
                    configuration, index: index, route: route, loop: loop, connectionLog: connectionLog,
                    record: record),
                loop: loop)
        }
        dataset.onRenewal { [loop = thread.loop, follower] id in
            loop.execute { follower.withLock { $0 }?.value.hint(id) }
        }
    }

    /// Starts to connect. Call it once.
    public func begin() {
        thread.loop.execute { [follower, makeFollower] in
            let bound = makeFollower()
            follower.withLock { $0 = bound }
        }
    }

    /// Stops serving from memory, and ends the thread. Blocks; call it once, from another thread.
    public func stop() {
        let loop = thread.loop
        loop.execute { [follower] in
            guard let follower = follower.withLock({ $0 }) else { return loop.stop() }
            Task(executorPreference: loop) {
                await follower.value.close()
                loop.stop()
            }
        }
        thread.join()
    }
}
