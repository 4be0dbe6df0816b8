import Foundation
import PointsOfInterestTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// There is one `requestHandler` in the process, so its tests run one after another.
@Suite("The static handler of the mock network", .timeLimit(.minutes(1)), .serialized)
struct RequestHandlerTests {
    private let center: Coordinate
    private let baseURL: URL
    private let noHandler =
        "MockURLProtocol has no handler for this request: set MockURLProtocol.requestHandler, or use MockURLProtocol.session"

    init() throws {
        center = try Coordinate(latitude: 37.3293, longitude: -121.8893)
        baseURL = try #require(URL(string: "https://same.test"))
        MockURLProtocol.requestHandler = nil
    }

    private var session: URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [MockURLProtocol.self]
        return URLSession(configuration: configuration)
    }

    private func places(over session: URLSession) async throws -> [PointOfInterest] {
        try await APIRequestLoader(
            apiRequest: PointsOfInterestRequest(baseURL: baseURL), urlSession: session
        ).loadAPIRequest(requestData: center)
    }

    @Test("The static handler responds to each session that uses the class, and gets the whole request")
    func responds() async throws {
        defer { MockURLProtocol.requestHandler = nil }
        MockURLProtocol.requestHandler = { request in
            #expect(request.url?.query == "lat=37.3293&long=-121.8893")
            return try MockURLProtocol.response([.fixture(id: 7)], to: request)
        }
        #expect(try await places(over: session).map(\.id) == [7])
        MockURLProtocol.requestHandler = { request in
            (try .fixture(for: request), request.httpBody ?? Data())
        }
        var request = URLRequest(url: baseURL)
        request.httpMethod = "POST"
        request.httpBody = Data("sent".utf8)
        #expect(try await session.data(for: request).0 == Data("sent".utf8))
    }

    @Test("A load fails with the error that the static handler throws")
    func fails() async {
        defer { MockURLProtocol.requestHandler = nil }
        MockURLProtocol.requestHandler = { _ in throw URLError(.notConnectedToInternet) }
        let error = await #expect(throws: RequestError.self) { try await places(over: session) }
        #expect(error?.urlErrorCode == .notConnectedToInternet)
    }

    @Test("A session with its own handler doesn't use the static one")
    func standsBesideSessions() async throws {
        defer { MockURLProtocol.requestHandler = nil }
        MockURLProtocol.requestHandler = { try MockURLProtocol.response([.fixture(id: 1)], to: $0) }
        let own = MockURLProtocol.session { try MockURLProtocol.response([.fixture(id: 2)], to: $0) }
        #expect(try await places(over: own).map(\.id) == [2])
        #expect(try await places(over: session).map(\.id) == [1])
    }

    @Test("The client's error for a request without a handler names both kinds, too")
    func missesAHandlerInTheClient() async throws {
        let error = await #expect(throws: RequestError.self) { try await places(over: session) }
        guard case .transport(_, let reason) = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason == noHandler)
        // Not a code that the client repeats a request for: it would only say so later.
        #expect(error?.urlErrorCode == .unsupportedURL)
    }
}
