import HTTPServer
import MockServerAPI
import Testing

@testable import MockService

@Suite("A session's faults")
struct FaultPlanTests {
    private func timesUsed(_ plan: FaultPlan) -> [Int] { plan.states.map(\.timesUsed) }

    @Test("Rules are used in order, each as often as its times say, or without end")
    func areUsedUp() throws {
        var plan = FaultPlan([
            MockFaultRule(times: 2, fault: .reset), MockFaultRule(times: 1, fault: .malformedJSON),
        ])
        let used = try (0..<4).map { _ in try plan.rule()?.fault }
        #expect(used == [.reset, .reset, .malformedJSON, nil])
        #expect(timesUsed(plan) == [2, 1])
        var endless = FaultPlan([MockFaultRule(fault: .reset)])
        for _ in 0..<1000 { #expect(try endless.rule()?.fault == .reset) }
    }

    @Test("A rule applies only to requests with its method and path")
    func meetTheirRequests() throws {
        let rule = MockFaultRule(method: "GET", path: "/locations/{id}", fault: .reset)
        let other = MockFaultRule(path: "/categories", fault: .malformedJSON)
        var plan = FaultPlan([rule, other])
        #expect(try plan.rule("/locations") == nil)
        #expect(try plan.rule("/locations/") == nil)
        #expect(try plan.rule("/locations/7", method: .head) == nil)
        #expect(try plan.rule("/locations/7/x") == nil)
        #expect(try plan.rule("/locations/7") == rule)
        #expect(try plan.rule("/categories", method: .post) == other)
        #expect(timesUsed(plan) == [1, 1])
    }

    @Test(
        "A rule applies only to requests with its query items, as the service decodes them",
        arguments: [
            ("/locations?q=coffee+bar", ["q": "coffee bar"], true),
            ("/locations?q=caf%C3%A9", ["q": "café"], true),
            ("/locations?%71=a", ["q": "a"], true), ("/locations?q=a=b", ["q": "a=b"], true),
            ("/locations?q=a&q=b", ["q": "b"], true), ("/locations?q=tea", ["q": "coffee bar"], false),
            ("/locations?Q=tea", ["q": "tea"], false), ("/locations?q", ["q": ""], true),
            ("/locations?q=%zz%4", ["q": "%zz%4"], true), ("/locations?q=%+1", ["q": "%+1"], true),
            ("/locations", ["q": ""], false),
            ("/locations?cursor=A", ["cursor": .present], true),
            ("/locations?q=A", ["cursor": .present], false),
            ("/locations?q=A", ["cursor": .absent], true), ("/locations?cursor=", ["cursor": .absent], false),
            ("/locations?lat=1&long=2", ["lat": "1", "long": "3"], false),
            ("/locations?lat=1&long=2", ["lat": "1", "long": "2"], true),
        ] as [(String, [String: MockCondition], Bool)])
    func lookAtTheQuery(target: String, query: [String: MockCondition], isMatched: Bool) throws {
        var plan = FaultPlan([MockFaultRule(query: query, fault: .reset)])
        #expect(try (plan.rule(target) != nil) == isMatched)
    }

    @Test(
        "A rule applies only to requests with its header fields, in any case of the name",
        arguments: [
            (["X-Version": "2"], ["x-version": "2"], true), (["X-Version": "2"], ["x-version": "3"], false),
            (["Accept": "a", "accept": "b"], ["ACCEPT": "b"], true), ([:], ["X-Version": "2"], false),
            (["Authorization": "Bearer k"], ["Authorization": .absent], false),
            ([:], ["Authorization": .absent], true), ([:], ["If-None-Match": .present], false),
            (["If-None-Match": "\"a\""], ["If-None-Match": .present], true),
        ] as [(HTTPHeaders, [String: MockCondition], Bool)])
    func lookAtHeaderFields(
        headers: HTTPHeaders, conditions: [String: MockCondition], isMatched: Bool
    ) throws {
        var plan = FaultPlan([MockFaultRule(headers: conditions, fault: .reset)])
        #expect(try (plan.rule(headers: headers) != nil) == isMatched)
    }

    @Test(
        "A rule applies only to requests whose body contains its text",
        arguments: [
            ("search", true), ("{", true), ("\"}", true), ("Search", false), ("searchsearch", false),
            (#"{"event":"search"}"#, true), (#"{"event":"search"}}"#, false),
        ])
    func lookAtTheBody(text: String, isMatched: Bool) throws {
        var plan = FaultPlan([MockFaultRule(bodyContains: text, fault: .reset)])
        let rule = try plan.rule("/events", method: .post, body: #"{"event":"search"}"#)
        #expect((rule != nil) == isMatched)
        #expect(try plan.rule("/events", method: .post) == nil)
    }

    @Test(
        "A text is found in a body wherever it begins",
        arguments: ["aab", "abab", "aaaa", "abaab", "b"])
    func findTexts(text: String) {
        for number in 0..<(1 << 10) {
            let body = (0..<10).map { number >> $0 & 1 == 0 ? UInt8(ascii: "a") : UInt8(ascii: "b") }
            #expect(
                body.contains(text: text) == String(decoding: body, as: UTF8.self).contains(text), "\(body)")
        }
        #expect(![UInt8]().contains(text: text))
    }

    @Test("A rule lets as many matching requests pass as it skips, and the next rule may use them")
    func skip() throws {
        var plan = FaultPlan([
            MockFaultRule(path: "/locations", skip: 2, times: 1, fault: .reset),
            MockFaultRule(method: "GET", times: 2, fault: .malformedJSON),
        ])
        let targets = ["/locations", "/categories", "/locations", "/locations", "/locations"]
        let used = try targets.map { try plan.rule($0)?.fault }
        #expect(used == [.malformedJSON, .malformedJSON, nil, .reset, nil])
        #expect(plan.states.map(\.timesMatched) == [3, 2])
        #expect(timesUsed(plan) == [1, 2])
    }

    @Test("A rule applies to each n-th matching request after those that it skips")
    func every() throws {
        var plan = FaultPlan([MockFaultRule(skip: 1, every: 3, times: 2, fault: .reset)])
        let used = try (1...12).filter { _ in try plan.rule() != nil }
        #expect(used == [4, 7])
    }
}

extension FaultPlan {
    /// The rule for a request of these parts.
    fileprivate mutating func rule(
        _ target: String = "/locations", method: HTTPMethod = .get, headers: HTTPHeaders = HTTPHeaders(),
        body: String = ""
    ) throws -> MockFaultRule? {
        let request = try HTTPRequest(
            method: method, target: target, headers: headers, body: Array(body.utf8))
        return rule(for: request, path: request.path)
    }
}
