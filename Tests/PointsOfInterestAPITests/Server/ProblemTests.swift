import PointsOfInterestAPI
import Foundation
import Testing

@testable import PointsOfInterestServerAPI

@Suite("A problem")
struct ProblemTests {
    @Test("The problem of a refused request names every fault")
    func namesFaults() throws {
        let error = try #require(
            #expect(throws: ParameterError.self) {
                try NearbyPlacesRequest.decode(query: "lat=91&long=".utf8)
            })
        let problem = Problem(error, requestId: "r1")
        #expect(
            String(decoding: problem.json, as: UTF8.self) == """
                {"type":"/problems/invalid-parameters","title":"Several parameters are wrong","status":400,\
                "detail":"long must have a value; lat must be a number of degrees from -90 to 90",\
                "code":"invalid-parameters","requestId":"r1","errors":[\
                {"parameter":"long","code":"empty-parameter","detail":"must have a value"},\
                {"parameter":"lat","code":"out-of-range","detail":"must be a number of degrees from -90 to 90"}]}
                """)
    }

    @Test("The problem of a parameter without a name says that it has none")
    func namesNameless() throws {
        let error = try #require(
            #expect(throws: ParameterError.self) { try NoParameter.refuseAll(of: "=1&x".utf8) })
        let problem = Problem(error)
        #expect(
            problem.detail
                == "a parameter without a name is not known; this has no parameters; x is not known; this has no parameters"
        )
        #expect(problem.errors.map(\.parameter) == ["", "x"])
    }

    @Test("A problem leaves out empty members")
    func leavesOutEmptyMembers() throws {
        let problem = Problem(.databaseBusy)
        let expected = #"""
            {"type":"/problems/database-busy","title":"The database is busy","status":503,"code":"database-busy"}
            """#
        #expect(String(decoding: problem.json, as: UTF8.self) == expected)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        let keys = try JSONSerialization.jsonObject(with: encoder.encode(problem)) as? [String: Any]
        #expect(keys?.keys.sorted() == ["code", "status", "title", "type"])
    }

    @Test("A problem reads back the same from either encoder", arguments: ProblemCode.definitions.keys)
    func roundTrips(code: ProblemCode) throws {
        let fault = ParameterFault(parameter: "lat", code: .outOfRange, detail: "no")
        for problem in [
            Problem(code), Problem(code, status: 418, detail: "d", requestId: "r", errors: [fault]),
        ] {
            #expect(try JSONDecoder().decode(Problem.self, from: Data(problem.json)) == problem)
            #expect(try JSONDecoder().decode(Problem.self, from: JSONEncoder().encode(problem)) == problem)
        }
    }

    @Test("A problem of another service is read as far as it can be")
    func readsForeignProblems() throws {
        let body =
            #"{"status":"503","title":7,"code":"from-the-future","errors":[1],"instance":"/x","balance":30}"#
        let problem = try JSONDecoder().decode(Problem.self, from: Data(body.utf8))
        #expect(problem.type == "about:blank")
        #expect(problem.status == 0)
        #expect(problem.code == ProblemCode(rawValue: "from-the-future"))
        #expect(problem.errors.isEmpty)
        #expect(try JSONDecoder().decode(Problem.self, from: Data("{}".utf8)).code == .unspecified)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Problem.self, from: Data("[]".utf8)) }
    }

    @Test("Every code with a status and a title has long texts, and no other code has")
    func explainsEveryCode() {
        #expect(Set(ProblemCode.explanations.keys) == Set(ProblemCode.kinds.keys))
        #expect(Set(ProblemCode.definitions.keys) == Set(ProblemCode.kinds.keys))
    }

    @Test("Every code is in kebab case and has an error's status")
    func definesEveryCode() {
        for (code, definition) in ProblemCode.definitions {
            #expect(code.rawValue.wholeMatch(of: /[a-z]+(-[a-z]+)*/) != nil)
            #expect((400..<600).contains(definition.status))
        }
    }

    @Test("The problem of a bare status has a code of that status, or of its class")
    func namesStatuses() {
        for status in 400..<600 {
            let defined = ProblemCode.definitions[ProblemCode(status: status)]?.status
            let isSpecific = ProblemCode.definitions.values.contains { $0.status == status }
            #expect(defined == (isSpecific ? status : status < 500 ? 400 : 500))
        }
    }
}
