import Dispatch
import Foundation
import PointsOfInterestClient
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("A loader", .timeLimit(.minutes(1)))
struct APIRequestLoaderTests {
    private static let body = """
        [{"id":3,"name":"Tech","category":"new","latitude":37.33,"longitude":-121.89,"featured":true,
          "distance":120.4,"opened":1998}]
        """
    private static let places = [
        PointOfInterest(
            id: 3, name: "Tech", category: "new", latitude: 37.33, longitude: -121.89, featured: true,
            distance: 120.4)
    ]

    private let center: Coordinate

    init() throws {
        center = try Coordinate(latitude: 37.3293, longitude: -121.8893)
    }

    private func loader(on network: MockNetwork) -> APIRequestLoader<PointsOfInterestRequest> {
        APIRequestLoader(
            apiRequest: PointsOfInterestRequest(baseURL: network.baseURL), urlSession: network.session)
    }

    private func load(_ form: LoadingForm, on network: MockNetwork) async throws -> [PointOfInterest] {
        try await form.load(center, with: loader(on: network))
    }

    @Test("A loader sends the request and reads the response", arguments: LoadingForm.allCases)
    func loads(form: LoadingForm) async throws {
        let network = try MockNetwork(body: Self.body)
        #expect(try await load(form, on: network) == Self.places)
        var events = network.events.makeAsyncIterator()
        guard case .started(let request) = await events.next() else {
            Issue.record("nothing was sent")
            return
        }
        #expect(request.url?.query == "lat=37.3293&long=-121.8893")
        #expect(request.httpMethod == "GET")
        #expect(request.value(forHTTPHeaderField: "Accept") == "application/json")
    }

    @Test("A loader accepts every status from 200 to 299", arguments: LoadingForm.allCases, [200, 203, 299])
    func takesSuccess(form: LoadingForm, status: Int) async throws {
        let network = try MockNetwork(status: status, body: Self.body)
        #expect(try await load(form, on: network) == Self.places)
    }

    @Test(
        "A loader throws the service's problem, with the response's own status",
        arguments: LoadingForm.allCases,
        ["application/problem+json", "Application/Problem+JSON; charset=utf-8"])
    func throwsProblems(form: LoadingForm, contentType: String) async throws {
        let body = """
            {"type":"/problems/out-of-range","title":"T","status":200,"detail":"D","code":"out-of-range",\
            "requestId":"r","errors":[{"parameter":"limit","code":"out-of-range","detail":"E"}]}
            """
        let network = try MockNetwork(status: 400, contentType: contentType, body: body)
        var problem = Problem(.outOfRange, status: 400, detail: "D", requestId: "r")
        problem.title = "T"
        problem.errors = [ParameterFault(parameter: "limit", code: .outOfRange, detail: "E")]
        await #expect(throws: RequestError.problem(problem)) { try await load(form, on: network) }
    }

    @Test(
        "A refusal without a problem throws its status",
        arguments: LoadingForm.allCases,
        [
            (404, "application/json", "[]"), (500, nil, ""), (401, nil, ""),
            (503, "application/problem+json", "<oops>"), (199, "application/json", body),
            (300, "application/json", body), (304, nil, ""),
        ])
    func tellsStatuses(form: LoadingForm, response: (status: Int, type: String?, body: String)) async throws {
        let network = try MockNetwork(
            status: response.status, contentType: response.type, body: response.body)
        await #expect(throws: RequestError.unexpectedStatus(response.status)) {
            try await load(form, on: network)
        }
    }

    @Test(
        "A response that can't be read, and whose media type isn't the service's, is another server's",
        arguments: LoadingForm.allCases,
        [
            (200, "text/html", "<h1>Welcome</h1>"), (200, "Text/HTML; charset=utf-8", "<h1>Welcome</h1>"),
            (200, "text/plain", "Success"), (200, nil, "<h1>Welcome</h1>"), (200, nil, ""), (204, nil, ""),
            (403, "text/html", "<h1>Sign in</h1>"), (511, "text/html", "<h1>Sign in</h1>"),
            (404, nil, "not here"), (502, "text/html", "<h1>Bad gateway</h1>"),
            (200, "application/octet-stream", "{}"),
        ])
    func tellsOtherServers(
        form: LoadingForm, response: (status: Int, type: String?, body: String)
    ) async throws {
        let network = try MockNetwork(
            status: response.status, contentType: response.type, body: response.body)
        let mediaType = response.type?.prefix { $0 != ";" }.lowercased()
        await #expect(throws: RequestError.foreignResponse(status: response.status, mediaType: mediaType)) {
            try await load(form, on: network)
        }
    }

    @Test(
        "A response that can be read is one of the service's, whatever its media type",
        arguments: [nil, "text/plain"])
    func readsAnyMediaType(contentType: String?) async throws {
        let network = try MockNetwork(contentType: contentType, body: "[]")
        #expect(try await load(.async, on: network) == [])
    }

    @Test(
        "A loader throws .undecodableBody for a success that it can't read, .damagedBody where that isn't JSON",
        arguments: LoadingForm.allCases, ["", "{}", "[{}]", "<html>", "[{"])
    func tellsUndecodableBodies(form: LoadingForm, body: String) async throws {
        let network = try MockNetwork(
            contentType: body == "{}" ? "application/geo+json" : "application/json", body: body)
        let error = await #expect(throws: RequestError.self) { try await load(form, on: network) }
        switch error?.reason {
        case .undecodableBody: #expect(["{}", "[{}]"].contains(body))
        case .damagedBody: #expect(["", "<html>", "[{"].contains(body))
        default: Issue.record("\(String(describing: error))")
        }
    }

    @Test("A body may have 16 MiB, and no more")
    func boundsBodies() async throws {
        for (size, isRead) in [(16 << 20, true), ((16 << 20) + 1, false)] {
            let network = try MockNetwork(body: "[]" + String(repeating: " ", count: size - 2))
            if isRead {
                #expect(try await load(.async, on: network) == [])
            } else {
                let error = await #expect(throws: RequestError.self) { try await load(.async, on: network) }
                #expect(error?.urlErrorCode == .dataLengthExceedsMaximum)
            }
        }
    }

    @Test(
        "A loader throws the transport error of a request that failed on the way",
        arguments: LoadingForm.allCases,
        [URLError.Code.notConnectedToInternet, .timedOut, .networkConnectionLost])
    func tellsTransportErrors(form: LoadingForm, code: URLError.Code) async throws {
        let network = try MockNetwork { _ in throw URLError(code) }
        let error = await #expect(throws: RequestError.self) { try await load(form, on: network) }
        #expect(error?.urlErrorCode == code)
    }

    @Test("A loader throws .notHTTP for a response that is not HTTP", arguments: LoadingForm.allCases)
    func tellsOtherProtocols(form: LoadingForm) async throws {
        let network = try MockNetwork { request in
            guard let url = request.url else { throw URLError(.badURL) }
            return (
                URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil), Data()
            )
        }
        await #expect(throws: RequestError.notHTTP) { try await load(form, on: network) }
    }

    @Test("A request that can't be made throws its error", arguments: LoadingForm.allCases)
    func tellsInvalidRequests(form: LoadingForm) async throws {
        let network = try MockNetwork(body: Self.body)
        let invalid = PointsOfInterestRequest(baseURL: URL(fileURLWithPath: "/"))
        let loader = APIRequestLoader(apiRequest: invalid, urlSession: network.session)
        await #expect(throws: RequestError.invalidBaseURL) { try await form.load(center, with: loader) }
    }

    @Test("A loader stops a request in flight when its task is cancelled")
    func cancelsInFlight() async throws {
        let network = try MockNetwork { _ in nil }
        let loader = loader(on: network)
        let task = Task { [center] in try await loader.loadAPIRequest(requestData: center) }
        var events = network.events.makeAsyncIterator()
        guard case .started = await events.next() else {
            Issue.record("nothing was sent")
            return
        }
        task.cancel()
        guard case .stopped = await events.next() else {
            Issue.record("the request goes on")
            return
        }
        await #expect(throws: RequestError.cancelled) { try await task.value }
    }

    @Test("A loader sends nothing if its task is cancelled already")
    func cancelsBefore() async throws {
        let network = try MockNetwork { _ in
            Issue.record("something was sent")
            return nil
        }
        let loader = loader(on: network)
        let task = Task { [center] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await loader.loadAPIRequest(requestData: center)
        }
        await #expect(throws: RequestError.cancelled) { try await task.value }
    }

    @Test("A load returns whenever its task is cancelled")
    func cancelsAtAnyTime() async throws {
        let network = try MockNetwork(body: Self.body)
        let loader = loader(on: network)
        await withTaskGroup { group in
            for _ in 0..<200 {
                group.addTask { [center] in
                    let task = Task { try await loader.loadAPIRequest(requestData: center) }
                    await Task.yield()
                    task.cancel()
                    do {
                        #expect(try await task.value == Self.places)
                    } catch {
                        #expect(error as? RequestError == .cancelled)
                    }
                }
            }
        }
    }

    @Test("A loader keeps the responses of requests at the same time apart", arguments: LoadingForm.allCases)
    func keepsResponsesApart(form: LoadingForm) async throws {
        let network = try MockNetwork { request in
            guard let url = request.url, let query = url.query,
                let latitude = query.split(separator: "&").first?.split(separator: "=").last,
                let response = HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
            else { throw URLError(.badURL) }
            let body = """
                [{"id":\(latitude),"name":"","category":"","latitude":0,"longitude":0,"featured":false}]
                """
            return (response, Data(body.utf8))
        }
        let loader = loader(on: network)
        try await withThrowingTaskGroup(of: (Int, [PointOfInterest]).self) { group in
            for latitude in 0..<90 {
                let center = try Coordinate(latitude: Double(latitude), longitude: 0)
                group.addTask { (latitude, try await form.load(center, with: loader)) }
            }
            for try await (latitude, places) in group { #expect(places.map(\.id) == [latitude]) }
        }
    }

    @Test(
        "A loader calls its handler on the session's queue, after a success and after an error",
        arguments: [true, false])
    func callsBackOnTheQueue(isValid: Bool) async throws {
        let network = try MockNetwork(body: Self.body)
        let request = PointsOfInterestRequest(
            baseURL: isValid ? network.baseURL : URL(fileURLWithPath: "/"))
        let loader = APIRequestLoader(apiRequest: request, urlSession: network.session)
        let calls = AsyncStream<Bool> { continuation in
            loader.loadAPIRequest(requestData: center) { _ in
                continuation.yield(OperationQueue.current === network.session.delegateQueue)
                continuation.finish()
            }
        }
        for await isOnQueue in calls { #expect(isOnQueue) }
    }
}

/// The ways to load a request, which must not differ.
enum LoadingForm: CaseIterable, Sendable {
    case async, completionHandler, twoOptionals

    func load<Request>(
        _ requestData: Request.RequestDataType, with loader: APIRequestLoader<Request>
    ) async throws -> Request.ResponseDataType {
        switch self {
        case .async:
            return try await loader.loadAPIRequest(requestData: requestData)
        case .completionHandler:
            let outcomes = AsyncStream<Result<Request.ResponseDataType, any Error>> { continuation in
                loader.loadAPIRequest(requestData: requestData) { outcome in
                    if case .terminated = continuation.yield(outcome) {
                        Issue.record("the handler was called again, or too late")
                    }
                    continuation.finish()
                }
            }
            for await outcome in outcomes { return try outcome.get() }
            throw CancellationError()
        case .twoOptionals:
            let calls = AsyncStream<(Request.ResponseDataType?, (any Error)?)> { continuation in
                loader.loadAPIRequest(requestData: requestData) { contents, error in
                    if case .terminated = continuation.yield((contents, error)) {
                        Issue.record("the handler was called again, or too late")
                    }
                    continuation.finish()
                }
            }
            for await (contents, error) in calls {
                #expect((contents == nil) != (error == nil), "either a value or an error")
                if let error { throw error }
                return try #require(contents)
            }
            throw CancellationError()
        }
    }
}

/// A request as an app may write one for another service.
private struct NumberRequest: APIRequest {
    struct Odd: Error, Equatable {}

    func makeRequest(from requestData: URL) throws -> URLRequest {
        URLRequest(url: requestData)
    }

    func parseResponse(data: Data) throws -> Int {
        let number = try JSONDecoder().decode([Int].self, from: data).first ?? 0
        guard number.isMultiple(of: 2) else { throw Odd() }
        return number
    }
}

/// Tells whether it was read on the main queue, which is the main actor's, whichever thread serves it.
private struct QueueRequest: APIRequest {
    let key: DispatchSpecificKey<Bool>

    func makeRequest(from requestData: URL) throws -> URLRequest { URLRequest(url: requestData) }

    func parseResponse(data: Data) throws -> Bool { DispatchQueue.getSpecific(key: key) == true }
}

@Suite("A request of the app's own", .timeLimit(.minutes(1)))
struct OwnRequestTests {
    private func load(
        _ form: LoadingForm, response: String, contentType: String? = "application/json"
    ) async throws -> Int {
        let network = try MockNetwork(contentType: contentType, body: response)
        let loader = APIRequestLoader(apiRequest: NumberRequest(), urlSession: network.session)
        return try await form.load(network.baseURL, with: loader)
    }

    @Test("An app's own request is loaded like a built-in one", arguments: LoadingForm.allCases)
    func loads(form: LoadingForm) async throws {
        #expect(try await load(form, response: "[2]") == 2)
    }

    @MainActor
    @Test("A response is read off the main actor, also for a caller on it")
    func readsElsewhere() async throws {
        let network = try MockNetwork(body: "")
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        #expect(DispatchQueue.getSpecific(key: key) == true, "this is the main actor")
        let loader = APIRequestLoader(apiRequest: QueueRequest(key: key), urlSession: network.session)
        #expect(try await loader.loadAPIRequest(requestData: network.baseURL) == false)
    }

    @Test(
        "An app's own request throws its own errors, and .undecodableBody for a DecodingError",
        arguments: LoadingForm.allCases)
    func throwsItsOwn(form: LoadingForm) async throws {
        await #expect(throws: NumberRequest.Odd()) { try await load(form, response: "[3]") }
        // Which media types its responses have, only the app knows.
        for contentType in ["application/json", "text/csv", nil] {
            let error = await #expect(throws: RequestError.self) {
                try await load(form, response: "?", contentType: contentType)
            }
            guard case .undecodableBody = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }
}
