import MockServerAPI

/// A session's rules of what goes wrong, and how often each was used: a value without a socket.
struct FaultPlan {
    /// The rules in their order.
    private(set) var states: [MockFaultState]

    /// A plan of rules of which none was used.
    init(_ rules: [MockFaultRule] = []) {
        states = rules.map { MockFaultState(rule: $0, timesUsed: 0) }
    }

    /// The first rule that a request meets and that isn't used up; counts its use.
    mutating func rule(forMethod method: String, path: String) -> MockFaultRule? {
        guard let index = states.firstIndex(where: { $0.applies(toMethod: method, path: path) }) else {
            return nil
        }
        let state = states[index]
        states[index] = MockFaultState(rule: state.rule, timesUsed: state.timesUsed + 1)
        return state.rule
    }
}

extension MockFaultState {
    fileprivate func applies(toMethod method: String, path: String) -> Bool {
        if let times = rule.times, timesUsed >= times { return false }
        if let expected = rule.method, expected != method { return false }
        return rule.path.map { PathTemplate($0).matches(path) } ?? true
    }
}
