import POIService
import Postgres

/// The statements of one request: how long they took, and whether all of them saw the same data.
///
/// Confined to the pool's loop.
final class Inquiry {
    private let pool: ConnectionPool
    /// The dataset that the statements so far were read from; nil where they disagree, or there is none.
    private(set) var datasetID: DatasetID?
    /// Whether two statements saw different data.
    private(set) var isTorn = false
    private(set) var duration = Duration.zero
    private var hasAnswer = false

    init(_ pool: ConnectionPool) {
        self.pool = pool
    }

    /// Runs a statement that has the dataset's id in a column of every row.
    func rows(
        _ statement: PreparedStatement, _ parameters: [PostgresValue], lane: PoolLaneName, datasetColumn: Int
    ) async throws(PostgresError) -> PostgresRows {
        let start = ContinuousClock.now
        defer { duration += ContinuousClock.now - start }
        let rows = try await answer(statement, parameters, lane)
        if let row = rows.first { note(try row.decode(DatasetID?.self, at: datasetColumn)) }
        return rows
    }

    /// Asks, and once more where a standby has ended the statement for what it had to replay.
    private func answer(
        _ statement: PreparedStatement, _ parameters: [PostgresValue], _ lane: PoolLaneName
    ) async throws(PostgresError) -> PostgresRows {
        do throws(PostgresError) {
            return try await pool.query(statement, parameters, lane: lane, isIdempotent: true)
        } catch {
            guard error.isReplayConflict else { throw error }
            return try await pool.query(statement, parameters, lane: lane, isIdempotent: true)
        }
    }

    /// A statement before this one may have seen what is now gone.
    func tear() {
        isTorn = true
        datasetID = nil
    }

    private func note(_ id: DatasetID?) {
        if hasAnswer, id != datasetID || id == nil { return tear() }
        hasAnswer = true
        datasetID = id
    }
}

extension DatasetID: PostgresDecodable {
    /// From `uuid`.
    public static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> DatasetID {
        let uuid = try PostgresUUID.decode(cell)
        return DatasetID(high: uuid.high, low: uuid.low)
    }
}
