import Foundation

// A test imports this alone and has the client with it, and what requests to the mock are made of.
@_exported import MockServerAPI
@_exported import PointsOfInterestClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A test's own session on a `poi-mock` that runs: its fixtures, its faults, and the journal of what the app has
/// asked.
///
/// A UI test makes one, prepares it, launches the app with its `launchArguments`, and looks at the journal:
///
///     let session = MockServerSession(server: mockURL)
///     try await session.setFaults([MockFaultRule(path: "/locations", times: 1, fault: .reset)])
///     app.launchArguments = session.launchArguments
///     app.launch()
///     let request = try await session.request(path: "/locations")
///     #expect(request.header("Accept") == "application/json")
///     try await session.end()
///
/// Sessions never see each other, so tests and simulators that run at the same time share one mock. A value; from
/// any task. Every method throws `RequestError`, with the problem that the mock told: `.problem` with the code
/// `too-many-sessions`, for instance, where tests don't end theirs.
public struct MockServerSession: Sendable {
    /// Where the mock is.
    public let server: URL
    /// The session's name.
    public let name: String

    private let urlSession: URLSession

    /// Makes a session; the mock knows of it from its first request on.
    ///
    /// - Parameters:
    ///   - server: where the mock is, as its first line of output tells.
    ///   - name: 1 to 64 characters of `A-Z a-z 0-9 . _ -`; by default one that no other session has.
    ///   - urlSession: what carries the requests to the mock.
    public init(server: URL, name: String = UUID().uuidString, urlSession: URLSession = .uncached) {
        self.server = server
        self.name = name
        self.urlSession = urlSession
    }

    /// The base URL for the app: all that it asks below this is the session's.
    public var baseURL: URL { server.appending(path: MockPath.session(name)) }

    /// The arguments to launch the app with, see `AppConfiguration`.
    public var launchArguments: [String] { ["-POI_BASE_URL", baseURL.absoluteString] }

    /// Ends the session: its name begins anew with the next request.
    public func end() async throws {
        try await send(.init("DELETE"))
    }

    /// Answers with these places from now on.
    public func setFixtures(_ places: [PointOfInterest]) async throws {
        try await setFixtures(json: Data(places.json))
    }

    /// Answers with the places of a document from now on: an array as `GET /locations` answers it, or GeoJSON.
    public func setFixtures(json: Data) async throws {
        try await send(.init("PUT", MockPath.fixtures, body: json))
    }

    /// Lets requests go wrong by these rules from now on, in place of earlier ones: the first that a request meets
    /// and that isn't used up.
    public func setFaults(_ rules: [MockFaultRule]) async throws {
        try await send(.init("PUT", MockPath.faults, body: JSONEncoder().encode(rules)))
    }

    /// Lets nothing go wrong from now on.
    public func removeFaults() async throws {
        try await send(.init("DELETE", MockPath.faults))
    }

    /// The rules in effect, and how often each was used: a fault that never was has tested nothing.
    public func faults() async throws -> [MockFaultState] {
        try await load(.init("GET", MockPath.faults))
    }

    /// The requests that the app has made so far, in the order in which they arrived.
    public func journal(_ query: MockJournalQuery = MockJournalQuery()) async throws -> MockJournal {
        try await load(.init("GET", MockPath.requests, query: query.queryItems))
    }

    /// Forgets the requests so far.
    public func clearJournal() async throws {
        try await send(.init("DELETE", MockPath.requests))
    }

    /// Waits for a request of the app's, also one that was made already.
    ///
    /// - Parameters:
    ///   - path: its path, or a template such as `/locations/{id}`; nil is any.
    ///   - method: its method; nil is any.
    ///   - number: how great its number is at least less one: that of an earlier request skips that and those before.
    ///   - untilDone: whether to wait until the mock is done with it, or only until it has arrived.
    ///   - seconds: how long to wait, 0…60.
    /// - Throws: `MockServerSession.NoRequest` where none comes in time.
    public func request(
        path: String? = nil, method: String? = nil, after number: Int = 0, untilDone: Bool = true,
        within seconds: Int = 30
    ) async throws -> MockRequest {
        let query = MockJournalQuery(
            after: number, waitSeconds: seconds, untilDone: untilDone, method: method, path: path)
        guard let request = try await journal(query).requests.first(where: { $0.isDone || !untilDone }) else {
            throw NoRequest(path: path, method: method, seconds: seconds)
        }
        return request
    }

    /// An app that has not made the awaited request.
    public struct NoRequest: Error, Hashable, Sendable, CustomStringConvertible {
        /// The path that was awaited; nil is any.
        public let path: String?
        /// The method that was awaited; nil is any.
        public let method: String?
        /// How long it was waited for.
        public let seconds: Int

        /// What was awaited, in a sentence.
        public var description: String {
            "no \(method ?? "request") \(path ?? "at all") came within \(seconds) seconds"
        }
    }

    private func send(_ call: MockServerCall.Parts) async throws {
        _ = try await APIRequestLoader(apiRequest: MockServerCall(baseURL: baseURL), urlSession: urlSession)
            .loadAPIRequest(requestData: call)
    }

    private func load<Value: Decodable>(_ call: MockServerCall.Parts) async throws -> Value {
        let body = try await APIRequestLoader(
            apiRequest: MockServerCall(baseURL: baseURL), urlSession: urlSession
        ).loadAPIRequest(requestData: call)
        do {
            return try JSONDecoder().decode(Value.self, from: body)
        } catch {
            throw RequestError.undecodableBody(reason: String(describing: error))
        }
    }
}

/// A request to the mock itself, none of the service's.
struct MockServerCall: APIRequest {
    /// What such a request consists of.
    struct Parts: Sendable {
        let method: String
        let path: String
        let query: [URLQueryItem]
        let body: Data?

        init(_ method: String, _ path: String = "", query: [URLQueryItem] = [], body: Data? = nil) {
            self.method = method
            self.path = path
            self.query = query
            self.body = body
        }
    }

    /// The session's URL.
    let baseURL: URL

    func makeRequest(from parts: Parts) throws -> URLRequest {
        var url = baseURL
        if !parts.path.isEmpty { url.append(path: parts.path) }
        if !parts.query.isEmpty { url.append(queryItems: parts.query) }
        // Longer than the mock lets anybody wait.
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 90)
        request.httpMethod = parts.method
        request.httpBody = parts.body
        if parts.body != nil { request.setValue(MediaType.json, forHTTPHeaderField: "Content-Type") }
        return request
    }

    func parseResponse(data: Data) throws -> Data { data }
}
