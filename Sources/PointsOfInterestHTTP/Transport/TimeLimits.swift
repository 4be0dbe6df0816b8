import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// How long a request may take before it fails with `RequestError.transport` and the code `URLError.timedOut`.
///
/// `GET`, `HEAD` and `OPTIONS` are reads. Everything else, `POST /events` for instance, is an upload.
public struct TimeLimits: Hashable, Sendable {
    /// How long each attempt of a read may wait for the first byte of the response, and for each further part of it
    /// (`URLRequest.timeoutInterval`); rounded up to seconds. An upload with an `Idempotency-Key`, which is sent again, has this
    /// for each attempt, and what its body takes.
    public var firstByte: Duration
    /// How long a read may take in all: every attempt, the pauses between them, the app's header fields and the renewal of
    /// its key.
    public var read: Duration
    /// How long an upload may take in all. A large body gets more time, so that a slow network doesn't fail each
    /// attempt: at least what it takes at 64 kbit/s, and `firstByte` for the response.
    public var upload: Duration

    /// Makes limits.
    public init(
        firstByte: Duration = .seconds(10), read: Duration = .seconds(20), upload: Duration = .seconds(60)
    ) {
        self.firstByte = firstByte
        self.read = read
        self.upload = upload
    }

    /// The slowest uplink that still counts as a connection.
    private static let minimumBytesPerSecond = 8_000

    /// Returns how long a request may take in all.
    func total(for request: URLRequest) -> Duration {
        request.isSafe ? read : max(upload, attempt(of: request))
    }

    /// Returns how long an attempt may take whose body is sent slowly.
    private func attempt(of request: URLRequest) -> Duration {
        firstByte + .seconds((request.httpBody?.count ?? 0) / Self.minimumBytesPerSecond)
    }

    /// Returns how long the session may wait for a part of the response. For an upload that is sent once it is the total, since
    /// platforms differ in whether sent bytes count as progress.
    func interval(for request: URLRequest) -> Duration {
        request.isRepeatable ? attempt(of: request) : total(for: request)
    }
}

/// Ends the work for a request whose time is over: all attempts, and the reading of their responses.
package struct TimeLimit: Sendable {
    let limits: TimeLimits
    let clock: any Clock<Duration>

    /// Does the work for a request, which it gets with its `timeoutInterval`.
    ///
    /// - Throws: what the work throws; `RequestError.timedOut` where the time is over, and `.cancelled` at once where the
    ///   task is cancelled. It then goes on without anybody waiting for it, until it sees that it is cancelled.
    func during<Value: Sendable>(
        _ request: URLRequest, _ work: @escaping @Sendable (URLRequest) async throws -> Value
    ) async throws -> Value {
        if Task.isCancelled { throw RequestError.cancelled }
        var limited = request
        // Rounded up: on Linux (Swift 6.3), the fraction is dropped, and less than a second is no time at all.
        limited.timeoutInterval = (limits.interval(for: request) / .seconds(1)).rounded(.up)
        // The tasks aren't in a group: a group would wait for the slower one, and an app's header fields may never come.
        let limit = clock.timer(of: limits.total(for: request))
        let outcomes = AsyncStream<Result<Value, any Error>> { [limited] continuation in
            let working = Task {
                do {
                    continuation.yield(.success(try await work(limited)))
                } catch {
                    continuation.yield(.failure(error))
                }
                continuation.finish()
            }
            let waiting = Task {
                // Cancelled: there is an outcome, or nobody waits for one.
                guard (try? await limit()) != nil else { return }
                continuation.yield(.failure(RequestError.timedOut))
                continuation.finish()
            }
            continuation.onTermination = { _ in
                working.cancel()
                waiting.cancel()
            }
        }
        for await outcome in outcomes { return try outcome.get() }
        throw RequestError.cancelled
    }
}

/// Sends requests whose responses somebody else reads, each within its time.
package struct TimeLimitedTransport: Transport {
    private let base: any Transport
    private let limit: TimeLimit

    package init(base: any Transport, limit: TimeLimit) {
        self.base = base
        self.limit = limit
    }

    package func send(_ request: URLRequest) async throws(RequestError) -> ServiceResponse {
        do {
            return try await limit.during(request) { try await base.send($0) }
        } catch {
            throw RequestError(error)
        }
    }
}

extension Transport {
    /// Sends a request and returns the error as a value.
    package func outcome(of request: URLRequest) async -> Result<ServiceResponse, RequestError> {
        do throws(RequestError) {
            return .success(try await send(request))
        } catch {
            return .failure(error)
        }
    }
}

extension URLRequest {
    /// Whether the method changes nothing, so that sending twice does no harm (RFC 9110, section 9.2.1).
    var isSafe: Bool { ["GET", "HEAD", "OPTIONS"].contains(httpMethod ?? "GET") }

    /// The field by whose value a service knows a request that it has done, so that it does it once.
    package static let idempotencyField = "Idempotency-Key"

    /// Whether sending twice does no harm, by the method or by the key of the request.
    var isRepeatable: Bool { isSafe || value(forHTTPHeaderField: Self.idempotencyField) != nil }
}

extension RequestError {
    /// The error of a request whose time is over.
    static let timedOut = RequestError.transport(
        code: URLError.Code.timedOut.rawValue, reason: "there was no response in time")
}

extension Clock where Duration == Swift.Duration {
    /// Returns a function that waits until so much time has passed since this call.
    func timer(of duration: Duration) -> @Sendable () async throws -> Void {
        let deadline = now.advanced(by: duration)
        return { try await sleep(until: deadline, tolerance: nil) }
    }

    /// Returns a function that tells how much time has passed since this call.
    func stopwatch() -> @Sendable () -> Duration {
        let start = now
        return { start.duration(to: now) }
    }
}
