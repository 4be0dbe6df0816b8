import Foundation

/// How the events of a queue are sent.
public struct EventUploadPolicy: Hashable, Sendable {
    /// The maximum number of events in a request, 1…`EventLimits.events`.
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
        batchEvents: Int = EventLimits.events, gathering: Duration = .seconds(2),
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

/// What a response means for the batch that was sent.
enum BatchOutcome: Equatable {
    /// Every event is stored.
    case stored(EventsResponse)
    /// These events are refused; the others can be sent again at once.
    case refused([EventFault])
    /// The batch is too large.
    case tooLarge
    /// The batch can be sent again later.
    case failed(RequestError, retryAfter: Duration?)
    /// The service wants another key.
    case unauthorized(RequestError)

    /// - Parameter now: what a date in `Retry-After` is counted from.
    init(_ outcome: Result<Response, RequestError>, eventCount: Int, now: Date) {
        switch outcome {
        case .failure(let error): self = .failed(error, retryAfter: nil)
        case .success(let response): self.init(response, eventCount: eventCount, now: now)
        }
    }

    private init(_ response: Response, eventCount: Int, now: Date) {
        let refusal = RequestError(refusal: response)
        switch response.head.status {
        case 200..<300:
            // A 200 that isn't the service's, of a hotel's login page for instance, has stored nothing.
            do throws(RequestError) {
                self = .stored(try EventsResponse.decode(body: response.body))
            } catch {
                self = .failed(error, retryAfter: nil)
            }
        case 401, 403: self = .unauthorized(refusal)
        case 413: self = .tooLarge
        case 422:
            let faults = Self.faults(refusal, eventCount: eventCount)
            self = faults.isEmpty ? .tooLarge : .refused(faults)
        // The service can't read the batch: it is sent in halves, down to the event that is the reason.
        case 400: self = .tooLarge
        default:
            self = .failed(refusal, retryAfter: response.head.retryAfter(now: now))
        }
    }

    private static func faults(_ refusal: RequestError, eventCount: Int) -> [EventFault] {
        guard case .problem(let problem) = refusal else { return [] }
        return problem.eventErrors.filter { (0..<eventCount).contains($0.index) }
    }
}
