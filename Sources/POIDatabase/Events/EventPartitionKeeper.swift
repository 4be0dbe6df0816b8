import EventLoop
import Locking
import Postgres
import Telemetry

/// Makes the partitions of the next months, at the start and once a day.
///
/// If its role isn't allowed to do that, it logs this, and `poi events maintain` has to be run: until then the DEFAULT
/// partition takes the events. Any number of servers may do the same at once. Confined to its loop; `close` must be awaited
/// before the loop stops.
final class EventPartitionKeeper {
    private let configuration: PostgresConfiguration
    private let loop: EventLoop
    private let observability: Observability
    private var timer: LoopTimer?
    private var run: Task<Void, Never>?
    /// Up to when there are partitions, as last read, in seconds since 1970.
    private var end: Int64?

    private static let interval = Duration.seconds(86_400)
    /// How long after a failure the next attempt comes.
    private static let retryInterval = Duration.seconds(300)
    /// The pause before the next attempt while there is no database, or its migrations are missing: health reports both.
    private static let waitingInterval = Duration.seconds(2)

    init(_ configuration: PostgresConfiguration, loop: EventLoop, observability: Observability) {
        self.configuration = configuration
        self.loop = loop
        self.observability = observability
        timer = LoopTimer(loop: loop) { [weak self] in self?.start() }
        timer?.start(after: .zero)
    }

    /// Seconds until the last partition's end, 0 after it; nil until it is known.
    var secondsLeft: Int? {
        end.map { max(0, Int($0) - Timestamp.now.seconds) }
    }

    /// Stops the keeper, and waits for the end of what is under way.
    func close() async {
        timer?.close()
        timer = nil
        run?.cancel()
        await run?.value
        run = nil
    }

    private func start() {
        let keeper = LoopBound(self, loop: loop)
        run = Task(executorPreference: loop) { await keeper.value.makePartitions() }
    }

    private func makePartitions() async {
        do throws(PostgresError) {
            let connection = try await PostgresConnection.connect(configuration, loop: loop)
            let result = await Self.make(on: connection)
            // If this role may make none, another one may have made some.
            end = (try? await EventPartitions(connection: connection).end()) ?? end
            await connection.close()
            let made = try result.get().filter { $0.outcome == .made }.map(\.name)
            if !made.isEmpty { observability.record(.eventPartitionsMade(made)) }
            timer?.start(after: Self.interval)
        } catch {
            handle(error)
        }
    }

    private static func make(
        on connection: PostgresConnection
    ) async -> Result<[EventPartitions.Partition], PostgresError> {
        do throws(PostgresError) {
            return .success(try await EventPartitions(connection: connection).make())
        } catch {
            return .failure(error)
        }
    }

    private func handle(_ error: PostgresError) {
        switch error.code {
        case .closed, .cancelled: return
        case .connectionFailed, .connectionLost: timer?.start(after: Self.waitingInterval)
        case .server where error.sqlState == .undefinedFunction: timer?.start(after: Self.waitingInterval)
        default:
            observability.record(.eventPartitionsFailed(reason: error.eventLogText))
            timer?.start(after: Self.retryInterval)
        }
    }
}

/// Lets one loop of a process keep the partitions of the next months.
package final class EventPartitionClaim: Sendable {
    private let observability: Observability
    private let isClaimed = Lock(false)

    /// Makes a claim that nobody has taken yet.
    package init(observability: Observability) {
        self.observability = observability
    }

    /// Starts a keeper for the first caller; nil for all others.
    func claim(_ configuration: PostgresConfiguration, loop: EventLoop) -> EventPartitionKeeper? {
        guard isClaimed.claim() else { return nil }
        return EventPartitionKeeper(configuration, loop: loop, observability: observability)
    }
}
