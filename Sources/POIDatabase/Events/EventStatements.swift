import POIService
import Postgres

/// The SQL of writing events.
enum EventStatements {
    /// Inserts what is new, and answers its keys: `$1` to `$6` the columns, an array each.
    ///
    /// In the order of the keys, so that transactions that write the same events wait for each other in one
    /// direction: no two of them end in a deadlock.
    static let insert = PreparedStatement(
        """
        INSERT INTO events (id, time, user_id, name, value, is_test) \
        SELECT id, time, user_id, name, value, is_test \
        FROM unnest($1, $2, $3, $4, $5, $6) AS event (id, time, user_id, name, value, is_test) \
        ORDER BY id, time \
        ON CONFLICT DO NOTHING RETURNING id, time
        """,
        parameters: [.uuidArray, .timestamptzArray, .textArray, .textArray, .jsonbArray, .boolArray])

    /// The parameters of `insert`.
    static func parameters(_ events: [StoredEvent]) -> [PostgresValue] {
        [
            .uuidArray(events.map { PostgresUUID($0.key.id) }),
            .timestamptzArray(events.map { PostgresTimestamp($0.key) }),
            .textArray(events.map(\.userID)), .textArray(events.map(\.name)),
            .jsonbArray(events.map(\.value)), .boolArray(events.map(\.isTest)),
        ]
    }
}
