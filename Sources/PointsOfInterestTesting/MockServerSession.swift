import Foundation

// A test that imports this module also sees the client, and the types of requests to the mock.
@_exported import MockServerAPI
@_exported import PointsOfInterestClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A test's own session on a running `poi-mock`: its fixtures, its faults, and the journal of the app's requests.
///
/// A UI test makes one, prepares it, launches the app with its `launchArguments`, and reads the journal:
///
///     let session = MockServerSession(server: mockURL)
///     try await session.setFaults([MockFaultRule(path: "/locations", times: 1, fault: .reset)])
///     app.launchArguments = session.launchArguments
///     app.launch()
///     let request = try await session.request(path: "/locations")
///     #expect(request.header("Accept") == "application/json")
///     try await session.end()
///
/// Sessions are independent of each other, so tests and simulators can share one mock at the same time. A session is
/// a value; any task may use it. Every method throws `RequestError`, with the mock's problem: `.problem` with the code
/// `too-many-sessions`, for instance, where tests don't end their sessions.
public struct MockServerSession: Sendable {
    /// Where the mock is.
    public let server: URL
    /// The session's name.
    public let name: String

    private let urlSession: URLSession

    /// Makes a session. It begins on the mock with its first request.
    ///
    /// - Parameters:
    ///   - server: the mock's URL, which is in the first line of its output.
    ///   - name: 1 to 64 characters of `A-Z a-z 0-9 . _ -`; by default a unique one.
    ///   - urlSession: sends the requests to the mock.
    public init(server: URL, name: String = UUID().uuidString, urlSession: URLSession = .uncached) {
        self.server = server
        self.name = name
        self.urlSession = urlSession
    }

    /// The base URL for the app. All requests below it belong to the session.
    public var baseURL: URL { server.appending(path: MockPath.session(name)) }

    /// The launch arguments for the app, see `AppConfiguration`.
    public var launchArguments: [String] { ["-POI_BASE_URL", baseURL.absoluteString] }

    /// Ends the session. A later request of its name begins a new one.
    public func end() async throws {
        try await send(.init("DELETE"))
    }

    /// Sets the places of the service, from now on.
    public func setFixtures(_ places: [PointOfInterest]) async throws {
        try await setFixtures(json: JSONEncoder().encode(places))
    }

    /// Sets the places of the service from a document: an array as in the response of `GET /locations`, or GeoJSON.
    public func setFixtures(json: Data) async throws {
        try await send(.init("PUT", MockPath.fixtures, body: json))
    }

    /// Makes requests fail by these rules from now on. They replace earlier rules and those of the scenario. Each request
    /// gets the fault of the first rule that applies to it, see `MockFaultRule`.
    ///
    /// - Throws: `RequestError`; `.problem` with the code `invalid-faults` for rules that can't be used, whose first
    ///   fault is the problem's detail.
    public func setFaults(_ rules: [MockFaultRule]) async throws {
        try await send(.init("PUT", MockPath.faults, body: JSONEncoder().encode(rules)))
    }

    /// Removes all rules.
    public func removeFaults() async throws {
        try await send(.init("DELETE", MockPath.faults))
    }

    /// Returns the rules and how often each was used. A fault that was never used has tested nothing.
    public func faults() async throws -> [MockFaultState] {
        try await load(.init("GET", MockPath.faults))
    }

    /// Puts the session in a ready-made situation from now on: `try await session.setScenario(.offline)`.
    ///
    /// The scenario's rules replace the session's, as in `setFaults(_:)`. With `.empty` the session's places are
    /// hidden, until another scenario or `setFixtures(_:)` shows places again.
    ///
    /// - Throws: `RequestError`, see `MockServerSession`.
    public func setScenario(_ scenario: MockScenario) async throws {
        try await send(
            .init("PUT", MockPath.scenario, body: JSONEncoder().encode(MockScenarioChange(scenario))))
    }

    /// Returns the requests of the app so far, in the order in which they arrived.
    public func journal(_ query: MockJournalQuery = MockJournalQuery()) async throws -> MockJournal {
        try await load(.init("GET", MockPath.requests, query: query.queryItems))
    }

    /// Removes the requests so far from the journal.
    public func clearJournal() async throws {
        try await send(.init("DELETE", MockPath.requests))
    }

    /// Returns what was reported to the session, each report once, in the order in which they came.
    public func reports() async throws -> [PlaceReport] {
        try await load(.init("GET", MockPath.reports))
    }

    /// Waits for a request of the app. Returns at once where there is one already.
    ///
    /// - Parameters:
    ///   - path: its path, or a template such as `/locations/{id}`; nil is any.
    ///   - method: its method; nil is any.
    ///   - number: skips the requests up to this number; pass the `id` of an earlier request.
    ///   - untilDone: whether to wait until the mock is done with it, or only until it has arrived.
    ///   - seconds: how long to wait, 0…60.
    /// - Throws: `MockServerSession.NoRequest` where none arrives in time.
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

    /// The error where the app hasn't made the awaited request.
    public struct NoRequest: Error, Hashable, Sendable, CustomStringConvertible {
        /// The path that was awaited; nil is any.
        public let path: String?
        /// The method that was awaited; nil is any.
        public let method: String?
        /// How long the test waited.
        public let seconds: Int

        /// A sentence that says what was awaited.
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

/// A request to the mock itself.
struct MockServerCall: APIRequest {
    /// The parts of such a request.
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
        // Longer than the maximum wait of the mock.
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 90)
        request.httpMethod = parts.method
        request.httpBody = parts.body
        if parts.body != nil { request.setValue(MediaType.json, forHTTPHeaderField: "Content-Type") }
        return request
    }

    func parseResponse(data: Data) throws -> Data { data }
}
