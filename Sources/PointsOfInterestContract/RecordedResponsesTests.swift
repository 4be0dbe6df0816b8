import Foundation
import PointsOfInterestTesting
import Testing

@Suite("Recorded responses", .timeLimit(.minutes(2)))
struct RecordedResponsesTests {
    @Test(
        "A recorded response for apps is what the service sends: scripts/record/record-responses writes it anew",
        .contract(
            .seeded, .ownSettings, in: .locations,
            otherwise: "Apps' tests pass with responses that no service sends."),
        arguments: RecordedResponse.allCases)
    func isTrue(recording: RecordedResponse) async throws {
        try await expectTrue(try recording.exchange())
    }

    @Test(
        "A recorded response of this suite is what the service sends: scripts/record/record-contract writes it anew",
        .contract(
            .seeded, .ownSettings, in: .locations,
            otherwise: "The recorded target proves that the client understands what no service sends."))
    func suiteIsTrue() async throws {
        let exchanges = try RecordedService.exchanges()
        #expect(exchanges.count > 100)
        for exchange in exchanges { try await expectTrue(exchange) }
    }

    @Test(
        "The recorded description is the service's: scripts/record/record-contract writes it anew",
        .contract(
            .seeded, .ownSettings, in: .conventions,
            otherwise: "Responses are checked by a description that is out of date."))
    func descriptionIsTrue() async throws {
        let own = try ContractDescription.own.get().document
        let service = try await Service.description().document
        #expect(Growth(from: service, to: own).missing == [])
    }

    /// Whether the local server, which has the environment of the tests, has no places in memory. Then it can't count
    /// clusters.
    private static let servesFromDatabase = ProcessInfo.processInfo.environment["POI_INDEX"] == "off"

    private func expectTrue(
        _ recorded: RecordedExchange, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        var headers = recorded.requestHeaders
        // A problem contains its request's id.
        headers["X-Request-Id"] = "recorded"
        let response = try await Service.response(
            to: recorded.target, method: recorded.method, headers: headers)
        if Self.servesFromDatabase, recorded.status == 200, recorded.target.hasPrefix("/locations/clusters") {
            let problem = try await Service.problem(of: recorded.target)
            #expect(problem?.code == .indexRequired, sourceLocation: sourceLocation)
            return
        }
        #expect(response.status == recorded.status, "\(recorded.target)", sourceLocation: sourceLocation)
        #expect(
            String(decoding: response.body, as: UTF8.self) == String(decoding: recorded.body, as: UTF8.self),
            "\(recorded.target)", sourceLocation: sourceLocation)
        // `Vary` depends on the origins that are let in.
        for name in ["Content-Type", "Link", "Cache-Control"] {
            #expect(
                response.header(name) == recorded.responseHeaders[name], "\(recorded.target)",
                sourceLocation: sourceLocation)
        }
    }
}
