import Foundation
import PointsOfInterestClient
import Testing

@Suite("A request's error")
struct RequestErrorTests {
    @Test(
        "has a sentence for people",
        arguments: [
            RequestError.invalidCoordinate, .invalidBaseURL, .cancelled,
            .transport(code: -1009, reason: "offline"),
            .notHTTP, .problem(Problem(.databaseBusy)), .unexpectedStatus(502),
            .undecodableBody(reason: "keyNotFound"),
        ])
    func describesItself(error: RequestError) throws {
        let description = try #require(error.errorDescription)
        #expect(description.count > 10)
        #expect(error.localizedDescription == description)
        #expect(!description.contains("keyNotFound"))
    }

    @Test("carries what the service says")
    func carriesTheProblem() {
        let error = RequestError.problem(
            Problem(.outOfRange, detail: "limit must be a whole number from 1 to 100"))
        #expect(
            error.localizedDescription
                == "A parameter is out of range: limit must be a whole number from 1 to 100")
    }

    @Test("has a URL error's code only if it is one of transport")
    func carriesTheCode() {
        #expect(RequestError.transport(code: -1009, reason: "").urlErrorCode == .notConnectedToInternet)
        #expect(RequestError.unexpectedStatus(-1009).urlErrorCode == nil)
    }
}
