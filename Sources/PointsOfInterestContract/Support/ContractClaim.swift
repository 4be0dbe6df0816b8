import PointsOfInterestClient
import Testing

/// What a test declares: the data for which it holds, and the targets that it can be run against.
struct ContractClaim: Sendable {
    enum Truth: Sendable {
        /// Of any, none at all included.
        case invariant
        /// Of the seed.
        case seeded
    }

    /// What else decides where a test runs.
    enum Note: Sendable {
        /// All its requests are recorded, so that no server is needed.
        case recorded
        /// It needs a server whose settings are the suite's own.
        case ownSettings
        /// It sends what it marks as a test, and may be repeated.
        case writesTestData
        /// It makes places and removes them, so that it runs alone: other tests would see them come and go.
        case edits
    }

    let truth: Truth
    let notes: Set<Note>

    /// Why the test doesn't run with a configuration; nil where it does.
    func obstacle(in configuration: ContractConfiguration) -> String? {
        if configuration.target == .recorded || configuration.isRecording, !notes.contains(.recorded) {
            return "a server's to show: nothing of it is recorded"
        }
        if case .remote = configuration.target, notes.contains(.ownSettings) {
            return "POI_BASE_URL names a service with settings of its own"
        }
        if truth == .seeded, !configuration.isSeeded {
            return
                "POI_BASE_URL names a service with data of its own; POI_CONTRACT_SEEDED=true says otherwise"
        }
        return nil
    }
}

/// A section of the contract, Documentation/api.md, and what an app would do wrong where it is broken.
struct ContractRule: Hashable, Sendable {
    /// A section, by the heading that it has there.
    enum Section: String, CaseIterable, Sendable {
        case conventions = "Conventions"
        case locations = "`GET /locations`"
        case clusters = "`GET /locations/clusters`"
        case digest = "`GET /locations/digest`"
        case place = "`GET /locations/{id}`"
        case categories = "`GET /categories`"
        case attributions = "`GET /attributions`"
        case events = "`POST /events`"
        case editing = "Editing"
        case forms = "Forms and codings"
        case conditional = "Conditional requests"
        case origins = "Scripts of other origins"
        case keys = "Keys and limits"
        case health = "Health"
        case problems = "Problems"

        var link: String {
            let kept = rawValue.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
            return "Documentation/api.md#" + kept.replacing(" ", with: "-")
        }
    }

    let says: String
    let section: Section
    let harm: String
}

struct ContractTrait: TestTrait, TestScoping {
    let claim: ContractClaim
    let section: ContractRule.Section
    let harm: String

    /// Skips the test where it can't be true; the report has the reason.
    func prepare(for test: Test) async throws {
        // With an unusable configuration there is no reason to give: the condition ends the process.
        let reason = (try? ContractConfiguration.attempt.get()).flatMap(claim.obstacle)
        try await ConditionTrait.enabled(
            if: claim.obstacle(in: .current) == nil, reason.map { Comment(rawValue: $0) },
            sourceLocation: test.sourceLocation
        )
        .prepare(for: test)
        // Before any test looks at the service's places, which this is none of.
        try await ContractPlaces.removeLeftOnes()
    }

    /// Runs the test with a log of its exchanges. Each issue gets the request as a command, the response, the rule and
    /// the harm.
    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let rule = ContractRule(says: test.displayName ?? test.name, section: section, harm: harm)
        let log = ExchangeLog()
        try await ExchangeLog.$current.withValue(log) {
            let explained = IssueHandlingTrait.compactMapIssues { issue in
                Explanation.current.explain(issue, rule: rule, log: log)
            }
            try await explained.provideScope(for: test, testCase: testCase) {
                do {
                    try await ContractPlaces.turns.run(alone: claim.notes.contains(.edits), function)
                } catch let error where !(error is ExpectationFailedError) {
                    // Recorded here and not by the library, so that it is explained, too.
                    Issue.record(error, sourceLocation: test.sourceLocation)
                }
                Self.record(log.violations, at: test.sourceLocation)
            }
        }
    }

    /// Records the first fault of each kind; those that other tests have had are only counted.
    private static func record(_ violations: [Violation], at location: SourceLocation) {
        for violation in violations {
            let (rule, example) = (violation.rule, violation.exchange.curl)
            guard ContractTally.run.isNew(violation.fault, of: rule, example: example) else {
                ContractTally.run.count(rule, example: example)
                continue
            }
            Explanation.$current.withValue(Explanation(violation: violation)) {
                _ = Issue.record(Comment(rawValue: violation.fault), sourceLocation: location)
            }
        }
    }
}

/// The comments of an issue: about the exchange that broke a rule, or else about the test's last one.
private struct Explanation: Sendable {
    @TaskLocal static var current = Explanation(violation: nil)

    let violation: Violation?

    /// Adds the comments to an issue, without values that nobody reads to their end, and counts it.
    func explain(_ issue: Issue, rule: ContractRule, log: ExchangeLog) -> Issue {
        let rule = violation?.rule ?? rule
        var (exchange, others) = (log.last?.exchange, (log.last?.count ?? 1) - 1)
        if let own = violation?.exchange ?? log.exchange(id: (issue.error as? RequestError)?.requestID) {
            (exchange, others) = (own, 0)
        }
        ContractTally.run.count(rule, example: exchange?.curl)
        var lines = exchange.map { Self.lines(of: $0, before: others) } ?? []
        lines += ["contract: \(rule.says) (\(rule.section.link))", "an app: \(rule.harm)"]
        var issue = issue
        let text = "\(issue.kind)"
        if text.clipped != text {
            issue.kind = .unconditional
            lines.insert(text.clipped, at: 0)
        }
        issue.comments = issue.comments.map { Comment(rawValue: $0.rawValue.clipped) }
        issue.comments += lines.map { Comment(rawValue: $0.clipped) }
        return issue
    }

    private static func lines(of exchange: Exchange, before count: Int) -> [String] {
        let others = count > 0 ? " (the last of \(count + 1))" : ""
        return ["request: \(exchange.curl)\(others)", "response: \(exchange.summary)"]
    }
}

extension Trait where Self == ContractTrait {
    /// Declares for a test of the contract: the data for which it holds, what else decides where it runs, the section
    /// that has the rule, and what an app or another client would do wrong otherwise.
    static func contract(
        _ truth: ContractClaim.Truth, _ notes: ContractClaim.Note..., in section: ContractRule.Section,
        otherwise harm: String
    ) -> Self {
        ContractTrait(claim: ContractClaim(truth: truth, notes: Set(notes)), section: section, harm: harm)
    }
}

// MARK: - What a target has to show

enum Obstacle: Error, CustomStringConvertible {
    /// The service doesn't have what the test is about, and need not have it.
    case notApplicable(String)
    /// The test doesn't find what it looks for. The data may lack it, or the service may have lost it.
    case notShown(String)

    static let withoutIndex = Obstacle.notApplicable("the service runs without an index in memory")

    var description: String {
        switch self {
        case .notApplicable(let reason): reason
        case .notShown(let what): "not shown by this target: \(what)"
        }
    }
}

/// Skips a test whose obstacle a target has; with `POI_CONTRACT_STRICT` the test fails where it isn't shown.
struct NeedTrait: TestTrait {
    let obstacle: @Sendable () async throws -> Obstacle?

    func prepare(for test: Test) async throws {
        // If this throws, the test runs and fails by itself: an error here would be reported without its exchange.
        guard let obstacle = try? await obstacle() else { return }
        if case .notShown = obstacle, ContractConfiguration.current.isStrict { throw obstacle }
        try await ConditionTrait.enabled(
            if: false, Comment(rawValue: "\(obstacle)"), sourceLocation: test.sourceLocation
        )
        .prepare(for: test)
    }
}

extension Trait where Self == NeedTrait {
    /// What a test needs to show anything: a service of somebody else's may have fewer places, or none.
    static func needs(places: Int) -> Self {
        NeedTrait { try await Service.has(places: places) ? nil : .notShown("\(places) places") }
    }

    /// What a test looks for in the service's places, which it reads by a box.
    static func needs(_ fact: Fact) -> Self {
        NeedTrait {
            guard try await Service.hasIndex else { return .withoutIndex }
            return try await fact.isShown() ? nil : .notShown(fact.text)
        }
    }

    /// A search, a box, clusters, or a filter by properties, which a service without an index refuses.
    static var needsIndex: Self { NeedTrait { try await Service.hasIndex ? nil : .withoutIndex } }

    /// Sums of places, which a service tells where its operator lets places be downloaded.
    static var needsDigest: Self {
        NeedTrait {
            guard try await Service.description().hasDigest else {
                return .notApplicable("the service tells no sums of places")
            }
            return try await Service.hasIndex ? nil : .withoutIndex
        }
    }

    /// What a test has to know of the service's settings.
    static func needs(_ declaration: Declaration) -> Self {
        NeedTrait { try await declaration.obstacle() }
    }
}

/// A setting that can't be found out from a service, and is declared: by the environment, or in the file of expected
/// places.
enum Declaration: Sendable {
    case cacheTimes
    case origins
    case keys
    /// A key to edit places with.
    case editorKey
    /// Another address of the service, whose limit for a client is low.
    case limitedAddress

    func obstacle() async throws -> Obstacle? {
        let configuration = ContractConfiguration.current
        switch self {
        case .cacheTimes:
            return configuration.settings.hasCacheTimes
                ? nil : .notShown("the times for which responses may be kept, undeclared")
        case .origins:
            return configuration.settings.origins == nil
                ? .notShown("the origins whose scripts may read responses, undeclared") : nil
        case .keys:
            if configuration.keys != nil { return nil }
            return try await Service.description().needsKeys
                ? .notShown("keys, POI_CONTRACT_KEYS") : .notApplicable("the service needs no keys")
        case .editorKey:
            if try await Service.editorKey() != nil { return nil }
            return try await Service.description().hasEditors
                ? .notShown("edits, without POI_CONTRACT_EDITOR_KEY")
                : .notApplicable("the service has no editors")
        case .limitedAddress:
            if configuration.limitedURL != nil { return nil }
            return try await Service.description().limitsRate
                ? .notShown("an address with a low limit, POI_CONTRACT_LIMITED_URL")
                : .notApplicable("the service limits no client")
        }
    }
}
