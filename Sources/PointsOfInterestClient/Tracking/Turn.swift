import Locking

/// Lets one caller at a time do something. The others wait, in the order in which they came.
final class Turn: Sendable {
    private struct State {
        var isTaken = false
        var lastNumber = 0
        /// The streams of the callers that wait; each ends when it is the caller's turn.
        var waiting: [(number: Int, stream: AsyncStream<Never>.Continuation)] = []
    }

    private let state = Lock(State())

    /// Waits for the turn, which lasts until `end()`.
    ///
    /// - Returns: whether it is the caller's turn; false where its task is cancelled.
    func take() async -> Bool {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        let number = state.withLock { state -> Int? in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            state.lastNumber += 1
            state.waiting.append((state.lastNumber, continuation))
            return state.lastNumber
        }
        if let number {
            for await _ in stream {}
            // Still waiting: the stream has ended because the task was cancelled.
            let hasTurn = state.withLock { state in
                guard let index = state.waiting.firstIndex(where: { $0.number == number }) else {
                    return true
                }
                state.waiting.remove(at: index)
                return false
            }
            guard hasTurn else { return false }
        }
        guard Task.isCancelled else { return true }
        end()
        return false
    }

    /// Gives the turn to the caller that has waited longest.
    func end() {
        let next = state.withLock { state -> AsyncStream<Never>.Continuation? in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst().stream
        }
        next?.finish()
    }
}
