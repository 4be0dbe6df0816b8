/// Tells a value's changes to any number of streams. Its state is the main actor's.
@MainActor
final class Broadcast<Value: Sendable> {
    private var continuations: [Int: AsyncStream<Value>.Continuation] = [:]
    private var streamCount = 0

    /// A stream of a value and of all that are sent from now on; it ends with this object.
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
