import Foundation
import PointsOfInterestTesting
import Testing

@Suite(
    "A recorded response",
    .enabled(if: !Service.isForeign, "POI_BASE_URL names a service with data of its own"))
struct RecordedResponsesTests {
    @Test(
        "is what the service answers: scripts/record-responses writes it anew",
        arguments: RecordedResponse.allCases)
    func isTrue(recording: RecordedResponse) async throws {
        let recorded = try recording.exchange()
        var headers = recorded.requestHeaders
        headers["X-Request-Id"] = "recorded"
        let answer = try await Service.answer(to: recorded.target, method: recorded.method, headers: headers)
        #expect(answer.status == recorded.status)
        #expect(
            String(decoding: answer.body, as: UTF8.self) == String(decoding: recorded.body, as: UTF8.self))
        // `Vary` depends on the origins that are let in.
        for name in ["Content-Type", "Link", "Cache-Control"] {
            #expect(answer.header(name) == recorded.responseHeaders[name])
        }
    }
}
