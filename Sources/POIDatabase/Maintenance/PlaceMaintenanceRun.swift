import POIService
import Postgres

/// One run of `poi maintain`, by two sessions: one works, the other keeps a snapshot while places are written, and the
/// claim that no other run works beside this one.
struct PlaceMaintenanceRun {
    /// "POI " and "ORDR", so that it differs from the migrations' lock.
    private static let claim: SQL = "SELECT pg_try_advisory_lock(1347373344, 1330791506)"
    private static let count: SQL = "SELECT count(*) FROM locations"
    /// What a REINDEX leaves that was cut off (PostgreSQL manual, REINDEX, "Rebuilding Indexes Concurrently").
    private static let brokenIndexes: SQL = """
        SELECT relname::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid \
        WHERE indrelid = 'locations'::regclass AND NOT indisvalid AND relname ~ '_cc(new|old)[0-9]*$'
        """
    /// The one that plain requests read comes first.
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
        guard try await keeper.query(PostgresQuery(Self.claim)).only().decode(Bool.self, at: 0) else {
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
        try await tidyUp(written)
    }

    /// Writes batch by batch; answers how many places were written.
    private func write() async throws -> Int {
        let total = try await worker.query(PostgresQuery(Self.count)).only().decode(Int.self, at: 0)
        // Old versions that somebody might still see aren't cleared away.
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
            try refuseToGoOn("\(done) of \(total) places are in spatial order; the next run goes on there")
            // Without its snapshot all further work would be in vain.
            _ = try await keeper.query("SELECT 1")
        }
        _ = try await keeper.query("COMMIT")
        _ = try await worker.query("SET lock_timeout = 0")
        return written
    }

    /// Clears away the old versions, and builds the indexes again, which have grown with them.
    private func tidyUp(_ written: Int) async throws {
        try await worker.unsafeExecuteScript("VACUUM (ANALYZE) locations")
        let rewrite = PlaceRewrite(connection: worker, isForced: isForced)
        if try await rewrite.fillRoom(of: written) > 0 {
            try await worker.unsafeExecuteScript("VACUUM (ANALYZE) locations")
        }
        try await worker.unsafeExecuteScript("VACUUM (ANALYZE) location_words")
        onLine("locations, location_words: vacuumed")
        for name in try await names(Self.indexes) {
            try refuseToGoOn(
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

    private func refuseToGoOn(_ state: String) throws {
        if let signal = stop.reason { throw CommandError("stopped by \(signal): \(state)") }
    }
}
