import Postgres

/// Rebuilds the index that finds the nearest places, where changes have left it much larger than it has to be.
///
/// Each changed place gets a new entry. A vacuum removes the old one, but the pages stay, and are half empty. Readers and writers
/// go on meanwhile. Searches work without it, so a failure doesn't fail the import.
struct IndexRebuild {
    let connection: PostgresConnection
    /// What is done already, whatever becomes of this.
    var done = "the import is in the database"
    /// How long it waits for others each time. It has to wait for all transactions that use the table.
    var lockTimeout: SQL = "'60s'"
    /// Called when the index is about to be rebuilt.
    var onBegin: () -> Void = {}
    /// Gets a line about what a person should know.
    let onLine: (String) -> Void

    private static let rebuild = "REINDEX INDEX CONCURRENTLY locations_geocentric_idx"
    /// A new index has 67 to 79 bytes a place; once each place was changed, it has 134.
    private static let maximumBytesPerPlace: SQL = "100"
    /// A smaller index is not worth it.
    private static let minimumBytes: SQL = "1048576"

    /// The index's size, and whether it is too large.
    private static let size: SQL =
        "SELECT bytes, reltuples > 0 AND bytes > greatest(" + minimumBytes + ", " + maximumBytesPerPlace
        + " * reltuples) FROM pg_class, pg_relation_size('locations_geocentric_idx') AS bytes "
        + "WHERE oid = 'locations'::regclass"

    /// What a rebuild that was cut off has left behind: an index that is kept up to date, and not used.
    private static let leftovers: SQL = """
        SELECT class.relname::text FROM pg_index JOIN pg_class AS class ON class.oid = indexrelid \
        WHERE indrelid = 'locations'::regclass AND NOT indisvalid \
        AND class.relname ~ '^locations_geocentric_idx_cc(new|old)[0-9]*$'
        """

    /// "POI " and "RIDX", so that it differs from other commands' locks. The session's end gives it back.
    private static let tryLock: SQL = "SELECT pg_try_advisory_lock(1347373344, 1380533336)"

    /// Rebuilds the index if it is too large, after what a rebuild before has left behind was removed.
    ///
    /// Nothing is done while another import is at work, which looks at the index at its own end, or another rebuild.
    func run() async {
        do {
            guard try await value(ImportStatements.tryLock), try await value(Self.tryLock) else { return }
            try await query("SET lock_timeout = " + lockTimeout)
            try await query("SET statement_timeout = 0")
            try await removeLeftovers()
            let (before, isTooLarge) = try await size()
            guard isTooLarge else { return }
            onBegin()
            try await connection.unsafeExecuteScript(Self.rebuild)
            let (after, _) = try await size()
            onLine("locations_geocentric_idx was rebuilt: \(before / 1024) kB, now \(after / 1024) kB")
        } catch {
            let reason = (error as? PostgresError)?.serverMessage ?? "\(error)"
            onLine("\(done); what is left is \(Self.rebuild) (\(reason))")
            try? await removeLeftovers()
        }
    }

    private func removeLeftovers() async throws {
        for row in try await query(Self.leftovers) {
            let name: String = try row.decode(at: 0)
            try await connection.unsafeExecuteScript(
                ("DROP INDEX CONCURRENTLY IF EXISTS " + SQL(identifier: name)).text)
        }
    }

    private func size() async throws -> (bytes: Int, isTooLarge: Bool) {
        let row = try await query(Self.size).only()
        return (try row.decode(at: 0), try row.decode(at: 1))
    }

    private func value(_ sql: SQL) async throws -> Bool {
        try await query(sql).only().decode(at: 0)
    }

    @discardableResult
    private func query(_ sql: SQL) async throws -> PostgresRows {
        try await connection.query(PostgresQuery(sql))
    }
}
