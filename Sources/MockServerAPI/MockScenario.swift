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

/// The paths of requests to the mock itself. Apps don't use them.
public enum MockPath {
    /// The names of all sessions.
    public static let sessions = "/~session"
    /// The template of a session's prefix. An app's base URL is the mock's URL followed by the prefix.
    public static let session = "/~session/{name}"
    /// A session's fixtures, below its prefix.
    public static let fixtures = "/fixtures"
    /// A session's faults, below its prefix.
    public static let faults = "/faults"
    /// A session's scenario, below its prefix.
    public static let scenario = "/scenario"
    /// A session's journal, below its prefix.
    public static let requests = "/requests"
    /// What was reported to a session, below its prefix. The service's own path has an editor's key.
    public static let reports = "/reported"

    /// The prefix of one session.
    public static func session(_ name: String) -> String { "/~session/\(name)" }

    /// Whether a session may have this name: 1 to 64 characters of `A-Z a-z 0-9 . _ -`, but not `.` or `..`, which
    /// have a meaning in URLs (RFC 3986, section 5.2.4).
    public static func isSessionName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name != "." && name != ".."
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

/// The editor whom `poi-mock` lets in where its settings name no others. Its places are nobody's, so its key is no secret.
public enum MockEditor {
    /// The name that the history has.
    public static let name = "Mock Editor"
    /// The key, for `Authorization: Bearer`.
    public static let key = "poi-mock-editor-key"
}
