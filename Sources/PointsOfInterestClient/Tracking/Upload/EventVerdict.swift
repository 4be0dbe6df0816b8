import Foundation

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
