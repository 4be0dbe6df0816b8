import EventLoop
import Foundation

/// Handles of a loop that a test left open.
package struct OpenHandles: Error {
    package let count: Int
}

/// Runs `body` beside a loop, which has a thread of its own.
///
/// - Throws: ``OpenHandles`` unless every handle of the loop is closed in the end.
@discardableResult
package func withLoop<Value>(_ body: (EventLoop) async throws -> Value) async throws -> Value {
    let thread = try EventLoopThread.start(name: "test-loop")
    let value: Value
    do {
        value = try await body(thread.loop)
    } catch {
        thread.stopAndJoin()
        throw error
    }
    let count = thread.stopAndJoin()
    guard count == 0 else { throw OpenHandles(count: count) }
    return value
}

/// Runs `body` as a task on a new loop.
///
/// - Throws: ``OpenHandles`` unless every handle of the loop is closed in the end.
package func onLoop<Value: Sendable>(
    _ body: @escaping @Sendable (EventLoop) async throws -> Value
) async throws -> Value {
    try await withLoop { loop in try await loop.run { try await body(loop) } }
}

extension EventLoop {
    /// Runs `body` as a task on the loop and returns its result.
    package func run<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let task = Task(executorPreference: self) { try await body() }
        // A test's time limit cancels the test, and so this.
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

/// Runs what blocks on a thread of its own: Swift's pool has a thread a core, for all tests together.
package func offPool<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread { continuation.resume(with: Result { try body() }) }.start()
    }
}
