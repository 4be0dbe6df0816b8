import Foundation

/// Runs what blocks on a thread of its own: Swift's pool has a thread a core, for all tests together.
package func offPool<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread { continuation.resume(with: Result { try body() }) }.start()
    }
}

/// Sends one `GET` request on a connection of its own.
package func get(_ target: String, port: Int) async throws -> WireAnswer {
    try await offPool {
        let connection = try WireConnection(port: port)
        connection.sendGet(target)
        return try connection.readAnswer()
    }
}
