import Foundation
import MockServerAPI
import Testing

@testable import MockService

@Suite("Rules of faults")
struct FaultRulesTests {
    private func rules(_ text: String) throws -> [MockFaultRule] {
        try FaultRules(json: Array(text.utf8)) { ["/locations", "/locations/{id}"].contains($0) }.rules
    }

    @Test("survive encoding and decoding, in every kind")
    func comeBack() throws {
        let rules: [MockFaultRule] = [
            MockFaultRule(delaySeconds: 0.5), MockFaultRule(method: "GET", times: 3, fault: .reset),
            MockFaultRule(path: "/locations/{id}", fault: .malformedJSON),
            MockFaultRule(fault: .truncatedBody()), MockFaultRule(fault: .truncatedBody(bytes: 7)),
            MockFaultRule(fault: .slowDrip(bytes: 1, intervalSeconds: 0.25)),
            MockFaultRule(fault: .page(status: 502)),
            MockFaultRule(fault: .problem(status: 503)),
            MockFaultRule(
                fault: .problem(status: 503, code: "database-busy", detail: "Later.", retryAfterSeconds: 2)),
        ]
        let json = try JSONEncoder().encode(rules)
        #expect(try self.rules(String(decoding: json, as: UTF8.self)) == rules)
    }

    @Test("may be written by hand")
    func areWrittenByHand() throws {
        let text =
            #"[{"path":"/locations","times":1,"fault":{"kind":"problem","status":429,"retryAfterSeconds":1}}]"#
        #expect(
            try rules(text) == [
                MockFaultRule(
                    path: "/locations", times: 1, fault: .problem(status: 429, retryAfterSeconds: 1))
            ])
    }

    @Test(
        "are refused with the rule and what is wrong with it",
        arguments: [
            ("", "the document is not JSON"),
            ("{}", "the document must be an array"),
            ("[{}]", "[0].fault is missing, and so is delaySeconds: the rule would do nothing"),
            (#"[{"fault":{}}]"#, "[0].fault.kind is missing"),
            (
                #"[{"fault":{"kind":"rset"}}]"#,
                "[0].fault.kind must be one of problem, page, reset, truncated-body, malformed-json, slow-drip"
            ),
            (#"[{"fault":{"kind":"reset","status":1}}]"#, "[0].fault.status is no member; there are kind"),
            (#"[{"fault":{"kind":"problem"}}]"#, "[0].fault.status is missing"),
            (
                #"[{"fault":{"kind":"problem","status":200}}]"#,
                "[0].fault.status must be a whole number from 400 to 599"
            ),
            (
                #"[{"fault":{"kind":"page","status":200.5}}]"#,
                "[0].fault.status must be a whole number from 200 to 599"
            ),
            (#"[{"fault":{"kind":"slow-drip","bytes":1}}]"#, "[0].fault.intervalSeconds is missing"),
            (
                #"[{"fault":{"kind":"slow-drip","bytes":0,"intervalSeconds":1}}]"#,
                "[0].fault.bytes must be a whole number from 1 to 16777216"
            ),
            (#"[{"delaySeconds":601}]"#, "[0].delaySeconds must be a number from 0.0 to 600.0"),
            (#"[{"delaySeconds":"1"}]"#, "[0].delaySeconds must be a number"),
            (
                #"[{"times":0,"delaySeconds":1}]"#, "[0].times must be a whole number from 1 to 1000000"
            ),
            (
                #"[{"delaySeconds":1},{"path":"locations","delaySeconds":1}]"#,
                "[1].path must begin with a slash"
            ),
            (#"[{"path":"/location","delaySeconds":1}]"#, "[0].path is no path of the service"),
        ])
    func areRefused(text: String, detail: String) throws {
        let error = #expect(throws: MockProblem.self) { try rules(text) }
        #expect(error?.problem.detail == detail)
        #expect(error?.problem.status == 422)
        #expect(error?.problem.errors.count == 1)
    }

    @Test("are refused if there are more than a hundred")
    func areBounded() throws {
        let rule = #"{"delaySeconds":1}"#
        #expect(try rules("[" + Array(repeating: rule, count: 100).joined(separator: ",") + "]").count == 100)
        #expect(throws: MockProblem.self) {
            try rules("[" + Array(repeating: rule, count: 101).joined(separator: ",") + "]")
        }
    }
}
