import Foundation
import Locking

/// How often a run has found each rule broken. It says so once more at the end of the process: an example of each, since one
/// missing header breaks a rule in every response.
final class ContractTally: Sendable {
    static let run: ContractTally = {
        atexit { for line in ContractTally.run.lines { print(line) } }
        return ContractTally()
    }()

    /// How many rules are said at the end, and how many kinds of faults of a rule are issues of their own.
    private static let maximumLines = 10
    private static let maximumKinds = 20

    private struct Broken {
        let rule: ContractRule
        let example: String
        var count = 0
        var kinds: Set<String> = []
    }

    private let broken = Lock<[Broken]>([])

    func count(_ rule: ContractRule, example: String?) {
        change(rule, example: example) { $0.count += 1 }
    }

    /// Whether a fault is the first of its kind in this run, whatever values are in its text.
    func isNew(_ fault: String, of rule: ContractRule, example: String?) -> Bool {
        let kind = fault.replacing(/"[^"]*"|[0-9]+/, with: "…")
        return change(rule, example: example) { broken in
            broken.kinds.count < Self.maximumKinds && broken.kinds.insert(kind).inserted
        }
    }

    var lines: [String] {
        let all = broken.withLock { $0 }.sorted { $0.count > $1.count }
        guard !all.isEmpty else { return [] }
        let rest = all.count - Self.maximumLines
        return all.prefix(Self.maximumLines).map { broken in
            let (rule, times) = (broken.rule, broken.count == 1 ? "once" : "\(broken.count) times")
            return "contract: broken \(times): \(rule.says) (\(rule.section.link)): \(broken.example.clipped)"
        } + (rest > 0 ? ["contract: \(rest) other rules are broken"] : [])
    }

    @discardableResult
    private func change<Value>(
        _ rule: ContractRule, example: String?, _ change: (inout Broken) -> Value
    ) -> Value {
        broken.withLock { all in
            let index =
                all.firstIndex { $0.rule == rule }
                ?? {
                    all.append(Broken(rule: rule, example: example ?? "without a request"))
                    return all.count - 1
                }()
            return change(&all[index])
        }
    }
}

extension String {
    /// This text, cut where it is longer than a person reads.
    var clipped: String {
        let maximum = 2000
        guard utf8.count > maximum else { return self }
        return String(decoding: utf8.prefix(maximum), as: UTF8.self) + "… (\(utf8.count) bytes)"
    }
}
