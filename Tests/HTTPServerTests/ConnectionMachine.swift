@testable import HTTPServer

/// State machines in states that tests start from.
extension HTTPConnectionStateMachine {
    /// A machine that has taken these events.
    static func after(_ events: Event..., limits: HTTPLimits = HTTPLimits()) -> HTTPConnectionStateMachine {
        var machine = HTTPConnectionStateMachine(limits: limits)
        for event in events { _ = machine.actions(on: event) }
        return machine
    }

    /// A machine whose first request is being handled.
    static func handling(keepsAlive: Bool = true) -> HTTPConnectionStateMachine {
        after(
            .connected(),
            .headParsed(keepsAlive: keepsAlive, bodyFollows: false, expectsContinue: false), .requestParsed)
    }

    /// A machine that has sent a response and keeps the connection.
    static func kept() -> HTTPConnectionStateMachine {
        var machine = handling()
        _ = machine.actions(on: .responseProduced(asksToClose: false))
        _ = machine.actions(on: .responseWritten(isDrained: true))
        return machine
    }

    /// Takes an event, and returns the actions that follow.
    mutating func actions(on event: Event) -> [Action] {
        var actions: [Action] = []
        handle(event, into: &actions)
        return actions
    }
}

extension HTTPConnectionStateMachine.Event {
    /// The head of a request without a body.
    static let plainHead = headParsed(keepsAlive: true, bodyFollows: false, expectsContinue: false)
}

extension HTTPError {
    static let test = malformed("a test's")
}
