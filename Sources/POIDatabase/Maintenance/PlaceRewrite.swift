import POIService
import Postgres

/// Writes places anew in the order of `space_key`, one batch per transaction.
///
/// An UPDATE writes a new version of each row: at the table's end, or where a vacuum has recorded free space. So versions
/// that are written one after the other end up side by side. That fails if the row's own page has free space, since the
/// version stays on the page then. Two things prevent that: a snapshot that another session holds (see
/// `PlaceMaintenance`) keeps PostgreSQL from removing the old versions during the run, so pages stay full; and a row that
/// stays on its page is written again until the page is full.
struct PlaceRewrite {
    /// Where a batch has ended.
    struct Position: Hashable {
        var spaceKey: Int64
        var id: Int64

        static let start = Position(spaceKey: .min, id: .min)
    }

    /// A place, and the page of the table that it is on.
    private struct Place {
        let id: Int64
        let page: Int64
    }

    /// What was done with a batch.
    struct Outcome {
        /// How many places it had; none at the end.
        let count: Int
        /// How many of them were written.
        let writtenCount: Int
        let end: Position
    }

    /// Takes about 0.2 s, for which an update of the same places may have to wait.
    static let batchSize = 2000
    /// No page has space for more versions of the smallest place.
    private static let roundLimit = 100
    private static let attemptLimit = 5

    private static let page: SQL = "(locations.ctid::text::point)[0]::bigint"

    private static let nextBatch = PreparedStatement(
        "SELECT space_key, id, " + page + """
             FROM locations WHERE (space_key, id) > ($1, $2) ORDER BY space_key, id LIMIT 
            """ + SQL(integer: batchSize),
        parameters: [.int8, .int8])

    /// Places that another session has locked are left out: so this neither waits for that session nor deadlocks with it.
    /// The session's settings leave only a nested loop, which keeps the order.
    private static let write = PreparedStatement(
        """
        UPDATE locations SET featured = locations.featured \
        FROM (SELECT id FROM locations WHERE id = ANY ($1) ORDER BY space_key, id FOR NO KEY UPDATE SKIP LOCKED) \
        AS place WHERE locations.id = place.id RETURNING locations.id, 
        """ + page,
        parameters: [.int8Array])

    /// The settings that a session needs for these statements.
    static let settings = [
        PostgresConfiguration.Setting("enable_hashjoin", "off"),
        PostgresConfiguration.Setting("enable_mergejoin", "off"),
        PostgresConfiguration.Setting("enable_bitmapscan", "off"),
        PostgresConfiguration.Setting("enable_seqscan", "off"),
        PostgresConfiguration.Setting("default_transaction_isolation", "read committed"),
    ]

    let connection: PostgresConnection
    /// Whether batches that are in order already are written too.
    let isForced: Bool

    /// Writes the batch behind a position, unless its places are side by side already.
    func batch(after position: Position) async throws(PostgresError) -> Outcome {
        let rows = try await connection.query(
            Self.nextBatch, [.int8(position.spaceKey), .int8(position.id)])
        var (places, end): ([Place], Position) = ([], position)
        for row in rows {
            end = Position(spaceKey: try row.decode(at: 0), id: try row.decode(at: 1))
            places.append(Place(id: end.id, page: try row.decode(at: 2)))
        }
        guard isForced || SpatialOrder.share(ofPages: places.map(\.page)) < SpatialOrder.sufficientBatchShare
        else { return Outcome(count: places.count, writtenCount: 0, end: end) }
        let written = try await writeRepeating(places)
        return Outcome(count: places.count, writtenCount: written, end: end)
    }

    /// Writes, and tries again after a deadlock with a session that locks the whole table, or a long wait for such a lock:
    /// both errors come only after a wait.
    private func writeRepeating(_ places: [Place]) async throws(PostgresError) -> Int {
        for _ in 1..<Self.attemptLimit {
            do throws(PostgresError) {
                return try await writeInTransaction(places)
            } catch {
                switch error.sqlState {
                case .serializationFailure, .deadlockDetected, .lockNotAvailable: continue
                default: throw error
                }
            }
        }
        return try await writeInTransaction(places)
    }

    private func writeInTransaction(_ places: [Place]) async throws(PostgresError) -> Int {
        do {
            return try await connection.withTransaction { _ in try await write(places) }
        } catch let error as PostgresError {
            throw error
        } catch {
            throw PostgresError(.unexpectedResult)
        }
    }

    /// Returns how many were written: all except those that were locked or deleted.
    private func write(_ places: [Place]) async throws(PostgresError) -> Int {
        let ids = places.map(\.id)
        var pages = Dictionary(places.map { ($0.id, $0.page) }, uniquingKeysWith: { $1 })
        var (staying, written) = (ids, 0)
        for round in 0..<Self.roundLimit {
            let places = try await write(ids: staying)
            staying = places.filter { pages[$0.id] == $0.page }.map(\.id)
            for place in places { pages[place.id] = place.page }
            if round == 0 {
                written = places.count
                // A few may stay: a batch begins on the last page of the one before.
                if staying.count * 10 < ids.count { return written }
            }
            if staying.isEmpty { break }
        }
        // They left their pages in disorder, but are on full pages now, so this time they leave in order.
        _ = try await write(ids: ids)
        return written
    }

    private func write(ids: [Int64]) async throws(PostgresError) -> [Place] {
        var places: [Place] = []
        for row in try await connection.query(Self.write, [.int8Array(ids)]) {
            places.append(Place(id: try row.decode(at: 0), page: try row.decode(at: 1)))
        }
        return places
    }
}

/// How near to spatial order the table of places is: the share of places that lie on the same page as the place before
/// them in the order of `space_key`. About 0.97 in spatial order, 0 where places were written in random order.
enum SpatialOrder {
    /// From this share on, writing the whole table again gains nothing.
    static let sufficientShare = 0.9
    /// The same for a batch, whose share depends more on chance.
    static let sufficientBatchShare = 0.8

    /// Estimates the share from 16 places behind every fourth bound of the column's histogram. Null where the table was never
    /// analysed, or has less than 64 pages, which are in memory anyway. Reads 150 buffers in spatial order, 500 at most.
    static let sample = PreparedStatement(
        """
        SELECT avg(CASE WHEN is_same THEN 1 ELSE 0 END) FILTER (WHERE is_same IS NOT NULL)::double precision \
        FROM ( \
        SELECT bound FROM pg_stats, unnest(histogram_bounds::text::bigint[]) WITH ORDINALITY AS histogram (bound, n) \
        WHERE schemaname = (SELECT nspname FROM pg_namespace JOIN pg_class ON relnamespace = pg_namespace.oid \
        WHERE pg_class.oid = 'locations'::regclass AND relpages >= 64) \
        AND tablename = 'locations' AND attname = 'space_key' \
        AND n % 4 = 1 LIMIT 26 \
        ) AS samples \
        CROSS JOIN LATERAL ( \
        SELECT page = lag(page) OVER (ORDER BY space_key) AS is_same \
        FROM (SELECT space_key, (ctid::text::point)[0] AS page FROM locations WHERE space_key >= bound \
        ORDER BY space_key LIMIT 16) AS neighbours \
        ) AS pairs
        """)

    /// The share among places that are given by their pages, in the order of `space_key`.
    static func share(ofPages pages: [Int64]) -> Double {
        guard pages.count > 1 else { return 1 }
        let same = zip(pages, pages.dropFirst()).count { $0 == $1 }
        return Double(same) / Double(pages.count - 1)
    }
}
