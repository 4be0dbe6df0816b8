import EventLoop
import Postgres

/// A session of its own with one of the servers for reads, by which it is looked at. Confined to its loop.
final class ReplicaProbe {
    /// What a server says of itself.
    struct Answer {
        let isStandby: Bool
        let sighting: ReplicaLag.Sighting
    }

    private var configuration: PostgresConfiguration
    private let loop: EventLoop
    /// Its own, so that a host that hangs keeps nobody else waiting.
    private let threads = PostgresThreads()
    private var connection: PostgresConnection?
    /// Since when an answer is awaited; nil where none is.
    private(set) var askedAt: Duration?

    /// For so long an answer may take.
    static let patience = Duration.seconds(2)

    init(_ configuration: PostgresConfiguration, loop: EventLoop) {
        self.configuration = configuration
        // Its one query is parsed anew each time.
        self.configuration.preparedStatements = .off
        self.loop = loop
    }

    /// Asks the server, by a new session where there is none. To be called when no answer is awaited.
    func ask() async throws(PostgresError) -> Answer {
        askedAt = loop.now
        defer { askedAt = nil }
        let connection = try await openConnection()
        do throws(PostgresError) {
            let row = try await connection.query(Self.position, timeout: Self.patience).only()
            return try Answer(row)
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

    /// Where the server is in the write-ahead log; of a primary, what it has flushed and so may send.
    static let position = PostgresQuery(
        """
        SELECT pg_is_in_recovery(), \
        (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END \
        - '0/0')::bigint, (pg_last_wal_receive_lsn() - '0/0')::bigint, \
        extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::double precision
        """)
}

extension ReplicaProbe.Answer {
    /// Reads the row of `ReplicaProbe.position`.
    init(_ row: PostgresRow) throws(PostgresError) {
        isStandby = try row.decode(at: 0)
        let seconds = try row.decode(Double?.self, at: 3)
        sighting = ReplicaLag.Sighting(
            replayed: try row.decode(at: 1), received: try row.decode(at: 2),
            // A clock that is years off says nothing.
            sinceLastTransaction: seconds.flatMap { abs($0) < 1e9 ? .seconds($0) : nil })
    }
}
