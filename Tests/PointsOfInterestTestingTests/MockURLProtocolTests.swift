import Foundation
import PointsOfInterestTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("A session on a mock network", .timeLimit(.minutes(1)))
struct MockURLProtocolTests {
    private let center: Coordinate
    private let baseURL: URL

    init() throws {
        center = try Coordinate(latitude: 37.3293, longitude: -121.8893)
        baseURL = try #require(URL(string: "https://same.test"))
    }

    private func places(over session: URLSession) async throws -> [PointOfInterest] {
        try await APIRequestLoader(
            apiRequest: PointsOfInterestRequest(baseURL: baseURL), urlSession: session
        ).loadAPIRequest(requestData: center)
    }

    @Test("Each of many sessions at the same time has its own handler, for the same URL")
    func keepsSessionsApart() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in 1...300 {
                group.addTask {
                    let session = MockURLProtocol.session {
                        try MockURLProtocol.response([.fixture(id: id)], to: $0)
                    }
                    for _ in 0..<3 {
                        let ids = try await places(over: session).map(\.id)
                        #expect(ids == [id])
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A handler gets the whole request")
    func showsTheRequest() async throws {
        let (requests, continuation) = AsyncStream.makeStream(of: URLRequest.self)
        let session = MockURLProtocol.session { request in
            continuation.yield(request)
            return (try .fixture(for: request, status: 201, headers: ["X-A": "b"]), Data("body".utf8))
        }
        var request = URLRequest(url: baseURL)
        request.httpMethod = "POST"
        request.httpBody = Data(repeating: 7, count: 100_000)
        request.setValue("d", forHTTPHeaderField: "X-C")
        let (data, response) = try await session.data(for: request)
        #expect(data == Data("body".utf8))
        let http = try #require(response as? HTTPURLResponse)
        #expect(http.statusCode == 201)
        #expect(http.value(forHTTPHeaderField: "x-a") == "b")
        continuation.finish()
        for await received in requests {
            #expect(received.httpMethod == "POST")
            #expect(received.httpBody == request.httpBody)
            #expect(received.value(forHTTPHeaderField: "X-C") == "d")
        }
    }

    @Test("A handler gets a body that is sent as a stream")
    func readsStreams() async throws {
        let body = Data(repeating: 9, count: 50_000)
        let session = MockURLProtocol.session { request in
            (try .fixture(for: request), Data("\(request.httpBody?.count ?? -1)".utf8))
        }
        var request = URLRequest(url: baseURL)
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: body)
        let (data, _) = try await session.data(for: request)
        #expect(data == Data("50000".utf8))
    }

    @Test("A load whose handler throws any other error fails with a transport error")
    func failsLoadsWithOwnErrors() async {
        struct OwnError: Error {}
        let session = MockURLProtocol.session { _ in throw OwnError() }
        let error = await #expect(throws: RequestError.self) { try await places(over: session) }
        guard error?.urlErrorCode != nil else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("A session on a mock network caches nothing")
    func keepsNothing() {
        let session = MockURLProtocol.session { try MockURLProtocol.response([], to: $0) }
        #expect(session.configuration.urlCache == nil)
        #expect(session.configuration.protocolClasses?.count == 1)
    }
}
