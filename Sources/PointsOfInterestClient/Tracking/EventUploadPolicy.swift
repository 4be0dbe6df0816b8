import Foundation

/// How a queue's events are sent.
public struct EventUploadPolicy: Hashable, Sendable {
    /// The most events of a request, 1…`EventLimits.events`.
    public var batchEvents: Int
    /// How long events gather before they are sent, so that a request carries several.
    public var gathering: Duration
    /// The longest pause after a first failure; it doubles with every further one.
    public var firstPause: Duration
    /// The longest pause of all, unless the service asks for a longer one.
    public var longestPause: Duration
    /// The longest `Retry-After` that is heeded; a longer one counts as this.
    public var longestRetryAfter: Duration

    /// Makes a policy.
    public init(
        batchEvents: Int = EventLimits.events, gathering: Duration = .seconds(2),
        firstPause: Duration = .seconds(1), longestPause: Duration = .seconds(300),
        longestRetryAfter: Duration = .seconds(3600)
    ) {
        self.batchEvents = min(max(batchEvents, 1), EventLimits.events)
        self.gathering = gathering
        self.firstPause = firstPause
        self.longestPause = longestPause
        self.longestRetryAfter = longestRetryAfter
    }

    /// The pause after failures.
    ///
    /// - Parameters:
    ///   - failures: how many there were in a row, from 1.
    ///   - retryAfter: what the service asked for; jitter comes on top, or all its clients would be back at once.
    ///   - jitter: 0…1: which part of the longest pause (AWS Architecture Blog, "Exponential Backoff And
    ///     Jitter": full jitter).
    func pause(failures: Int, retryAfter: Duration?, jitter: Double) -> Duration {
        // Doubled at most so often that nothing overflows.
        let backOff = min(firstPause * (1 << min(max(failures - 1, 0), 20)), longestPause) * jitter
        return min(retryAfter ?? .zero, longestRetryAfter) + backOff
    }
}

/// What an answer means for the batch that was sent.
enum EventVerdict: Equatable {
    /// Every event is stored.
    case stored(EventsResponse)
    /// The events at these indices are refused, the others can be sent again at once.
    case refused([EventFault])
    /// Less has to be sent at once.
    case tooLarge
    /// The same may work later.
    case failed(RequestError, retryAfter: Duration?)
    /// The same won't work before somebody sees to it.
    case unauthorized(RequestError)

    /// - Parameter now: what a date in `Retry-After` is counted from.
    init(_ outcome: Result<Answer, RequestError>, eventCount: Int, now: Date) {
        switch outcome {
        case .failure(let error): self = .failed(error, retryAfter: nil)
        case .success(let answer): self.init(answer, eventCount: eventCount, now: now)
        }
    }

    private init(_ answer: Answer, eventCount: Int, now: Date) {
        let refusal = RequestError(refusal: answer)
        switch answer.head.status {
        case 200..<300:
            // A success that isn't the service's own, a hotel's login page, has stored nothing.
            do throws(RequestError) {
                self = .stored(try EventsResponse.decode(body: answer.body))
            } catch {
                self = .failed(error, retryAfter: nil)
            }
        case 401, 403: self = .unauthorized(refusal)
        case 413: self = .tooLarge
        case 422:
            let faults = Self.faults(refusal, eventCount: eventCount)
            self = faults.isEmpty ? .tooLarge : .refused(faults)
        // What nobody can read at all: in parts, down to the event that is the reason.
        case 400: self = .tooLarge
        default:
            let field = answer.head.value(forField: "Retry-After")
            let date = answer.head.value(forField: "Date").flatMap(HTTPDate.parse) ?? now
            self = .failed(refusal, retryAfter: field.flatMap { RetryAfter.parse($0, now: date) })
        }
    }

    private static func faults(_ refusal: RequestError, eventCount: Int) -> [EventFault] {
        guard case .problem(let problem) = refusal else { return [] }
        return problem.eventErrors.filter { (0..<eventCount).contains($0.index) }
    }
}
