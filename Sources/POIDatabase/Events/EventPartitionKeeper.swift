import EventLoop
import POIService
import Postgres

/// Makes the partitions of the months to come, at the start and once a day.
///
/// Where its role may not, it says so, and `poi events maintain` has to be run: until then the DEFAULT partition takes
/// what comes. Any number of servers may do the same at once. Confined to its loop; `close` must be awaited before that
/// stops.
final class EventPartitionKeeper {
    private let configuration: PostgresConfiguration
    private let loop: EventLoop
    private let observability: Observability
    private var timer: LoopTimer?
    private var run: Task<Void, Never>?
    /// When the last partition ends that was seen, in seconds since 1970.
    private var end: Int64?

    private static let interval = Duration.seconds(86_400)
    /// After which time a failure is tried again.
    private static let retryInterval = Duration.seconds(300)
    /// While there is no database, or its migrations are missing: health tells of both.
    private static let waitingInterval = Duration.seconds(2)

    init(_ configuration: PostgresConfiguration, loop: EventLoop, observability: Observability) {
        self.configuration = configuration
        self.loop = loop
        self.observability = observability
        timer = LoopTimer(loop: loop) { [weak self] in self?.start() }
        timer?.start(after: .zero)
    }

    /// Whole days until the last partition's end, 0 past it; nil until it is known.
    var daysLeft: Int? {
        end.map { max(0, (Int($0) - Timestamp.now.seconds) / 86_400) }
    }

    /// Makes no more, and waits for what is under way.
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
            // Where this role may make none, another may have: its end counts.
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
