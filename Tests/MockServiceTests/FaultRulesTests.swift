import Foundation
import MockServerAPI
import Testing

@testable import MockService

@Suite("Rules of faults")
struct FaultRulesTests {
    private func rules(_ text: String) throws -> [MockFaultRule] {
        try FaultRules(json: Array(text.utf8)) { ["/locations", "/locations/{id}"].contains($0) }.rules
    }

    @Test("Rules of every kind are the same after encoding and decoding")
    func comeBack() throws {
        let rules: [MockFaultRule] = [
            MockFaultRule(delaySeconds: 0.5), MockFaultRule(method: "GET", times: 3, fault: .reset),
            MockFaultRule(path: "/locations/{id}", fault: .malformedJSON),
            MockFaultRule(fault: .lostResponse), MockFaultRule(fault: .truncatedBody()),
            MockFaultRule(fault: .truncatedBody(bytes: 7)),
            MockFaultRule(fault: .slowDrip(bytes: 1, intervalSeconds: 0.25)),
            MockFaultRule(fault: .paddedBody(bytes: 33_554_432)),
            MockFaultRule(fault: .page(status: 502)),
            MockFaultRule(fault: .problem(status: 503)),
            MockFaultRule(
                fault: .problem(status: 503, code: "database-busy", detail: "Later.", retryAfterSeconds: 2)),
            MockFaultRule(
                query: ["q": "café", "cursor": .absent, "lat": .present], headers: ["Accept": "a/b"],
                bodyContains: "\"search\"", skip: 2, every: 3, fault: .reset),
            MockFaultRule(fault: .response(status: 204)),
            MockFaultRule(
                fault: .response(
                    status: 200, headers: ["ETag": "\"a\"", "X-Empty": "", "X-Tab": "a\tb"], body: "[]")),
        ]
        let json = try JSONEncoder().encode(rules)
        #expect(try self.rules(String(decoding: json, as: UTF8.self)) == rules)
    }

    @Test(
        "An invalid rule is refused with its index and the reason",
        arguments: [
            ("", "the document is not JSON"),
            ("{}", "the document must be an array"),
            ("[{}]", "[0].fault is missing, and so is delaySeconds: the rule would do nothing"),
            (#"[{"fault":{}}]"#, "[0].fault.kind is missing"),
            (
                #"[{"fault":{"kind":"rset"}}]"#,
                "[0].fault.kind must be one of problem, page, reset, lost-response, truncated-body, malformed-json, padded-body, slow-drip, response"
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
            (
                #"[{"query":{"q":1},"delaySeconds":1}]"#,
                "[0].query.q must be a text, true (present) or false (absent)"
            ),
            (#"[{"query":["q"],"delaySeconds":1}]"#, "[0].query must be an object"),
            (#"[{"headers":{"a b":"c"},"delaySeconds":1}]"#, "[0].headers.a b is no header field's name"),
            (#"[{"headers":{"":"c"},"delaySeconds":1}]"#, "[0].headers. is no header field's name"),
            (#"[{"method":"","delaySeconds":1}]"#, "[0].method must have 1 to 100 bytes"),
            (#"[{"bodyContains":"","delaySeconds":1}]"#, "[0].bodyContains must have 1 to 4096 bytes"),
            (#"[{"skip":-1,"delaySeconds":1}]"#, "[0].skip must be a whole number from 0 to 1000000"),
            (#"[{"every":0,"delaySeconds":1}]"#, "[0].every must be a whole number from 1 to 1000000"),
        ])
    func areRefused(text: String, detail: String) throws {
        let error = #expect(throws: MockProblem.self) { try rules(text) }
        #expect(error?.problem.detail == detail)
        #expect(error?.problem.status == 422)
        #expect(error?.problem.errors.count == 1)
    }

    @Test(
        "A rule whose response can't be sent is refused with the reason",
        arguments: [
            (#"{}"#, "status is missing"),
            (#"{"status":199}"#, "status must be a whole number from 200 to 599"),
            (#"{"status":600}"#, "status must be a whole number from 200 to 599"),
            (#"{"status":204,"body":"x"}"#, "body must be empty: a response with status 204 has no body"),
            (#"{"status":304,"body":"x"}"#, "body must be empty: a response with status 304 has no body"),
            (#"{"status":200,"body":{}}"#, "body must be a text"),
            (#"{"status":200,"headers":{"X":1}}"#, "headers.X must be a text"),
            (#"{"status":200,"headers":{"X:":""}}"#, "headers.X: is no header field's name"),
            (#"{"status":200,"headers":{"X":"a\r\nSet-Cookie: b"}}"#, "headers.X has a control character"),
            (#"{"status":200,"headers":{"X":"a\u0000"}}"#, "headers.X has a control character"),
            (#"{"status":200,"headers":{"X":"a\r"}}"#, "headers.X has a control character"),
            (#"{"status":200,"headers":{"X":"a\n"}}"#, "headers.X has a control character"),
            (#"{"status":200,"headers":{"X":"a\u007F"}}"#, "headers.X has a control character"),
            (#"{"status":200,"headers":{"X":"a\u001F"}}"#, "headers.X has a control character"),
            (#"{"status":200,"headers":{"ETag":"a","etag":"b"}}"#, "headers.etag is there twice"),
        ])
    func areRefusedWithBadResponses(members: String, detail: String) {
        let text = #"[{"fault":{"kind":"response","# + members.dropFirst() + "}]"
        let error = #expect(throws: MockProblem.self) {
            try rules(text.replacing(#""response",}"#, with: #""response"}"#))
        }
        #expect(error?.problem.detail == "[0].fault." + detail)
        #expect(error?.problem.status == 422)
    }

    @Test(
        "A rule with a field that the server writes itself is refused",
        arguments: [
            "Connection", "CONTENT-LENGTH", "Date", "Keep-Alive", "Proxy-Connection", "TE", "Trailer",
            "Transfer-Encoding", "Upgrade", "X-Request-Id",
        ])
    func areRefusedWithFraming(name: String) {
        let error = #expect(throws: MockProblem.self) {
            try rules(#"[{"fault":{"kind":"response","status":200,"headers":{"\#(name)":"1"}}}]"#)
        }
        #expect(error?.problem.detail == "[0].fault.headers.\(name) is the server's own to write")
        #expect(error?.problem.code.rawValue == "invalid-faults")
    }

    @Test("The parts of a rule may be as long as their limits, and no longer")
    func haveLimits() throws {
        func object(_ count: Int) -> String {
            "{" + (0..<count).map { #""n\#($0)":"v""# }.joined(separator: ",") + "}"
        }
        func text(_ count: Int) -> String { "\"" + String(repeating: "x", count: count) + "\"" }
        func response(_ members: String) -> String {
            #"[{"fault":{"kind":"response","status":200,"# + members + "}}]"
        }
        for (limit, rule) in [
            (20, { #"[{"delaySeconds":1,"query":\#(object($0))}]"# }),
            (20, { #"[{"delaySeconds":1,"headers":\#(object($0))}]"# }),
            (100, { #"[{"delaySeconds":1,"method":\#(text($0))}]"# }),
            (100, { #"[{"fault":{"kind":"problem","status":400,"code":\#(text($0))}}]"# }),
            (256, { #"[{"delaySeconds":1,"query":{\#(text($0)):true}}]"# }),
            (4096, { #"[{"delaySeconds":1,"bodyContains":\#(text($0))}]"# }),
            (50, { response(#""headers":\#(object($0))"#) }),
            (8192, { response(#""headers":{"X":\#(text($0))}"#) }),
            (100, { response(#""headers":{\#(text($0)):""}"#) }),
            (262_144, { response(#""body":\#(text($0))"#) }),
        ] as [(Int, (Int) -> String)] {
            #expect(try rules(rule(limit)).count == 1)
            #expect(throws: MockProblem.self) { try rules(rule(limit + 1)) }
        }
    }

    @Test("A rule with too long a member name is refused, and one with a long text is accepted")
    func haveShortNames() throws {
        let long = String(repeating: "\\\"", count: 129)
        for text in [
            #"[{"delaySeconds":1,"\#(long)":1}]"#, #"{"\#(long)" : []}"#, #"["a\\", {"\#(long)":1}]"#,
        ] {
            let error = #expect(throws: MockProblem.self) { try rules(text) }
            #expect(
                error?.problem.detail == "the document has a member whose name has more than 256 bytes")
        }
        let rule = #"{"fault":{"kind":"response","status":200,"body":"\#(long)"}}"#
        #expect(try rules("[\(rule),\(rule)]").count == 2)
        for text in ["[\"", "[\"\\", "\"\(long)\"", "[\"a\"\"b\":]"] {
            #expect(throws: MockProblem.self) { try rules(text) }
        }
    }

    @Test("More than a hundred rules are refused")
    func areBounded() throws {
        let rule = #"{"delaySeconds":1}"#
        #expect(try rules("[" + Array(repeating: rule, count: 100).joined(separator: ",") + "]").count == 100)
        #expect(throws: MockProblem.self) {
            try rules("[" + Array(repeating: rule, count: 101).joined(separator: ",") + "]")
        }
    }
}
