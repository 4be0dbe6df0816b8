import POIService
import Postgres

/// Writes places anew in the order of `space_key`, a batch a transaction.
///
/// An UPDATE writes a new version of each row: behind the table's end, or where a vacuum has told of room. So versions
/// that are written one after the other come to lie side by side. That fails where the row's own page has room, since
/// the version stays there then. Two things are done about that: a snapshot that somebody else holds (see
/// `PlaceMaintenance`) keeps PostgreSQL from clearing away the old versions while the run lasts, so pages stay full;
/// and a row that stays on its page is written again until the page is full.
struct PlaceRewrite {
    /// Where a batch has ended.
    struct Position: Hashable {
        var spaceKey: Int64
        var id: Int64

        static let start = Position(spaceKey: .min, id: .min)
    }

    /// A place, and the page of the table that it lies on.
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

    /// Some 0.2 s, for which an update of the same places may have to wait.
    static let batchSize = 2000
    /// No page has room for more versions of the smallest place.
    private static let roundLimit = 100
    private static let attemptLimit = 5

    private static let page: SQL = "(locations.ctid::text::point)[0]::bigint"

    private static let nextBatch = PreparedStatement(
        "SELECT space_key, id, " + page + """
             FROM locations WHERE (space_key, id) > ($1, $2) ORDER BY space_key, id LIMIT 
            """ + SQL(integer: batchSize),
        parameters: [.int8, .int8])

    /// The places behind as many pages as have any, where these are few: `$1` is their greatest number.
    private static let straggling: SQL =
        "WITH used AS (SELECT count(DISTINCT " + page + """
            ) AS count FROM locations), \
            straggling AS MATERIALIZED (SELECT id, space_key, 
            """ + page + """
             AS page FROM locations WHERE ctid >= (SELECT format('(%s,0)', count)::tid FROM used)) \
            SELECT id, page FROM straggling WHERE (SELECT count(*) FROM straggling) <= $1 ORDER BY space_key, id
            """

    /// Places that somebody else has locked are left out: whoever writes them isn't waited for, and can't deadlock with
    /// this. The session's settings leave only a nested loop, which keeps the order.
    private static let write = PreparedStatement(
        """
        UPDATE locations SET featured = locations.featured \
        FROM (SELECT id FROM locations WHERE id = ANY ($1) ORDER BY space_key, id FOR NO KEY UPDATE SKIP LOCKED) \
        AS place WHERE locations.id = place.id RETURNING locations.id, 
        """ + page,
        parameters: [.int8Array])

    /// What a session needs for these statements.
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

    /// Writes the batch behind a position, unless its places lie side by side already.
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

    /// Writes the places behind the room that a run leaves at the table's front, where they are few: so the next vacuum can
    /// cut off the end. To be called after a vacuum, without a snapshot; answers how many were written.
    func fillRoom(of total: Int) async throws(PostgresError) -> Int {
        let query = PostgresQuery(Self.straggling, [.int8(Int64(total / 10))])
        var places: [Place] = []
        for row in try await connection.query(query) {
            places.append(Place(id: try row.decode(at: 0), page: try row.decode(at: 1)))
        }
        var written = 0
        for start in stride(from: 0, to: places.count, by: Self.batchSize) {
            written += try await writeRepeating(
                Array(places[start..<min(places.count, start + Self.batchSize)]))
        }
        return written
    }

    /// Errors of which another attempt can get rid: a deadlock with somebody who locks the whole table, or a long wait
    /// for such a lock. Each has waited already.
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

    /// Answers how many were written: all but those that were locked or are gone.
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
                // The last page of the batch before is where this one begins.
                if staying.count * 10 < ids.count { return written }
            }
            if staying.isEmpty { break }
        }
        // They have left in disorder, and lie on full pages now.
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
