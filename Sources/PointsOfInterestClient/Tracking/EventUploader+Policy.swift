import Foundation
import PointsOfInterestHTTP

extension EventUploader {
    /// How the events of a queue are sent.
    public struct Policy: Hashable, Sendable {
        /// The maximum number of events in a request, 1…1,000.
        public var batchEvents: Int
        /// How long to wait after an event for more events to send with it.
        public var gathering: Duration
        /// The maximum pause after a first failure; it doubles with each further one.
        public var firstPause: Duration
        /// The maximum pause after any failure, unless the service asks for a longer one.
        public var maximumPause: Duration
        /// The maximum `Retry-After` to wait for; a longer one counts as this.
        public var maximumRetryAfter: Duration

        /// Makes a policy.
        public init(
            batchEvents: Int = 1000, gathering: Duration = .seconds(2),
            firstPause: Duration = .seconds(1), maximumPause: Duration = .seconds(300),
            maximumRetryAfter: Duration = .seconds(3600)
        ) {
            self.batchEvents = min(max(batchEvents, 1), EventLimits.events)
            self.gathering = gathering
            self.firstPause = firstPause
            self.maximumPause = maximumPause
            self.maximumRetryAfter = maximumRetryAfter
        }

        /// Returns the pause after failures.
        ///
        /// - Parameters:
        ///   - failures: how many there were in a row, from 1.
        ///   - retryAfter: what the service asked for. Jitter is added, so that its clients don't all come back at once.
        ///   - jitter: the factor of the pause, 0…1 (AWS Architecture Blog, "Exponential Backoff And Jitter": full
        ///     jitter).
        func pause(failures: Int, retryAfter: Duration?, jitter: Double) -> Duration {
            let backOff = firstPause.backedOff(doublings: failures - 1, maximum: maximumPause) * jitter
            return min(retryAfter ?? .zero, maximumRetryAfter) + backOff
        }
    }
}

/// What a response means for the batch that was sent.
///
/// Portals and proxies respond in the service's place with any status. Only a problem document with a code of the
/// service's own says something about the events; everything else is a failure, after which the same events are sent
/// again.
enum BatchOutcome: Equatable {
    /// Every event is stored.
    case stored(EventsResponse)
    /// These events are refused; the others can be sent again at once.
    case refused([EventFault])
    /// The batch is too large, or can't be read: it is sent in halves, down to the event that is the reason.
    case tooLarge
    /// The batch can be sent again later.
    case failed(RequestError, retryAfter: Duration?)
    /// The service wants another key.
    case unauthorized(RequestError)

    /// - Parameter now: what a date in `Retry-After` is counted from.
    init(_ outcome: Result<ServiceResponse, RequestError>, eventCount: Int, now: Date) {
        switch outcome {
        case .failure(let error): self = .failed(error, retryAfter: nil)
        case .success(let response) where (200..<300).contains(response.head.status):
            self.init(success: response, eventCount: eventCount)
        case .success(let response):
            let refusal = RequestError(refusal: response).judged(by: response)
            self =
                Self(refusal, eventCount: eventCount)
                ?? .failed(refusal, retryAfter: response.head.retryAfter(now: now))
        }
    }

    private init(success sent: ServiceResponse, eventCount: Int) {
        do throws(RequestError) {
            let response = try EventsResponse.decode(body: sent.body)
            try response.checkSum(eventCount)
            self = .stored(response)
        } catch {
            self = .failed(error.judged(by: sent), retryAfter: nil)
        }
    }

    /// Nil for a response that says nothing about the events.
    private init?(_ refusal: RequestError, eventCount: Int) {
        guard let problem = refusal.problem else { return nil }
        switch problem.code {
        case .unauthorized, .forbidden: self = .unauthorized(refusal)
        case .invalidEvents:
            let faults = problem.eventErrors.filter { (0..<eventCount).contains($0.index) }
            self = faults.isEmpty ? .tooLarge : .refused(faults)
        case .contentTooLarge, .malformedBody: self = .tooLarge
        default: return nil
        }
    }
}

/// What a response means for the report that was sent.
enum ReportOutcome: Equatable {
    case stored
    /// The service will never take it.
    case refused([Problem.MemberFault])
    /// It can be sent again later.
    case failed(RequestError, retryAfter: Duration?)
    /// The service wants another key.
    case unauthorized(RequestError)
    /// The service takes no reports.
    case unavailable(RequestError)

    /// - Parameter now: what a date in `Retry-After` is counted from.
    init(
        _ outcome: Result<ServiceResponse, RequestError>, of endpoint: ReportsEndpoint, id: UUID, now: Date
    ) {
        switch outcome {
        case .failure(let error): self = .failed(error, retryAfter: nil)
        case .success(let response) where (200..<300).contains(response.head.status):
            do throws(RequestError) {
                try endpoint.parseResponse(data: response.body).check(id)
                self = .stored
            } catch {
                self = .failed(error.judged(by: response), retryAfter: nil)
            }
        case .success(let response):
            let refusal = RequestError(refusal: response).judged(by: response)
            self =
                switch refusal.problem?.code {
                case .unauthorized?, .forbidden?: .unauthorized(refusal)
                case .invalidContent?, .contentTooLarge?, .malformedBody?:
                    .refused(refusal.problem?.memberErrors ?? [])
                case .unknownPath?, .methodNotAllowed?: .unavailable(refusal)
                default: .failed(refusal, retryAfter: response.head.retryAfter(now: now))
                }
        }
    }
}

extension RequestError {
    /// Whether something on the way, or the service, found the request too large.
    var isContentTooLarge: Bool {
        switch reason {
        case .problem(let problem): problem.status == 413
        case .unexpectedStatus(let status), .foreignResponse(let status, _): status == 413
        default: false
        }
    }
}
