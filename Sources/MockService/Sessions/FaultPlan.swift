import CSystem
import HTTPServer
import MockServerAPI
import PointsOfInterestServerAPI

/// A session's rules for faults, and how often each was used. A value, without a socket.
struct FaultPlan {
    /// The rules in their order.
    private(set) var states: [MockFaultState]

    /// A plan with rules that weren't used yet.
    init(_ rules: [MockFaultRule] = []) {
        states = rules.map { MockFaultState(rule: $0, timesMatched: 0, timesUsed: 0) }
    }

    /// Returns the first rule that applies to a request, and counts its use. For each rule before it that matches, it
    /// counts that the rule let the request pass.
    ///
    /// - Parameter path: the request's path as rules have it, below a session's prefix.
    mutating func rule(for request: HTTPRequest, path: String) -> MockFaultRule? {
        guard !states.isEmpty else { return nil }
        let parts = RequestParts(request, path: path)
        for (index, state) in states.enumerated() where !state.isUsedUp && parts.match(state.rule) {
            let number = state.timesMatched + 1
            let applies = state.rule.applies(toMatch: number)
            states[index] = MockFaultState(
                rule: state.rule, timesMatched: number, timesUsed: state.timesUsed + (applies ? 1 : 0))
            if applies { return state.rule }
        }
        return nil
    }
}

extension MockFaultState {
    fileprivate var isUsedUp: Bool { rule.times.map { timesUsed >= $0 } ?? false }
}

extension MockFaultRule {
    /// Whether the rule applies to the n-th request that it matches, and doesn't let it pass.
    fileprivate func applies(toMatch number: Int) -> Bool {
        number > skip && (number - skip) % every == 0
    }
}

/// The parts of a request that rules look at. The request is taken apart once, however many rules there are.
private struct RequestParts {
    private let request: HTTPRequest
    private let path: String
    /// The values of the query's items by their names. As bytes: to hash a text of combining marks takes time that grows
    /// with the square of its length.
    private let query: [[UInt8]: [[UInt8]]]

    init(_ request: HTTPRequest, path: String) {
        self.request = request
        self.path = path
        let items = (request.query ?? "").utf8.split(separator: UInt8(ascii: "&")).map { item in
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            return (Self.decoded(name), Self.decoded(item[name.endIndex...].dropFirst()))
        }
        query = Dictionary(grouping: items) { $0.0 }.mapValues { $0.map(\.1) }
    }

    /// A name or a value of the query as the service decodes it; what it refuses stays as it is.
    private static func decoded(_ text: Substring.UTF8View) -> [UInt8] {
        let bytes = Array(text)
        return (try? bytes.withUnsafeBufferPointer(PercentEncoding.decode)) ?? bytes
    }

    /// Whether the request has all that a rule names.
    func match(_ rule: MockFaultRule) -> Bool {
        (rule.method ?? request.method.rawValue) == request.method.rawValue
            && rule.path.map { PathTemplate($0).matches(path) } ?? true
            && rule.query.allSatisfy { $1.isMet(by: query[Array($0.utf8)] ?? []) }
            && rule.headers.allSatisfy { name, condition in
                let values = HTTPHeaderName(name).map { request.headers.all($0) } ?? []
                return condition.isMet(by: values.map { Array($0.utf8) })
            }
            && rule.bodyContains.map { request.body.contains(text: $0) } ?? true
    }
}

extension [UInt8] {
    /// Whether the bytes of a text are somewhere in these.
    func contains(text: String) -> Bool {
        let text = Array(text.utf8)
        return poi_contains(self, count, text, text.count)
    }
}
