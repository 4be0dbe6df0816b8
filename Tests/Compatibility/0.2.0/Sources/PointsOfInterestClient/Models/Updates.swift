import Foundation

/// Sends the changes of a value to any number of streams.
@MainActor
final class Broadcast<Value: Sendable> {
    private var continuations: [Int: AsyncStream<Value>.Continuation] = [:]
    private var streamCount = 0

    /// Returns a stream of a value and of all that are sent from now on. It ends when this object is deallocated.
    func stream(startingWith value: Value) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self)
        let number = streamCount
        streamCount += 1
        continuations[number] = continuation
        continuation.onTermination = { [weak self] _ in
            Task { @MainActor in self?.continuations[number] = nil }
        }
        continuation.yield(value)
        return stream
    }

    func send(_ value: Value) {
        for continuation in continuations.values { continuation.yield(value) }
    }

    deinit {
        for continuation in continuations.values { continuation.finish() }
    }
}

/// Calls a closure on the main actor for each notification of a name, until it is deallocated.
final class NotificationObservation {
    private let center: NotificationCenter
    private let token: any NSObjectProtocol

    init(
        of name: Notification.Name, in center: NotificationCenter,
        _ body: @escaping @MainActor @Sendable () async -> Void
    ) {
        self.center = center
        token = center.addObserver(forName: name, object: nil, queue: nil) { _ in
            Task { @MainActor in await body() }
        }
    }

    deinit {
        center.removeObserver(token)
    }
}
