import Foundation
import ServiceFixtures

/// Clients that ask again as soon as they are answered, on a new connection where the server has closed the old one,
/// until there is no server any more to connect to.
///
/// Each is a thread; unchecked, since the condition guards the state. Its calls block, see `offPool`.
final class ObedientClients: @unchecked Sendable {
    /// How the requests of all clients fared.
    struct Outcome: Sendable {
        var answered = 0
        /// Sent, and not answered: the connection ended instead, though no answer had said that it would.
        var lost = 0
    }

    private let condition = NSCondition()
    private var outcome = Outcome()
    private var runningCount: Int

    /// Starts asking.
    init(port: Int, count: Int, target: String) {
        runningCount = count
        for _ in 0..<count { Thread { [self] in ask(target, port: port) }.start() }
    }

    /// Waits for so many more answers.
    func wait(answers: Int) {
        condition.withLock {
            let before = outcome.answered
            while runningCount > 0, outcome.answered - before < answers { condition.wait() }
        }
    }

    /// Waits until no client can connect any more.
    func waitForRefusals() -> Outcome {
        condition.withLock {
            while runningCount > 0 { condition.wait() }
            return outcome
        }
    }

    private func ask(_ target: String, port: Int) {
        var connection: WireConnection?
        while let open = connection ?? (try? WireConnection(port: port)) {
            open.sendGet(target)
            let answer = try? open.readAnswer()
            connection = answer?.headers["connection"] == "close" || answer == nil ? nil : open
            condition.withLock {
                if answer == nil { outcome.lost += 1 } else { outcome.answered += 1 }
                condition.broadcast()
            }
        }
        condition.withLock {
            runningCount -= 1
            condition.broadcast()
        }
    }
}
