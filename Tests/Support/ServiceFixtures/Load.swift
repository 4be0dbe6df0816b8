import Foundation
import Loopback
import PointsOfInterestClient

/// Keep-alive connections that send the next request as soon as they have a response, each on a thread of its own.
///
/// Unchecked, since the condition guards the state. Its calls block: see `offPool`.
package final class Load: @unchecked Sendable {
    /// What came of one request: no response means that the connection ended instead.
    package struct Outcome: Sendable {
        package let start: ContinuousClock.Instant
        package let end: ContinuousClock.Instant
        package let response: WireResponse?

        package var isSuccess: Bool { response?.status == 200 }
    }

    /// The bound of a load that nobody stops.
    private static let maximumCount = 50_000

    /// Whether a request is sent again on a new connection where the one that it was sent on, which had had responses,
    /// ended without a byte of its response. Clients do this for `GET` (RFC 9112, section 9.3.1).
    private let sendsAgain: Bool
    private let condition = NSCondition()
    private var outcomes: [[Outcome]]
    private var successCounts: [Int]
    private var runningCount: Int
    private var isStopping = false

    /// Starts sending.
    package init(port: Int, connections: Int, target: String, sendsAgain: Bool = false) {
        self.sendsAgain = sendsAgain
        outcomes = Array(repeating: [], count: connections)
        successCounts = Array(repeating: 0, count: connections)
        runningCount = connections
        for index in 0..<connections {
            Thread { [self] in send(target, port: port, as: index) }.start()
        }
    }

    /// Waits until every connection has had so many more successes, or so many more failures.
    package func wait(successes: Int = 0, failures: Int = 0) {
        condition.withLock {
            let successesBefore = successCounts
            let failuresBefore = failureCounts
            while runningCount == outcomes.count,
                zip(successCounts, successesBefore).contains(where: { $0 - $1 < successes })
                    || zip(failureCounts, failuresBefore).contains(where: { $0 - $1 < failures })
            {
                condition.wait()
            }
        }
    }

    /// Stops sending; returns what has happened, by connection.
    package func stop() -> [[Outcome]] {
        condition.withLock {
            isStopping = true
            while runningCount > 0 { condition.wait() }
            return outcomes
        }
    }

    private var failureCounts: [Int] { zip(outcomes, successCounts).map { $0.count - $1 } }

    private func send(_ target: String, port: Int, as index: Int) {
        var connection: WireClient?
        for _ in 0..<Self.maximumCount {
            if condition.withLock({ isStopping }) { break }
            let start = ContinuousClock.now
            let response = response(to: target, port: port, on: &connection)
            let outcome = Outcome(start: start, end: .now, response: response)
            condition.withLock {
                outcomes[index].append(outcome)
                if outcome.isSuccess { successCounts[index] += 1 }
                condition.broadcast()
            }
        }
        condition.withLock {
            runningCount -= 1
            condition.broadcast()
        }
    }

    /// Sends one request on the connection that is open, or on a new one; leaves the one that the next may use.
    private func response(to target: String, port: Int, on connection: inout WireClient?) -> WireResponse? {
        let isKept = connection != nil
        do {
            let open = try connection ?? WireClient(port: port)
            open.sendGet(target)
            let response = try open.receiveResponse()
            connection = response.headers["connection"] == "close" ? nil : open
            return response
        } catch let end as WireClient.EndOfStream where isKept && sendsAgain && end.received.isEmpty {
            connection = nil
            return response(to: target, port: port, on: &connection)
        } catch {
            connection = nil
            return nil
        }
    }
}
