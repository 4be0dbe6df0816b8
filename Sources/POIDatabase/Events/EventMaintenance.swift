import EventLoop
import POIService
import Postgres

/// What `poi events maintain` does: makes partitions for the months to come, and drops those that are too old.
public struct EventMaintenance: Sendable {
    private let configuration: PostgresConfiguration
    private let retainedMonths: Int?

    /// Maintenance of the database that `database` leads to, as the role that owns the table.
    ///
    /// - Throws: `ConfigurationError` for a retention that can't be read.
    public init(
        _ database: DatabaseConfiguration, from reader: inout SettingsReader
    ) throws(ConfigurationError) {
        var configuration = database.postgres
        // It waits for locks as long as the functions say, and drops as long as that takes.
        configuration.statementTimeout = nil
        self.configuration = configuration
        retainedMonths = try reader.readIfPresent(.eventsRetention)
    }

    /// Does it, and tells line by line what was done. Blocks.
    ///
    /// Nothing is dropped unless `POI_EVENTS_RETENTION` says so. Any number may run at once.
    /// - Throws: `CommandError`.
    public func run(onLine: @escaping @Sendable (String) -> Void) throws {
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
        "POI_EVENTS_RETENTION", "how long events are kept, this month not counted", in: 1...1200)
}
