import EventLoop
import POIService
import Postgres

/// What `poi maintain` does: writes the table of places anew in spatial order, beside a service that runs.
///
/// Readers never wait, and writers for one batch at most. Needs two direct sessions as the owner of the tables.
public struct PlaceMaintenance: Sendable {
    private let configuration: PostgresConfiguration
    private let isForced: Bool

    /// Maintenance of the database that `database` leads to.
    ///
    /// - Parameter isForced: whether places are written that lie in spatial order already.
    public init(_ database: DatabaseConfiguration, isForced: Bool) {
        var configuration = database.postgres
        configuration.statementTimeout = nil
        configuration.settings += PlaceRewrite.settings
        // What waits so holds up nobody who reads or writes.
        configuration.settings.append(.init("lock_timeout", "0"))
        configuration.settings.append(.init("idle_in_transaction_session_timeout", "0"))
        self.configuration = configuration
        self.isForced = isForced
    }

    /// Does it, and tells line by line what was done. Blocks.
    ///
    /// SIGTERM and SIGINT end it behind the batch that is under way; what was done stays.
    /// - Parameter onProgress: told of the places so far and of all that there are, behind each batch.
    /// - Throws: `CommandError`.
    public func run(
        onProgress: (@Sendable (_ done: Int, _ total: Int) -> Void)? = nil,
        onLine: @escaping @Sendable (String) -> Void
    ) throws {
        try EventLoop.runToCompletion { loop in
            let stop = try StopRequest(loop: loop)
            let result: Result<Void, any Error>
            do {
                // The keeper is closed last: with it goes the claim.
                try await CommandError.withConnection(configuration, loop: loop) { keeper in
                    try await CommandError.withConnection(configuration, loop: loop) { worker in
                        try await PlaceMaintenanceRun(
                            worker: worker, keeper: keeper, stop: stop, isForced: isForced,
                            onProgress: onProgress, onLine: onLine
                        ).run()
                    }
                }
                result = .success(())
            } catch {
                result = .failure(error)
            }
            await stop.close()
            try result.get()
        }
    }
}

/// Whether a signal has asked for the end.
///
/// Confined to the loop.
final class StopRequest {
    private let signals: StopSignals
    private var task: Task<Void, Never>?
    /// The signal's name, once one has come.
    private(set) var reason: String?

    init(loop: EventLoop) throws {
        signals = try StopSignals(loop: loop)
        let request = LoopBound(self, loop: loop)
        let signals = LoopBound(signals, loop: loop)
        task = Task(executorPreference: loop) {
            let name = await signals.value.first()
            request.value.reason = name
        }
    }

    /// Gives the signals their default effect again.
    func close() async {
        signals.ask("the end")
        await task?.value
        signals.close()
    }
}
