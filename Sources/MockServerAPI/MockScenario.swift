/// A situation that an app should cope with, ready made: `poi-mock --scenario slow`.
///
/// A scenario is a set of rules; `empty` also hides the places. Nothing in it is random.
public enum MockScenario: String, Hashable, Sendable, Codable, CaseIterable {
    /// Nothing is wrong.
    case normal
    /// Each response comes 3 seconds late.
    case slow
    /// Every third request gets a problem with status 503, whatever it asks for.
    case flaky
    /// Each request is reset, without a response.
    case offline
    /// There are no places.
    case empty

    /// The scenario's rules, to be combined with others in `MockServerSession.setFaults(_:)`.
    public var rules: [MockFaultRule] {
        switch self {
        case .normal, .empty: []
        case .slow: [MockFaultRule(delaySeconds: 3)]
        case .flaky: [MockFaultRule(every: 3, fault: .problem(status: 503))]
        case .offline: [MockFaultRule(fault: .reset)]
        }
    }

    /// Whether the session's places are served.
    public var hasPlaces: Bool { self != .empty }
}

/// The body of a request that sets a session's scenario: `{"scenario":"slow"}`.
package struct MockScenarioChange: Codable {
    /// The new scenario.
    package let scenario: MockScenario

    private enum Key: String, CodingKey {
        case scenario
    }

    /// Makes a change.
    package init(_ scenario: MockScenario) {
        self.scenario = scenario
    }

    /// Decodes a change.
    ///
    /// - Throws: `DecodingError` for an unknown member and for an unknown scenario.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(of: [Key.scenario])
        scenario = try members.choice(forKey: .scenario)
    }

    /// Encodes the change.
    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(scenario, forKey: .scenario)
    }
}
