import EventLoop
import Postgres

/// Probes one of the servers for reads, by a session of its own. Confined to its loop.
final class ReplicaProbe {
    /// What a server reports about itself.
    struct ServerState {
        let isStandby: Bool
        let progress: ReplicaLag.Progress
    }

    private var configuration: PostgresConfiguration
    private let loop: EventLoop
    /// Its own, so that a host that hangs delays nothing else.
    private let threads = PostgresThreads()
    private var connection: PostgresConnection?
    /// When the probe under way began; nil where none is.
    private(set) var begunAt: Duration?
    /// How often the monitor has found the probe under way since the question was sent.
    var tickCount = 0
    private var isAsking = false

    /// Whether the server owes a response for too long. Two of the monitor's ticks are between the question and that, and
    /// between them the loop has read its sockets: so a loop that was stuck doesn't take itself for a silent server.
    var isSilent: Bool { isAsking && tickCount >= 2 }

    /// How long a probe may take, a new session for it included.
    static let timeout = Duration.seconds(2)

    init(_ configuration: PostgresConfiguration, loop: EventLoop) {
        self.configuration = configuration
        // Its one query is parsed each time.
        self.configuration.preparedStatements = .off
        self.loop = loop
    }

    /// Reads the server's state, by a new session where there is none. To be called while no probe is under way.
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

    /// The server's position in the write-ahead log; of a primary, what it has flushed and so may send.
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

/// How far a replica is behind, in time, computed from one probe after the other.
///
/// A value that remembers when each position of the write-ahead log was first seen: the lag is the age of the oldest
/// position that the replica hasn't replayed. So a replica of an idle primary has no lag, however long ago the last
/// transaction was. A replica that is cut off from its primary lags even if it has replayed all that it received. Clocks
/// of other machines matter in the first estimate only. Exact to the second between two probes.
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

    /// Beyond this number every second one is forgotten: the lag becomes coarser, but never larger.
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
