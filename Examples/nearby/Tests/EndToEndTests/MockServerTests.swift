import Foundation
import PointsOfInterestTesting
import Testing

/// The program in a world that each test makes for itself: a session on a mock server that runs, with fixtures,
/// faults and a journal of its own. An app's UI tests do the same with `session.launchArguments`.
@Suite(
    "The program against the mock server",
    .enabled(if: Server.mock.url != nil, "needs a mock server: POI_MOCK_URL, see scripts/with-mock"),
    .timeLimit(.minutes(1)))
struct MockServerTests {
    /// Runs a test with a session of its own.
    private func withSession(_ body: (MockServerSession) async throws -> Void) async throws {
        let session = MockServerSession(server: try #require(Server.mock.url))
        try await body(session)
        try await session.end()
    }

    @Test("The program lists the mock server's places with one request")
    func lists() async throws {
        try await withSession { session in
            try await session.setFixtures([
                .fixture(id: 1, name: "Here", category: "park", latitude: 37.3293, longitude: -121.8893),
                .fixture(id: 2, name: "There", category: "cafe", latitude: 37.3383, longitude: -121.8893),
            ])
            let result = try await Program.run(["--limit", "5"], against: session.baseURL)
            #expect(result.lines == ["     0 m  Here (park)", "   999 m  There (cafe)"])
            let requests = try await session.journal(MockJournalQuery(path: "/locations")).requests
            #expect(requests.map(\.target) == ["/locations?lat=37.3293&long=-121.8893&limit=5"])
            #expect(requests.first?.header("Accept") == "application/json")
        }
    }

    @Test("The program says that there is nothing nearby")
    func listsNothing() async throws {
        try await withSession { session in
            try await session.setFixtures([])
            let result = try await Program.run([], against: session.baseURL)
            #expect(result.lines == ["There is nothing nearby."])
        }
    }

    @Test("The program says that the service failed, or sent something that can't be read")
    func saysThatTheServiceFails() async throws {
        // What the service says besides is there for whoever runs it.
        for (fault, lines) in [
            (
                MockFault.problem(status: 500),
                [ErrorText.unavailable.english, "The service failed. Its log has the reason."]
            ), (.malformedJSON, [ErrorText.damaged.english]),
        ] {
            try await withSession { session in
                try await session.setFaults([MockFaultRule(path: "/locations", fault: fault)])
                let result = try await Program.run([], against: session.baseURL)
                #expect(result.exitCode == 69)
                #expect(result.lines == lines)
                #expect(try await session.faults().map(\.timesUsed) == [1])
            }
        }
    }

    @Test("The program repeats a request whose connection is lost")
    func asksAgain() async throws {
        try await withSession { session in
            try await session.setFaults([MockFaultRule(path: "/locations", times: 1, fault: .reset)])
            let result = try await Program.run(["--limit", "1"], against: session.baseURL)
            #expect(result.exitCode == 0)
            let requests = try await session.journal(MockJournalQuery(path: "/locations")).requests
            #expect(requests.map(\.status) == [nil, 200])
        }
    }

    @Test("The program has sent its events when it ends")
    func sendsEvents() async throws {
        try await withSession { session in
            _ = try await Program.run(["--limit", "1"], against: session.baseURL)
            let requests = try await session.journal(MockJournalQuery(method: "POST", path: "/events"))
                .requests
            #expect(requests.map(\.status) == [200])
        }
    }
}
