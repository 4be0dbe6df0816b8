import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends a request again after failures that may pass.
struct RetryingTransport: Transport {
    let base: any Transport
    let policy: RetryPolicy
    let clock: any Clock<Duration>
    /// A number of 0…1, another each time.
    let jitter: @Sendable () -> Double
    let now: @Sendable () -> Date

    func send(_ request: URLRequest) async throws(RequestError) -> Answer {
        var attempt = 1
        while true {
            let outcome = await outcome(of: request)
            guard Self.isSafe(request),
                let pause = policy.pause(after: outcome, attempt: attempt, jitter: jitter(), now: now())
            else { return try outcome.get() }
            do {
                try await clock.sleep(for: pause)
            } catch {
                throw .cancelled
            }
            attempt += 1
        }
    }

    private func outcome(of request: URLRequest) async -> Result<Answer, RequestError> {
        do throws(RequestError) {
            return .success(try await base.send(request))
        } catch {
            return .failure(error)
        }
    }

    /// Whether sending it twice does no harm (RFC 9110, section 9.2.1).
    private static func isSafe(_ request: URLRequest) -> Bool {
        ["GET", "HEAD", "OPTIONS"].contains(request.httpMethod ?? "GET")
    }
}
