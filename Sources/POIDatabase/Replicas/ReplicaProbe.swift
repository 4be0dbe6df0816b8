import EventLoop
import Postgres

/// Probes one of the servers for reads through a session of its own. Confined to its loop.
final class ReplicaProbe {
    /// What a server reports about itself.
    struct ServerState {
        let isStandby: Bool
        let progress: ReplicaLag.Progress
    }

    private var configuration: PostgresConfiguration
    private let loop: EventLoop
    /// Threads for this probe alone, so that a host that hangs delays nothing else.
    private let threads = PostgresThreads()
    private var connection: PostgresConnection?
    /// When the current probe began; nil if none is running.
    private(set) var begunAt: Duration?
    /// How many ticks of the monitor have found this probe running since its query was sent.
    var tickCount = 0
    private var isAsking = false

    /// Whether the server has taken too long to respond: at least two ticks of the monitor have passed since the query was
    /// sent. The loop reads its sockets between ticks, so a loop that was stuck doesn't mistake a server for silent.
    var isSilent: Bool { isAsking && tickCount >= 2 }

    /// How long a probe may take, including the time to open a session.
    static let timeout = Duration.seconds(2)

    init(_ configuration: PostgresConfiguration, loop: EventLoop) {
        self.configuration = configuration
        // Its one query is parsed each time.
        self.configuration.preparedStatements = .off
        self.loop = loop
    }

    /// Reads the server's state; opens a session if there is none. Call it only while no probe is running.
    ///
    /// - Throws: why the server couldn't be read.
    func run() async throws(PostgresError) -> ServerState {
        begunAt = loop.now
        defer { (begunAt, isAsking) = (nil, false) }
        let connection = try await openConnection()
        (tickCount, isAsking) = (0, true)
        do throws(PostgresError) {
            let row = try await connection.query(Self.position, timeout: Self.timeout).only()
            return try ServerState(row)
        } catch {
            self.connection = nil
            await connection.close()
            throw error
        }
    }

    /// Ends the session.
    func close() async {
        await connection?.close()
        connection = nil
    }

    private func openConnection() async throws(PostgresError) -> PostgresConnection {
        if let connection, connection.isOpen { return connection }
        await close()
        let connection = try await PostgresConnection.connect(configuration, loop: loop, threads: threads)
        self.connection = connection
        return connection
    }

    /// Reads whether the server is a standby, and its position in the write-ahead log: for a primary, what it has flushed and
    /// may therefore send.
    static let position = PostgresQuery(
        """
        SELECT pg_is_in_recovery(), \
        (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END \
        - '0/0')::bigint, (pg_last_wal_receive_lsn() - '0/0')::bigint, \
        extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::double precision
        """)
}

extension ReplicaProbe.ServerState {
    /// Reads the row of `ReplicaProbe.position`.
    init(_ row: PostgresRow) throws(PostgresError) {
        isStandby = try row.decode(at: 0)
        let seconds = try row.decode(Double?.self, at: 3)
        progress = ReplicaLag.Progress(
            replayed: try row.decode(at: 1), received: try row.decode(at: 2),
            // A clock that is off by years is ignored.
            sinceLastTransaction: seconds.flatMap { abs($0) < 1e9 ? .seconds($0) : nil })
    }
}

/// How far a replica is behind its primary in time, computed from successive probes.
///
/// A value that remembers when each position of the write-ahead log was first seen. The lag is the age of the oldest position
/// that the replica hasn't replayed. So a replica of an idle primary has no lag, however long ago the last transaction was. A
/// replica that is cut off from its primary lags even if it has replayed all that it received. Clocks of other machines
/// matter in the first estimate only. The lag is exact to the time between two probes, about a second at most.
struct ReplicaLag {
    /// How far a replica has come.
    struct Progress {
        /// What it has replayed, in bytes of the write-ahead log.
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

    /// If there are more milestones than this, every second one is dropped: the lag becomes coarser, but never larger.
    private static let maximumCount = 1000

    /// The lag now.
    ///
    /// - Parameter primary: the primary's position in the log; nil where it isn't known: then nothing is known to be newer
    ///   than what the replica has received.
    mutating func update(_ progress: Progress, primary: Int64?, now: Duration) -> Duration {
        let goal = primary ?? progress.received ?? progress.replayed
        // Positions beyond the goal are those of a primary that was lost, or of another timeline.
        ahead.removeAll { $0.position <= progress.replayed || $0.position > goal }
        if goal > progress.replayed, ahead.last.map({ goal > $0.position }) ?? true {
            let age = isFirst ? progress.sinceLastTransaction ?? .zero : .zero
            ahead.append(Milestone(position: goal, time: now - max(age, .zero)))
        }
        if ahead.count > Self.maximumCount {
            ahead = ahead.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
        }
        isFirst = false
        return ahead.first.map { now - $0.time } ?? .zero
    }
}
