import EventLoop
import Migrator
import Places
import Postgres
import SpatialIndex
import Telemetry

/// Keeps the places of a process in memory, and follows the changes of the database.
///
/// Confined to its loop, which has a thread of its own, since loading takes seconds. It reads over one connection, listens
/// over another to the primary, and where it reads a standby, asks the primary over a third.
final class IndexFollower {
    let loop: EventLoop
    let index: ServedIndex
    let configuration: DatabaseConfiguration
    let record: @Sendable (Observation) -> Void
    private let schemaCheck: SchemaCheck
    private let connectionLog: ConnectionLog
    private let threads = PostgresThreads()
    let merging = BlockingThread(name: "poi-merge", capacity: 1, yields: true)

    var machine: IndexFollowStateMachine
    /// The places in memory; nil where there are none.
    var snapshot: IndexSnapshot?
    /// What else is known about them.
    var facts: ServedIndex.Facts?
    /// Which of them are verified next.
    var rounds: VerificationRounds?
    var inactiveTriggers: [String] = []
    var triggersCheckedAt: Duration?
    var refreshesReadAt: Duration?
    var progress: IndexLoadProgress?
    private var connection: PostgresConnection?
    private var primary: PostgresConnection?
    private let listener: PostgresListener
    /// Whether the database has the migrations that this program relies on.
    private var isSchemaComplete = false
    /// Until when the primary is read, because a standby was too far behind or ended the reading.
    private var primaryUntil = Duration.zero
    /// When the connection is made anew, since it leads to a primary and a standby is wanted.
    private var reconnectsAt: Duration?
    var isMerging = false
    private(set) var isClosing = false
    /// What is known about the file of the places.
    var kept = KeptFile()
    let tasks: LoopTasks
    private var timer: LoopTimer?
    private var alarm: LoopTimer?
    private var sleeper: CheckedContinuation<Void, Never>?
    private var (isHinted, isLongPause) = (false, false)
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
    /// How long a primary is read where a standby is wanted.
    private static let timeAtPrimary = Duration.seconds(60)

    init(
        _ configuration: DatabaseConfiguration, migrations: MigrationDirectory, index: ServedIndex,
        loop: EventLoop,
        connectionLog: ConnectionLog, record: @escaping @Sendable (Observation) -> Void
    ) {
        self.configuration = configuration
        schemaCheck = SchemaCheck(migrations: migrations)
        self.index = index
        self.loop = loop
        listener = PostgresListener(configuration.postgres, channels: ["dataset_renewed"], loop: loop)
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
        tasks.start { await follower.value.listen() }
    }

    /// Stops serving from memory, and closes the connection.
    func close() async {
        isClosing = true
        timer?.close()
        timer = nil
        await keepAtEnd()
        perform(machine.drop(.closed))
        wake()
        await listener.close()
        await connection?.close()
        await primary?.close()
        await tasks.end()
        alarm?.close()
        alarm = nil
        merging.shutdown()
        (snapshot, facts) = (nil, nil)
    }

    /// Looks sooner where the primary notifies that the dataset has changed. Behind a pooler notifications may never come.
    private func listen() async {
        for await event in listener.events {
            switch event {
            case .gap: hint(nil)
            case .notification(let notification): hint(DatasetID(text: notification.payload))
            }
        }
    }

    /// Takes a notification that the dataset has this id now; nil where it doesn't say which.
    private func hint(_ id: DatasetID?) {
        goal = (id, loop.now + Self.interval)
        isHinted = true
        if isLongPause { wake() }
    }

    // MARK: Looking again and again

    private func run() async {
        restore()
        while !isClosing {
            await pause(for: await look())
        }
    }

    /// Looks at the database, and does what follows; returns how long to wait before the next look.
    private func look() async -> Duration {
        isHinted = false
        do {
            let connection = try await openConnection()
            guard try await hasSchema(connection) else { return Self.interval }
            let isDone = try await follow(connection)
            try await readRefreshes(connection)
            (failures, conflicts) = (0, 0)
            guard isDone, !isHinted else { return Self.shortestPause }
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
            perform(machine.failedToLook(at: loop.now))
            await end(because: error)
            let isConflict = (error as? PostgresError)?.isReplayConflict == true
            conflicts = isConflict ? conflicts + 1 : 0
            if conflicts == 2 { primaryUntil = loop.now + Self.timeAtPrimary }
            if let error = error as? PostgresError, !isConflict {
                index.update(health: .unreachable(reason: error.logText))
            }
            return isConflict && failures < 10 ? .milliseconds(100) : Self.interval
        }
    }

    private func end(because error: any Error) async {
        if let error = error as? PostgresError, connection != nil, !isClosing {
            connectionLog.observe(.connectionLost(error))
        }
        let old = connection
        connection = nil
        await old?.close()
    }

    /// Whether the database has all migrations; asked once for each connection, then again while some are missing and
    /// whenever triggers are checked.
    private func hasSchema(_ connection: PostgresConnection) async throws -> Bool {
        if isSchemaComplete, !areTriggersDue(at: loop.now) { return true }
        let health = await schemaCheck.run { (statement) throws(PostgresError) in
            try await connection.query(statement, timeout: Self.lookTimeout)
        }
        if case .unreachable = health, !connection.isOpen { throw PostgresError(.connectionLost) }
        index.update(health: health)
        isSchemaComplete = health == .reachable(missingMigrations: [])
        return isSchemaComplete
    }

    /// The connection, which is made anew where it leads to a primary for long and a standby is wanted.
    private func openConnection() async throws -> PostgresConnection {
        if let connection, connection.isOpen, reconnectsAt.map({ loop.now < $0 }) ?? true {
            return connection
        }
        let old = connection
        (connection, reconnectsAt, isSchemaComplete) = (nil, nil, false)
        machine.changedServer()
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
                connectionLog.observe(.connected)
                return connection
            } catch {
                // Closing ends what is under way, which is no failure.
                if !isClosing { connectionLog.observe(.connectFailed(error)) }
                failure = error
            }
        }
        throw failure
    }

    func noteServer(isStandby: Bool) {
        guard configuration.reads != nil, let connection else { return }
        if index.status.followsStandby != isStandby {
            record(.placesReadFrom(server: connection.server, isStandby: isStandby))
            index.update { $0.followsStandby = isStandby }
        }
        if !isStandby, reconnectsAt == nil { reconnectsAt = loop.now + Self.timeAtPrimary }
    }

    /// The servers that may be read, the best first.
    private var readConfigurations: [PostgresConfiguration] {
        guard let reads = configuration.reads else { return [configuration.postgres] }
        return loop.now < primaryUntil ? [configuration.postgres, reads] : [reads, configuration.postgres]
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

    func perform(_ actions: [IndexFollowStateMachine.Action]) {
        for action in actions {
            switch action {
            case .serve(let time): serve(until: time)
            case .withdraw(let reason):
                index.withdraw()
                if reason != .closed { record(.index(.withdrawn(reason: reason.rawValue))) }
            case .leaveStandby:
                if let connection { record(.standbyLeft(server: connection.server)) }
                (primaryUntil, reconnectsAt) = (loop.now + Self.timeAtPrimary, loop.now)
            case .readChanges, .load, .askPrimary: break
            }
        }
        if machine.held == nil { (snapshot, facts) = (nil, nil) }
        noteStatus()
    }

    private func serve(until time: Duration) {
        guard let snapshot, let facts, let confirmedAt = machine.confirmedAt else { return }
        let wasServing = index.isServing(at: loop.now)
        index.publish(snapshot, facts, confirmedAt: confirmedAt, until: time)
        if !wasServing {
            record(.index(.serving(places: snapshot.placeCount, bytes: snapshot.bytes + facts.formerBytes)))
        }
        merge()
    }

    /// Looks at the primary, because the standby that is read is behind, or may be.
    func askPrimary() async {
        guard configuration.reads != nil, let held = machine.held else { return }
        var look: IndexFollowStateMachine.Look?
        do throws(PostgresError) {
            let connection: PostgresConnection
            if let primary, primary.isOpen {
                connection = primary
            } else {
                connection = try await connect(configuration.postgres)
                primary = connection
            }
            look = try await self.look(at: connection, held)
        } catch {
            await primary?.close()
            primary = nil
        }
        perform(machine.lookedAtPrimary(look, at: loop.now))
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

    func adopt(_ part: IndexPart, of merge: IndexMerge) {
        guard !isClosing, let merged = snapshot?.adopting(part, of: merge) else { return }
        snapshot = merged
        // Only the form changes: the places are served for as long as they would have been without the merge.
        if let time = machine.servedUntil { serve(until: time) }
    }

    // MARK: Time

    private func tick() {
        perform(machine.tick(at: loop.now))
        progress?.tick(at: loop.now, record)
        keep()
        // Ends the session of a server that is silent in the middle of a COPY.
        if let progress, progress.isStuck(at: loop.now) {
            let follower = LoopBound(self, loop: loop)
            tasks.start { await follower.value.connection?.close() }
        }
    }

    private func noteStatus() {
        let (snapshot, machine, rounds, isRestored) = (snapshot, machine, rounds, kept.isRestored)
        let bytes = (snapshot?.bytes ?? 0) + (facts?.formerBytes ?? 0)
        let phase: ServedIndex.Status.Phase =
            fit.isExceeded
            ? .tooLarge
            : progress != nil
                ? .loading : machine.isServing ? .serving : machine.held == nil ? .connecting : .waiting
        index.update { status in
            status.phase = phase
            status.placeCount = snapshot?.placeCount ?? 0
            status.bytes = bytes
            status.revision = machine.held?.revision ?? 0
            status.confirmedAt = machine.confirmedAt
            status.verifiedAt = snapshot == nil ? nil : rounds?.verifiedAt
            if status.origin == nil, machine.isServing { status.origin = isRestored ? .file : .database }
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
