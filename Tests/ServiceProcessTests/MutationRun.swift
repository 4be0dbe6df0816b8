import Foundation
import Randomness
import ServiceFixtures

/// Sends mutated requests, each on a connection of its own, many at once.
///
/// Unchecked, since the condition guards the state.
final class MutationRun: @unchecked Sendable {
    /// The statuses of what came over a connection; throws where it isn't what it may be.
    typealias Check = @Sendable (_ received: [UInt8], _ isReset: Bool) throws -> [Int]

    private static let threads = 32
    private static let maximumFailureCount = 10

    private let port: Int
    private let seed: UInt64
    private let count: Int
    private let check: Check
    private let condition = NSCondition()
    private var started = 0
    private var runningCount = MutationRun.threads
    private var failures: [String] = []
    private var statuses: [Int: Int] = [:]

    /// Starts sending.
    init(port: Int, seed: UInt64, count: Int, check: @escaping Check) {
        self.port = port
        self.seed = seed
        self.count = count
        self.check = check
        for _ in 0..<Self.threads { Thread { [self] in work() }.start() }
    }

    /// Waits for the end; answers what went wrong, and how often each status came. Blocks, see `offPool`.
    func wait() -> ([String], [Int: Int]) {
        condition.withLock {
            while runningCount > 0 { condition.wait() }
            return (failures, statuses)
        }
    }

    private func work() {
        while let index = next() { run(index) }
        condition.withLock {
            runningCount -= 1
            condition.broadcast()
        }
    }

    private func next() -> Int? {
        condition.withLock {
            guard started < count, failures.count < Self.maximumFailureCount else { return nil }
            started += 1
            return started - 1
        }
    }

    private func run(_ index: Int) {
        // A generator for each, so that a mutation doesn't depend on which thread took which.
        var generator = SeededGenerator(seed: seed &+ UInt64(index))
        let bytes = Mutation.mutated(ValidRequest.random(&generator), &generator)
        var received: [UInt8] = []
        do {
            let connection = try WireConnection(port: port)
            // Some in pieces: the parser must not depend on where they are cut.
            var rest = bytes[...]
            while !rest.isEmpty {
                let isWhole = Bool.random(using: &generator)
                let piece = rest.prefix(
                    isWhole ? rest.count : Int.random(in: 1...rest.count, using: &generator))
                connection.send(Array(piece))
                rest = rest.dropFirst(piece.count)
            }
            connection.finishSending()
            let isReset = try connection.readToEnd(into: &received)
            let seen = try check(received, isReset)
            condition.withLock { for status in seen { statuses[status, default: 0] += 1 } }
        } catch {
            let sent = String(decoding: bytes.prefix(2000), as: UTF8.self).debugDescription
            let answer = String(decoding: received.prefix(1000), as: UTF8.self).debugDescription
            condition.withLock {
                failures.append("mutation \(index): \(error)\n  sent \(sent)\n  got \(answer)")
            }
        }
    }
}
