import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The exchanges of a scenario: recorded one by one, or replayed in the same order.
///
/// Unchecked, since the lock guards the state.
final class Conversation: @unchecked Sendable {
    /// A request that wasn't made when the responses were recorded.
    struct Unexpected: Error, CustomStringConvertible {
        let description: String
    }

    private let lock = NSLock()
    private var exchanges: [Exchange] = []
    private var isNoting = false

    var isRecording: Bool { lock.withLock { isNoting } }

    /// Begins to note.
    func startRecording() {
        lock.withLock { (isNoting, exchanges) = (true, []) }
    }

    /// Begins to replay these.
    func startReplaying(_ recorded: [Exchange]) {
        lock.withLock { (isNoting, exchanges) = (false, recorded) }
    }

    /// What was noted; or what is still to be asked for.
    var rest: [Exchange] { lock.withLock { exchanges } }

    func record(_ exchange: Exchange) {
        lock.withLock { exchanges.append(exchange) }
    }

    func replay(_ request: URLRequest) -> Result<Exchange.Response, any Error> {
        lock.withLock {
            guard let next = exchanges.first, next.isResponse(to: request) else {
                let expected =
                    exchanges.first.map { "\($0.request.method) \($0.request.target)" } ?? "nothing"
                return .failure(
                    Unexpected(
                        description: "asked \(request.method) \(request.target) instead of \(expected)"))
            }
            return .success(exchanges.removeFirst().response)
        }
    }
}
