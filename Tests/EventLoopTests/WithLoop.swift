import EventLoop
import Testing

/// Runs `body` beside a loop on a thread of its own, and expects that every handle is closed at the end.
func withLoop(_ body: (EventLoop) async throws -> Void) async throws {
    let thread = try EventLoopThread.start(name: "test-loop")
    do {
        try await body(thread.loop)
    } catch {
        thread.stopAndJoin()
        throw error
    }
    #expect(thread.stopAndJoin() == 0, "handles were left open")
}

extension EventLoop {
    /// Runs `body` as a task on the loop and answers its result.
    func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let task = Task(executorPreference: self) { try await body() }
        // A test's time limit cancels the test, and so this.
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
