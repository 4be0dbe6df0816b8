import Dispatch

/// How long tests wait for an event before they call it a failure: no deadline, only an end to hanging.
enum TimeLimit {
    private static let seconds = 60

    /// Calls `body` once a wait that starts now has been too long.
    static func whenOver(_ body: @escaping @Sendable () -> Void) {
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds), execute: body)
    }
}
