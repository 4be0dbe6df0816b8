import EventLoop
import Places
import PointsOfInterestAPI
import Postgres

/// Keeps a `DatasetState` up to date: listens for renewals, and reads the state repeatedly where listening can't work.
///
/// Confined to the pool's loop. `close` must be awaited before the pool is closed.
final class DatasetWatcher {
    private let pool: ConnectionPool
    private let state: DatasetState
    private let listener: PostgresListener?
    private var machine: DatasetWatchStateMachine
    private var timer: LoopTimer?
    private let tasks: LoopTasks
    /// The dataset whose vocabulary has been read.
    private var vocabularyID: DatasetID?
    /// Distinguishes this watcher's echoes from others'.
    private let token = "\(UInt64.random(in: 0 ... .max))"

    private static let renewals = "dataset_renewed"
    private static let echoes = "dataset_watch"
    private static let sendEcho = PreparedStatement(
        "SELECT pg_notify('dataset_watch', $1)", parameters: [.text])

    init(configuration: DatabaseConfiguration, pool: ConnectionPool, state: DatasetState) {
        self.pool = pool
        self.state = state
        tasks = LoopTasks(loop: pool.loop)
        machine = DatasetWatchStateMachine(mode: configuration.listenMode)
        listener =
            configuration.listenMode == .off
            ? nil
            : PostgresListener(
                configuration.postgres, channels: [Self.renewals, Self.echoes], loop: pool.loop)
        listener?.onLost = { [weak self] in
            guard let self else { return }
            perform(machine.lost())
        }
        timer = LoopTimer(loop: pool.loop) { [weak self] in
            guard let self else { return }
            perform(machine.tick())
        }
        timer?.start(after: .zero, repeating: .seconds(1))
        let watcher = LoopBound(self, loop: pool.loop)
        tasks.start { await watcher.value.listen() }
    }

    /// Stops watching, after which no dataset is known. Waits for the end of what is under way.
    func close() async {
        timer?.close()
        timer = nil
        state.update(datasetID: nil)
        await listener?.close()
        await tasks.end()
    }

    private func listen() async {
        guard let events = listener?.events else { return }
        for await event in events {
            switch event {
            case .gap:
                state.noteRenewal(nil)
                perform(machine.listening())
            case .notification(let notification) where notification.channel == Self.renewals:
                let id = DatasetID(text: notification.payload)
                state.noteRenewal(id)
                perform(machine.renewed(id))
            case .notification(let notification):
                if notification.payload == token { perform(machine.echoHeard()) }
            }
        }
    }

    private func perform(_ actions: [DatasetWatchStateMachine.Action]) {
        // Once it is closed, nothing new is begun.
        guard timer != nil else { return }
        let watcher = LoopBound(self, loop: pool.loop)
        for action in actions {
            switch action {
            case .know(let id): state.update(datasetID: id)
            case .read: tasks.start { await watcher.value.read() }
            case .sendEcho: tasks.start { await watcher.value.echo() }
            }
        }
    }

    private func read() async {
        do throws(PostgresError) {
            let row = try await pool.query(PlaceStatements.state, lane: .fast, isIdempotent: true).only()
            let id = try row.decode(DatasetVersion?.self, at: 0)?.datasetID
            if id == nil || id != vocabularyID {
                // Read after the id, so it is at least as new.
                let rows = try await pool.query(
                    PlaceStatements.vocabulary, lane: .fast, isIdempotent: true)
                state.update(vocabulary: try FilterVocabulary(try rows.only()))
                vocabularyID = id
            }
            perform(machine.read(id, isStandby: try row.decode(at: 1)))
        } catch {
            perform(machine.readFailed())
        }
    }

    /// An echo that gets lost is sent again; see the state machine.
    private func echo() async {
        _ = try? await pool.query(Self.sendEcho, [.text(token)], lane: .fast)
    }
}
