import EventLoop
import Testing

/// Runs `body` as a task on a loop of its own, and expects that every handle is closed at the end.
func onLoop<Value: Sendable>(
    _ body: @escaping @Sendable (EventLoop) async throws -> Value
) async throws -> Value {
    let thread = try EventLoopThread.start(name: "database-test")
    let loop = thread.loop
    let result = await Task(executorPreference: loop) { try await body(loop) }.result
    #expect(thread.stopAndJoin() == 0, "handles were left open")
    return try result.get()
}
