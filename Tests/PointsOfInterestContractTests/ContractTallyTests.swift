import Foundation
import Testing

@testable import PointsOfInterestContract

@Suite("What a run says at its end", .onceOnly)
struct ContractTallyTests {
    private static func rule(_ says: String) -> ContractRule {
        ContractRule(says: says, section: .conventions, harm: "")
    }

    @Test("Each broken rule has a line with its number and its first example, ten at most")
    func hasALineForEachRule() {
        let tally = ContractTally()
        #expect(tally.lines == [])
        for number in 1...12 {
            tally.count(Self.rule("rule \(number)"), example: "curl \(number)")
            for _ in 1...number { tally.count(Self.rule("rule \(number)"), example: "another") }
        }
        #expect(tally.lines.count == 11)
        #expect(
            tally.lines[0]
                == "contract: broken 13 times: rule 12 (Documentation/api.md#conventions): curl 12")
        #expect(tally.lines[10] == "contract: 2 other rules are broken")
        let once = ContractTally()
        once.count(Self.rule("a"), example: nil)
        #expect(
            once.lines == ["contract: broken once: a (Documentation/api.md#conventions): without a request"])
    }

    @Test("A fault is an issue once, whatever values are in it, and a rule has twenty kinds at most")
    func isAnIssueOnce() {
        let tally = ContractTally()
        let rule = Self.rule("a")
        #expect(tally.isNew("there is no Vary", of: rule, example: nil))
        #expect(!tally.isNew("there is no Vary", of: rule, example: nil))
        #expect(tally.isNew(#"ETag is "1""#, of: rule, example: nil))
        #expect(!tally.isNew(#"ETag is "other""#, of: rule, example: nil))
        #expect(tally.isNew("at 5 is no number", of: rule, example: nil))
        #expect(!tally.isNew("at 17 is no number", of: rule, example: nil))
        #expect(tally.isNew("there is no Vary", of: Self.rule("b"), example: nil))
        let others = "abcdefghijklmnopqrstuvwxyz".filter { tally.isNew("\($0)", of: rule, example: nil) }
        #expect(others.count == 17)
    }

    @Test("A value that is longer than a person reads is cut")
    func cutsValues() {
        #expect(String(repeating: "a", count: 2000).clipped.count == 2000)
        #expect(String(repeating: "a", count: 800_000).clipped.utf8.count < 2100)
        #expect("".clipped == "")
    }
}
