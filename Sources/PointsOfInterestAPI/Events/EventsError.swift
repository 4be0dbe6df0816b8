/// Why a batch of events was refused. Nothing of it is kept.
public enum EventsError: Error, Hashable, Sendable {
    /// The body is not a JSON array; `reason` says where it ends being one.
    case malformed(reason: String)
    /// There are more events, or more bytes, than a batch may have.
    case tooLarge(reason: String)
    /// Some events have faults: every one of them is named at least once. Never empty.
    case invalid([EventFault])
}

extension Problem {
    /// Makes the problem of a batch of events that was refused.
    public init(_ error: EventsError, requestId: String? = nil) {
        switch error {
        case .malformed(let reason):
            self.init(.malformedBody, detail: reason, requestId: requestId)
        case .tooLarge(let reason):
            self.init(.contentTooLarge, detail: reason, requestId: requestId)
        case .invalid(let faults):
            let count = Set(faults.map(\.index)).count
            self.init(
                .invalidEvents, detail: count == 1 ? "1 event is refused" : "\(count) events are refused",
                requestId: requestId, eventErrors: faults)
        }
    }
}
