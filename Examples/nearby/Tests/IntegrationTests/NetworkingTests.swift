import Foundation
import NearbyKit
import PointsOfInterestTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The program on its whole networking stack; only the network below is a mock, one of each test's own.
@Suite("The program on its networking stack", .timeLimit(.minutes(1)))
@MainActor
struct NetworkingTests {
    private func run(
        _ arguments: [String],
        handler: @escaping MockURLProtocol.Handler = { try RecordedResponse.response(to: $0) }
    ) async throws -> (outcome: Nearby.Outcome, lines: [String]) {
        let command = try Command(arguments: arguments)
        let environment = AppEnvironment.mock(
            locationFetcher: GivenLocation(command.position), handler: handler)
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        let program = Nearby(environment: environment, request: command.request) { continuation.yield($0) }
        let outcome = await program.run(command.action)
        continuation.finish()
        var printed: [String] = []
        for await line in lines { printed.append(line) }
        return (outcome, printed)
    }

    @Test("The program lists the places of the recorded response")
    func listsTheRecording() async throws {
        let (outcome, lines) = try await run([])
        #expect(outcome == .done)
        #expect(lines.count == 3)
        #expect(lines.first == "    55 m  San Jose McEnery Convention Center (conference_centre)")
    }

    @Test("The program requests what its arguments say")
    func asks() async throws {
        let (requests, continuation) = AsyncStream.makeStream(of: URLRequest.self)
        for arguments in [
            ["--limit", "5", "--category", "park", "--at", "1,2"], ["--check"], ["--watch", "--count", "1"],
        ] {
            _ = try await run(arguments) { request in
                continuation.yield(request)
                return try MockURLProtocol.response([.fixture()], to: request)
            }
        }
        continuation.finish()
        var queries: [String?] = []
        for await request in requests { queries.append(request.url?.query) }
        #expect(
            queries == [
                "lat=1&long=2&limit=5&category=park", "lat=37.3293&long=-121.8893&radius=100&limit=1",
                "lat=37.3293&long=-121.8893&limit=20&featured=true",
            ])
    }

    @Test("The program prints what the service says is wrong", arguments: [[], ["--watch"], ["--check"]])
    func handsOnProblems(arguments: [String]) async throws {
        let (outcome, lines) = try await run(arguments) { request in
            try RecordedResponse.invalidParameters.response(to: request)
        }
        #expect(outcome == .failed)
        #expect(lines.count == 2)
        #expect(lines.first == ErrorText.refused.english)
        #expect(lines.last?.contains("lat must be a number of degrees from -90 to 90") == true)
    }

    @Test("The program says that the network is down", arguments: [[], ["--watch"], ["--check"]])
    func tellsThatTheNetworkIsDown(arguments: [String]) async throws {
        let (outcome, lines) = try await run(arguments) { _ in throw URLError(.notConnectedToInternet) }
        #expect(outcome == .failed)
        #expect(lines == [ErrorText.offline.english])
    }
}
