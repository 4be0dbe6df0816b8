import EventLoop
import Locking
import Postgres

/// The steps of a command that writes many places: which one is under way, for whoever watches, and what a signal may end.
///
/// Any thread.
final class ImportSteps: Sendable {
    private static let progressInterval = Duration.milliseconds(200)

    private let phase: Lock<ImportProgress.Phase>
    private let onProgress: @Sendable (ImportProgress) -> Void
    private let progress: @Sendable (ImportProgress.Phase) -> ImportProgress

    /// - Parameter onProgress: gets the progress at the beginning of each step, and several times a second while it lasts.
    init(
        _ first: ImportProgress.Phase, _ onProgress: @escaping @Sendable (ImportProgress) -> Void,
        progress: @escaping @Sendable (ImportProgress.Phase) -> ImportProgress
    ) {
        phase = Lock(first)
        self.onProgress = onProgress
        self.progress = progress
    }

    private var isCommitting: Bool { phase.withLock { $0 } == .committing }

    func enter(_ step: ImportProgress.Phase) {
        phase.withLock { $0 = step }
        report()
    }

    private func report() { onProgress(progress(phase.withLock { $0 })) }

    /// Runs `body` in a task, and reports the progress meanwhile. SIGTERM and SIGINT cancel the task.
    ///
    /// - Throws: what `body` throws; `CommandError` after a signal.
    func run<Value: Sendable>(
        on loop: EventLoop, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let stop = try StopRequest(loop: loop)
        let timer = LoopTimer(loop: loop) { self.report() }
        timer.start(after: Self.progressInterval, repeating: Self.progressInterval)
        let task = Task(executorPreference: loop) { try await body() }
        stop.onSignal = { task.cancel() }
        var result = await task.result
        let signal = stop.reason
        timer.close()
        await stop.close()
        if case .failure(let error) = result, let signal, !(error is LostCommit) {
            result = .failure(CommandError("stopped by \(signal): nothing was changed"))
        }
        return try result.get()
    }

    /// Runs `body` in a transaction, and commits it.
    ///
    /// - Throws: what `body` throws; `LostCommit` where it isn't known whether it is committed; `CommandError` where the data is
    ///   what the server refuses; `PostgresError`.
    func withTransaction<Value>(
        _ connection: PostgresConnection, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await connection.withTransaction { _ in
                let value = try await body()
                enter(.committing)
                return value
            }
        } catch let error as PostgresError where error.code == .connectionLost && isCommitting {
            throw LostCommit()
        } catch let error as PostgresError where error.isCausedByData {
            let texts = [error.serverMessage, error.server?.detail].compactMap(\.self)
            throw CommandError(texts.joined(separator: ": "))
        }
    }

    /// Waits until no other command writes places of a dataset, and keeps others waiting until the transaction ends.
    func lock(_ connection: PostgresConnection, _ onLine: (String) -> Void) async throws {
        for setting in ImportStatements.settings { _ = try await connection.query(PostgresQuery(setting)) }
        guard try await !connection.tryLock(ImportStatements.lockedTable) else { return }
        enter(.waiting)
        onLine("another import is at work; waiting for its end")
        try await connection.lock(ImportStatements.lockedTable)
    }

    /// Updates the planner's statistics, and makes room for later changes. A failure or a signal here fails nothing.
    func cleanUp(
        _ connection: PostgresConnection, after done: String, _ onLine: @escaping (String) -> Void
    ) async {
        enter(.vacuuming)
        do {
            try await connection.unsafeExecuteScript("VACUUM (ANALYZE) locations")
        } catch {
            onLine("\(done); what is left is VACUUM (ANALYZE) locations")
        }
    }
}

private struct LostCommit: Error, CustomStringConvertible {
    /// One line.
    let description =
        "the connection was lost during the commit: either all of it is in the database or nothing; run it again"
}
