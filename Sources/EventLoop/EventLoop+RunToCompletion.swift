import Locking

extension EventLoop {
    /// Runs `body` on a loop of its own on the calling thread, and answers its result.
    ///
    /// For commands that do one thing and end. Blocks; call it from a thread without a loop.
    /// - Throws: what `body` throws; `EventLoopError` where the system gives no loop.
    public static func runToCompletion<Value: Sendable>(
        _ body: @escaping @Sendable (EventLoop) async throws -> Value
    ) throws -> Value {
        let loop = try EventLoop()
        let outcome = Lock<Result<Value, any Error>?>(nil)
        loop.execute {
            Task(executorPreference: loop) {
                let result: Result<Value, any Error>
                do {
                    result = .success(try await body(loop))
                } catch {
                    result = .failure(error)
                }
                outcome.withLock { $0 = result }
                loop.stop()
            }
        }
        loop.run()
        guard let result = outcome.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }
}
