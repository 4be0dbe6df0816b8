import EventLoop
import Postgres
import Program

/// Makes and drops the partitions of the table of events, through a session of its own, because both may wait for others.
struct EventPartitions {
    /// A month's partition, and what was done.
    struct Partition: Hashable, Sendable {
        let name: String
        let outcome: Outcome
    }

    /// What was done to make a partition.
    enum Outcome: String, Sendable {
        case made
        case exists
        /// Too many of its rows lie in the DEFAULT partition, where they stay.
        case left
    }

    /// The months that get partitions, counted from this one: phones send late, and servers may be down for a while.
    private static let months = -1...3

    /// `$1` is the month, counted from this one.
    private static let makePartition: SQL = """
        SELECT to_char(day, '"events_"YYYY_MM'), make_events_partition(day) \
        FROM (SELECT (now() AT TIME ZONE 'UTC' + $1 * interval '1 month')::date) AS month (day)
        """

    /// `$1` is how many months are kept, not counting this one.
    private static let dropPartitions: SQL = """
        SELECT drop_events_partitions(
            (date_trunc('month', now() AT TIME ZONE 'UTC') - $1 * interval '1 month') AT TIME ZONE 'UTC')
        """

    /// The first month from this one on that has no partition, as seconds since 1970; null if all of ten years have one.
    private static let firstMissing: SQL = """
        SELECT extract(epoch FROM min(month) AT TIME ZONE 'UTC')::bigint \
        FROM generate_series(0, 120) AS number, \
        LATERAL (SELECT date_trunc('month', now() AT TIME ZONE 'UTC') + number * interval '1 month') AS month (month) \
        WHERE NOT EXISTS (SELECT FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid \
        WHERE inhparent = 'events'::regclass AND relname = 'events_' || to_char(month, 'YYYY_MM'))
        """

    let connection: PostgresConnection

    /// Up to when there are partitions from this month on without a gap, in seconds since 1970.
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

    /// Drops the partitions of the months before the last `count`; returns their names.
    func drop(keepingMonths count: Int) async throws(PostgresError) -> [String] {
        let rows = try await connection.query(PostgresQuery(Self.dropPartitions, [.float8(Double(count))]))
        var names: [String] = []
        for row in rows { names.append(try row.decode(at: 0)) }
        return names
    }
}

/// What `poi events maintain` does: makes partitions for the next months, and drops those that are too old.
package struct EventMaintenance: Sendable {
    private let configuration: PostgresConfiguration
    private let retainedMonths: Int?

    /// Maintenance of the database that `database` leads to; its role must own the table.
    ///
    /// - Throws: `ConfigurationError` for a retention that isn't valid.
    package init(
        _ database: DatabaseConfiguration, from reader: inout SettingsReader
    ) throws(ConfigurationError) {
        // The functions themselves limit how long they wait for locks, and dropping may take long.
        configuration = database.postgresWithoutTimeout
        retainedMonths = try reader.readIfPresent(.eventsRetention)
    }

    /// Makes and drops partitions, and passes a line about each to `onLine`. Blocks.
    ///
    /// Nothing is dropped unless `POI_EVENTS_RETENTION` is set. Any number may run at once.
    package func run(onLine: @escaping @Sendable (String) -> Void) throws {
        try EventLoop.runToCompletion { loop in
            try await CommandError.withConnection(configuration, loop: loop) { connection in
                let partitions = EventPartitions(connection: connection)
                let made = try await partitions.make()
                for partition in made {
                    if let text = partition.outcome.text { onLine("\(partition.name): \(text)") }
                }
                var dropped: [String] = []
                if let retainedMonths { dropped = try await partitions.drop(keepingMonths: retainedMonths) }
                for name in dropped { onLine("\(name): dropped") }
                if dropped.isEmpty, made.allSatisfy({ $0.outcome == .exists }) { onLine("nothing to do") }
            }
        }
    }
}

extension EventPartitions.Outcome {
    fileprivate var text: String? {
        switch self {
        case .made: "made"
        case .exists: nil
        case .left: "not made: too many of its events lie in events_default, where they stay"
        }
    }
}

extension Setting where Value == Int {
    static let eventsRetention = optionalMonths(
        .eventsRetention, "how long events are kept, this month not counted", in: 1...1200)
}
