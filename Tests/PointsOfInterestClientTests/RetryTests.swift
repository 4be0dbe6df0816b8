import Foundation
import Testing

@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Sending again", .timeLimit(.minutes(1)))
struct RetryTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)
    private static let lost = RequestError.transport(
        code: URLError.Code.networkConnectionLost.rawValue, reason: "lost")

    private let clock = TestClock()

    private func transport(_ stub: StubTransport, _ policy: RetryPolicy = RetryPolicy()) -> RetryingTransport
    {
        RetryingTransport(
            base: stub, policy: policy, clock: clock, jitter: { 1 }, now: { Self.now },
            limits: TimeLimits(read: .seconds(60)))
    }

    private func request(_ method: String = "GET") throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "https://h/locations")))
        request.httpMethod = method
        return request
    }

    @Test("A request is repeated until it succeeds, with pauses that double")
    func retries() async throws {
        let stub = StubTransport([
            .success(.test(503)), .failure(Self.lost), .success(.test(429)), .success(.test(200, [:], "x")),
        ])
        let response = try await transport(stub, RetryPolicy(attempts: 5)).send(request())
        #expect(response.head.status == 200)
        #expect(clock.pauses == [.milliseconds(250), .milliseconds(500), .milliseconds(1000)])
    }

    @Test("The last failure is thrown after the maximum number of attempts")
    func endsAfterAttempts() async throws {
        let stub = StubTransport([.failure(Self.lost), .success(.test(502)), .success(.test(504))])
        #expect(try await transport(stub).send(request()).head.status == 504)
        #expect(stub.requests.count == 3)
        let failing = StubTransport(Array(repeating: .failure(Self.lost), count: 9))
        await #expect(throws: Self.lost) { try await transport(failing).send(request()) }
        #expect(failing.requests.count == 3)
    }

    @Test(
        "A failure that would repeat isn't retried",
        arguments: [200, 304, 400, 401, 404, 408, 500, 501])
    func leavesFinalResponses(status: Int) async throws {
        let stub = StubTransport([.success(.test(status)), .success(.test(200))])
        #expect(try await transport(stub).send(request()).head.status == status)
        #expect(clock.pauses.isEmpty)
    }

    @Test(
        "An error that doesn't pass isn't retried",
        arguments: [
            RequestError.cancelled, .notHTTP,
            .transport(code: URLError.Code.secureConnectionFailed.rawValue, reason: ""),
            .transport(code: URLError.Code.notConnectedToInternet.rawValue, reason: ""),
        ])
    func leavesFinalErrors(error: RequestError) async throws {
        let stub = StubTransport([.failure(error), .success(.test(200))])
        await #expect(throws: error) { try await transport(stub).send(request()) }
        #expect(stub.requests.count == 1)
    }

    @Test(
        "A request is repeated if its connection is refused, lost or too slow, on every platform",
        arguments: [
            URLError.Code.timedOut, .networkConnectionLost, .cannotConnectToHost, .cannotFindHost,
            .dnsLookupFailed,
        ])
    func retriesErrors(code: URLError.Code) async throws {
        let stub = StubTransport([
            .failure(.transport(code: code.rawValue, reason: "")), .success(.test(200)),
        ])
        #expect(try await transport(stub).send(request()).head.status == 200)
    }

    #if canImport(FoundationNetworking)
        @Test(
            "On Linux a request is repeated after an empty response and after one that is cut off",
            arguments: [-1011, -1])
        func retriesClosedConnections(code: Int) async throws {
            let stub = StubTransport([.failure(.transport(code: code, reason: "")), .success(.test(200))])
            #expect(try await transport(stub).send(request()).head.status == 200)
        }
    #endif

    @Test("A request that changes something isn't repeated", arguments: ["POST", "PUT", "DELETE", "PATCH"])
    func leavesUnsafeMethods(method: String) async throws {
        let stub = StubTransport([.success(.test(503)), .success(.test(200))])
        #expect(try await transport(stub).send(request(method)).head.status == 503)
        #expect(stub.requests.count == 1)
    }

    @Test("It is repeated with an Idempotency-Key, always the same", arguments: ["POST", "DELETE", "PATCH"])
    func repeatsKeys(method: String) async throws {
        let stub = StubTransport([
            .success(.test(503)), .failure(.damagedBody(reason: "cut")), .success(.test(200)),
        ])
        var request = try request(method)
        request.setValue("a", forHTTPHeaderField: "Idempotency-Key")
        #expect(try await transport(stub).send(request).head.status == 200)
        #expect(stub.requests == [request, request, request])
    }

    @Test(
        "The pause is what Retry-After asks for and the client's own, up to a bound",
        arguments: [
            ("3", Duration.milliseconds(3250) as Duration?), ("0", .milliseconds(250)),
            (" 10 ", .milliseconds(10_250)), ("Tue, 14 Nov 2023 22:13:24 GMT", .milliseconds(4250)),
            ("Tuesday, 14-Nov-23 22:13:24 GMT", .milliseconds(4250)),
            ("Tue Nov 14 22:13:24 2023", .milliseconds(4250)),
            ("Tue, 14 Nov 2023 22:13:19 GMT", .milliseconds(250)),
            ("soon", .milliseconds(250)), ("-1", .milliseconds(250)), ("11", nil),
            ("99999999999999999999999", nil), ("Wed, 15 Nov 2023 22:13:24 GMT", nil),
        ])
    func retryAfter(field: String, pause: Duration?) async throws {
        let stub = StubTransport([.success(.test(503, ["Retry-After": field])), .success(.test(200))])
        let response = try await transport(stub).send(request())
        #expect(response.head.status == (pause == nil ? 503 : 200))
        #expect(clock.pauses == (pause.map { [$0] } ?? []))
    }

    @Test("A date in Retry-After counts from the response's own date, whatever the device's clock says")
    func retryAfterDate() async throws {
        let fields = [
            "Retry-After": "Thu, 01 Jan 2015 00:00:07 GMT", "Date": "Thu, 01 Jan 2015 00:00:02 GMT",
        ]
        let stub = StubTransport([.success(.test(503, fields)), .success(.test(200))])
        #expect(try await transport(stub).send(request()).head.status == 200)
        #expect(clock.pauses == [.milliseconds(5250)])
    }

    @Test("Pauses are random and never longer than the maximum")
    func pauses() {
        let policy = RetryPolicy(attempts: 100)
        func pause(_ attempt: Int, _ jitter: Double) -> Duration? {
            policy.pause(after: .failure(Self.lost), attempt: attempt, jitter: jitter, now: Self.now)
        }
        #expect(pause(1, 0) == .zero)
        #expect(pause(2, 0.5) == .milliseconds(250))
        #expect(pause(99, 1) == .seconds(5))
        #expect(pause(100, 1) == nil)
    }

    @Test("While connections are refused, a request is repeated for 3 s, and these attempts don't count")
    func outlastsRestart() async throws {
        let refused = Result<ServiceResponse, RequestError>.failure(
            .transport(code: URLError.Code.cannotConnectToHost.rawValue, reason: ""))
        let restart = StubTransport(
            Array(repeating: refused, count: 5) + [503, 503, 200].map { .success(.test($0)) })
        #expect(try await transport(restart).send(request()).head.status == 200)
        #expect(clock.pauses.map { $0 / .milliseconds(1) } == [250, 500, 500, 500, 500, 250, 500])
        let gone = StubTransport(Array(repeating: refused, count: 99))
        for (jitter, count) in [(1.0, 8), (0.0, 14)] {
            let clock = TestClock()
            let sent = gone.requests.count
            let transport = RetryingTransport(
                base: gone, policy: RetryPolicy(), clock: clock, jitter: { jitter }, now: { Self.now },
                limits: TimeLimits(read: .seconds(60)))
            await #expect(throws: RequestError.self) { try await transport.send(request()) }
            #expect(gone.requests.count - sent == count)
            #expect(clock.now.offset == .seconds(3), "the last attempt is at the end of the three seconds")
        }
        for (policy, method) in [(RetryPolicy.never, "GET"), (RetryPolicy(), "POST")] {
            let once = StubTransport([refused, .success(.test(200))])
            await #expect(throws: RequestError.self) {
                try await transport(once, policy).send(request(method))
            }
        }
    }

    @Test("Repeating ends at once if the task is cancelled in a pause")
    func cancels() async throws {
        let stub = StubTransport(Array(repeating: .failure(Self.lost), count: 9))
        let clock = StoppedClock()
        let transport = RetryingTransport(
            base: stub, policy: RetryPolicy(), clock: clock, jitter: { 1 }, now: { Self.now },
            limits: TimeLimits(read: .seconds(60)))
        let task = Task { [request = try request()] in try await transport.send(request) }
        for await _ in clock.pauses { break }
        task.cancel()
        await #expect(throws: RequestError.cancelled) { try await task.value }
        #expect(stub.requests.count == 1)
    }
}

@Suite("A date in a field")
struct HTTPDateTests {
    @Test(
        "A date is read in the three forms of RFC 9110",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "  Sun, 06 Nov 1994 08:49:37 GMT ",
        ])
    func isRead(text: String) {
        #expect(HTTPDate.parse(text)?.timeIntervalSince1970 == 784_111_777)
    }

    @Test(
        "A date in any other form is refused",
        arguments: [
            "", "now", "1994-11-06T08:49:37Z", "Sun, 32 Nov 1994 08:49:37 GMT",
            "06 Nov 1994", String(repeating: "Sun, ", count: 1000),
        ])
    func isNone(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }
}
