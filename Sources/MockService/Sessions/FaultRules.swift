import Foundation
import MockServerAPI

/// The body of a request that sets a session's faults: an array of rules.
struct FaultRules {
    /// More would only be tried in vain, one after the other, for every request.
    static let maximumCount = 100

    let rules: [MockFaultRule]

    /// Reads the rules.
    ///
    /// A path that the service doesn't have is refused: the rule would never be used, and a test that relies on it
    /// would test nothing.
    /// - Throws: `MockProblem` with the first fault.
    init(json: [UInt8], isRoute: (String) -> Bool) throws(MockProblem) {
        do {
            rules = try JSONDecoder().decode([MockFaultRule].self, from: Data(json))
        } catch {
            throw .invalid("faults", [DocumentFault(anyError: error)])
        }
        guard rules.count <= Self.maximumCount else {
            throw .invalid(
                "faults", [DocumentFault(path: "", detail: "has more than \(Self.maximumCount) rules")])
        }
        for (index, rule) in rules.enumerated() {
            guard let path = rule.path, !isRoute(path) else { continue }
            throw .invalid(
                "faults", [DocumentFault(path: "[\(index)].path", detail: "is no path of the service")])
        }
    }
}
