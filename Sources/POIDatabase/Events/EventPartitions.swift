import Postgres

/// The table's partitions, through a session of their own: making and dropping them may wait for others.
struct EventPartitions {
    /// A month's partition, and what has become of it.
    struct Partition: Hashable, Sendable {
        let name: String
        let outcome: Outcome
    }

    enum Outcome: String, Sendable {
        /// It was made.
        case made
        /// It was there.
        case exists
        /// Too many of its rows lie in the DEFAULT partition, where they stay.
        case left
    }

    /// The months that have partitions, counted from this one: phones send late, and servers may rest for a while.
    private static let months = -1...3

    /// `$1` which month, counted from this one.
    private static let makePartition: SQL = """
        SELECT to_char(day, '"events_"YYYY_MM'), make_events_partition(day) \
        FROM (SELECT (now() AT TIME ZONE 'UTC' + $1 * interval '1 month')::date) AS month (day)
        """

    /// `$1` how many months are kept, this one not counted.
    private static let dropPartitions: SQL = """
        SELECT drop_events_partitions(
            (date_trunc('month', now() AT TIME ZONE 'UTC') - $1 * interval '1 month') AT TIME ZONE 'UTC')
        """

    /// The first month from this one on that has no partition, as seconds since 1970; null where years have one.
    private static let firstMissing: SQL = """
        SELECT extract(epoch FROM min(month) AT TIME ZONE 'UTC')::bigint \
        FROM generate_series(0, 120) AS number, \
        LATERAL (SELECT date_trunc('month', now() AT TIME ZONE 'UTC') + number * interval '1 month') AS month (month) \
        WHERE NOT EXISTS (SELECT FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid \
        WHERE inhparent = 'events'::regclass AND relname = 'events_' || to_char(month, 'YYYY_MM'))
        """

    let connection: PostgresConnection

    /// When the partitions end that follow each other from this month on, in seconds since 1970.
    func end() async throws(PostgresError) -> Int64? {
        try await connection.query(PostgresQuery(Self.firstMissing)).only().decode(Int64?.self, at: 0)
    }

    /// Makes the partitions of the months to come, each in a transaction of its own.
    func make() async throws(PostgresError) -> [Partition] {
        var partitions: [Partition] = []
        for month in Self.months {
            let query = PostgresQuery(Self.makePartition, [.float8(Double(month))])
            let row = try await connection.query(query).only()
            guard let outcome = Outcome(rawValue: try row.decode(at: 1)) else {
                throw PostgresError(.unexpectedResult)
            }
            partitions.append(Partition(name: try row.decode(at: 0), outcome: outcome))
        }
        return partitions
    }

    /// Drops the partitions of the months before the last so many; answers their names.
    func drop(keepingMonths count: Int) async throws(PostgresError) -> [String] {
        let rows = try await connection.query(PostgresQuery(Self.dropPartitions, [.float8(Double(count))]))
        var names: [String] = []
        for row in rows { names.append(try row.decode(at: 0)) }
        return names
    }
}
