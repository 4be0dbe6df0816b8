import MockServerAPI
import Testing

@testable import MockService

@Suite("A session's faults")
struct FaultPlanTests {
    private func timesUsed(_ plan: FaultPlan) -> [Int] { plan.states.map(\.timesUsed) }

    @Test("are used in order, each as often as its times allow")
    func areUsedUp() {
        let rules = [
            MockFaultRule(times: 2, fault: .reset), MockFaultRule(times: 1, fault: .malformedJSON),
        ]
        var plan = FaultPlan(rules)
        let used = (0..<4).map { _ in plan.rule(forMethod: "GET", path: "/locations")?.fault }
        #expect(used == [.reset, .reset, .malformedJSON, nil])
        #expect(timesUsed(plan) == [2, 1])
    }

    @Test("without times are used without end")
    func lastForEver() {
        var plan = FaultPlan([MockFaultRule(fault: .reset)])
        for _ in 0..<1000 { #expect(plan.rule(forMethod: "GET", path: "/")?.fault == .reset) }
        #expect(timesUsed(plan) == [1000])
    }

    @Test("apply only to requests with their method and path")
    func meetTheirRequests() {
        let rule = MockFaultRule(method: "GET", path: "/locations/{id}", fault: .reset)
        let other = MockFaultRule(path: "/categories", fault: .malformedJSON)
        var plan = FaultPlan([rule, other])
        #expect(plan.rule(forMethod: "GET", path: "/locations") == nil)
        #expect(plan.rule(forMethod: "GET", path: "/locations/") == nil)
        #expect(plan.rule(forMethod: "HEAD", path: "/locations/7") == nil)
        #expect(plan.rule(forMethod: "GET", path: "/locations/7/x") == nil)
        #expect(plan.rule(forMethod: "GET", path: "/locations/7") == rule)
        #expect(plan.rule(forMethod: "POST", path: "/categories") == other)
        #expect(timesUsed(plan) == [1, 1])
    }

    @Test("are none at first")
    func areNone() {
        var plan = FaultPlan()
        #expect(plan.rule(forMethod: "GET", path: "/") == nil)
    }
}
