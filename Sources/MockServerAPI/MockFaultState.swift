/// A rule that is in effect, and how often it was.
public struct MockFaultState: Hashable, Sendable, Codable {
    /// The rule.
    public let rule: MockFaultRule
    /// How many requests it has met so far.
    public let timesUsed: Int

    /// Makes a state.
    public init(rule: MockFaultRule, timesUsed: Int) {
        self.rule = rule
        self.timesUsed = timesUsed
    }
}
