import EventLoop
import POIService
import Postgres

/// What `poi maintain` does: writes the table of places anew in spatial order, while the service runs.
///
/// Readers never wait, and writers for one batch at most. Needs two direct sessions as the owner of the tables.
public struct PlaceMaintenance: Sendable {
    private let configuration: PostgresConfiguration
    private let isForced: Bool

    /// Maintenance of the database that `database` leads to.
    ///
    /// - Parameter isForced: whether places that are in spatial order already are written too.
    public init(_ database: DatabaseConfiguration, isForced: Bool) {
        var configuration = database.postgres
        configuration.statementTimeout = nil
        configuration.settings += PlaceRewrite.settings
        // While these sessions wait for a lock, nobody who reads or writes has to wait for them.
        configuration.settings.append(.init("lock_timeout", "0"))
        configuration.settings.append(.init("idle_in_transaction_session_timeout", "0"))
        self.configuration = configuration
        self.isForced = isForced
    }

    /// Runs the maintenance, and passes a line about each step to `onLine`. Blocks.
    ///
    /// SIGTERM and SIGINT end it after the batch that is under way; what was done stays.
    /// - Parameter onProgress: gets the number of places so far and the number of all, after each batch.
    /// - Throws: `CommandError` for an error of the database, where another run is at work, or after a signal.
    public func run(
        onProgress: (@Sendable (_ done: Int, _ total: Int) -> Void)? = nil,
        onLine: @escaping @Sendable (String) -> Void
    ) throws {
        try EventLoop.runToCompletion { loop in
            let stop = try StopRequest(loop: loop)
            let result: Result<Void, any Error>
            do {
                // The keeper is closed last: its session holds the lock against other runs.
                try await CommandError.withConnection(configuration, loop: loop) { keeper in
                    try await CommandError.withConnection(configuration, loop: loop) { worker in
                        try await PlaceMaintenanceRun(
                            worker: worker, keeper: keeper, stop: stop, isForced: isForced,
                            onProgress: onProgress, onLine: onLine
                        ).run()
                    }
                }
                result = .success(())
            } catch {
                result = .failure(error)
            }
            await stop.close()
            try result.get()
        }
    }
}

/// One run of `poi maintain`, with two sessions: one works; the other keeps a snapshot while places are written, and a lock
/// that prevents other runs.
private struct PlaceMaintenanceRun {
    /// "POI " and "ORDR", so that it differs from the migrations' lock.
    private static let lock: SQL = "SELECT pg_try_advisory_lock(1347373344, 1330791506)"
    private static let count: SQL = "SELECT count(*) FROM locations"
    /// The indexes that a REINDEX leaves behind if it is cut off (PostgreSQL manual, REINDEX, "Rebuilding Indexes
    /// Concurrently").
    private static let brokenIndexes: SQL = """
        SELECT relname::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid \
        WHERE indrelid = 'locations'::regclass AND NOT indisvalid AND relname ~ '_cc(new|old)[0-9]*$'
        """
    /// All indexes; the one that plain requests read comes first.
    private static let indexes: SQL = """
        SELECT relname::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid \
        WHERE indrelid = 'locations'::regclass ORDER BY relname <> 'locations_geocentric_idx', relname
        """

    private static let nothingToDo =
        "nothing to do: the places are in spatial order, or too few for it to matter"

    let worker: PostgresConnection
    let keeper: PostgresConnection
    let stop: StopRequest
    let isForced: Bool
    let onProgress: (@Sendable (_ done: Int, _ total: Int) -> Void)?
    let onLine: @Sendable (String) -> Void

    func run() async throws {
        guard try await keeper.query(PostgresQuery(Self.lock)).only().decode(Bool.self, at: 0) else {
            throw CommandError("another poi maintain is at work")
        }
        for name in try await names(Self.brokenIndexes) {
            try await worker.unsafeExecuteScript("DROP INDEX CONCURRENTLY \(SQL(identifier: name).text)")
            onLine("\(name): dropped, which an earlier run had left unfinished")
        }
        try await worker.unsafeExecuteScript("ANALYZE locations (space_key)")
        if !isForced, try await order() ?? 1 >= SpatialOrder.sufficientShare {
            return onLine(Self.nothingToDo)
        }
        let written = try await write()
        guard written > 0 else { return onLine(Self.nothingToDo) }
        onLine("\(written) places written in spatial order")
        try await cleanUp()
    }

    /// Writes batch by batch; returns how many places were written.
    private func write() async throws -> Int {
        let total = try await worker.query(PostgresQuery(Self.count)).only().decode(Int.self, at: 0)
        // A vacuum doesn't remove old versions that this snapshot might still see.
        _ = try await keeper.query("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        _ = try await keeper.query("SELECT 1 FROM locations LIMIT 1")
        _ = try await worker.query("SET lock_timeout = '5s'")
        let rewrite = PlaceRewrite(connection: worker, isForced: isForced)
        var (position, done, written) = (PlaceRewrite.Position.start, 0, 0)
        onProgress?(0, total)
        while true {
            let outcome = try await rewrite.batch(after: position)
            guard outcome.count > 0 else { break }
            (position, done, written) = (outcome.end, done + outcome.count, written + outcome.writtenCount)
            onProgress?(done, total)
            try throwIfStopped("\(done) of \(total) places are in spatial order; the next run goes on there")
            // Fails if the session with the snapshot has ended: without it, further work would be in vain.
            _ = try await keeper.query("SELECT 1")
        }
        _ = try await keeper.query("COMMIT")
        _ = try await worker.query("SET lock_timeout = 0")
        return written
    }

    /// Removes the old versions, and builds the indexes again, which have grown with them.
    private func cleanUp() async throws {
        try await worker.unsafeExecuteScript("VACUUM (ANALYZE) locations")
        try await worker.unsafeExecuteScript("VACUUM (ANALYZE) location_words")
        onLine("locations, location_words: vacuumed")
        for name in try await names(Self.indexes) {
            try throwIfStopped(
                "the places are in spatial order; what is left is REINDEX TABLE CONCURRENTLY locations")
            try await worker.unsafeExecuteScript("REINDEX INDEX CONCURRENTLY \(SQL(identifier: name).text)")
            onLine("\(name): built again")
        }
    }

    private func order() async throws -> Double? {
        try await worker.query(SpatialOrder.sample).only().decode(Double?.self, at: 0)
    }

    private func names(_ sql: SQL) async throws -> [String] {
        var names: [String] = []
        for row in try await worker.query(PostgresQuery(sql)) { names.append(try row.decode(at: 0)) }
        return names
    }

    private func throwIfStopped(_ state: String) throws {
        if let signal = stop.reason { throw CommandError("stopped by \(signal): \(state)") }
    }
}
