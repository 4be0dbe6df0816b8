import Foundation
import Locking
import PointsOfInterestTesting

@testable import PointsOfInterestAPI
@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A test's own network: a session, its requests, and the handler that responds to them.
struct MockNetwork {
    /// Returns the response to a request; nil is no response, an error fails the request.
    typealias Handler = @Sendable (URLRequest) throws -> (URLResponse, Data)?

    let session: URLSession
    let baseURL = AppConfiguration.mock.baseURL
    /// What happens to the requests; for one consumer.
    let events: AsyncStream<MockURLProtocol.Event>

    init(_ handler: @escaping Handler) throws {
        let (events, continuation) = AsyncStream.makeStream(of: MockURLProtocol.Event.self)
        self.events = events
        session = MockURLProtocol.session(events: continuation) { request in
            try handler(request).map { .response($0, $1) } ?? .nothing
        }
    }

    /// A network that responds to each request with a status and a body of JSON, unless there are other fields.
    init(
        fields: [String: String] = ["Content-Type": "application/json"],
        _ respond: @escaping @Sendable (URLRequest) throws -> (status: Int, body: String)
    ) throws {
        try self.init { request in
            let (status, body) = try respond(request)
            guard let url = request.url,
                let response = HTTPURLResponse(
                    url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
            else { throw URLError(.badServerResponse) }
            return (response, Data(body.utf8))
        }
    }

    /// A network on which every request has the same response.
    init(status: Int = 200, contentType: String? = "application/json", body: String) throws {
        try self.init(fields: contentType.map { ["Content-Type": $0] } ?? [:]) { _ in (status, body) }
    }
}

/// A transport that returns prepared responses in order, and records the requests.
final class StubTransport: Transport {
    private let outcomes: Lock<[Result<ServiceResponse, RequestError>]>
    private let sent = Lock<[URLRequest]>([])

    /// The requests so far.
    var requests: [URLRequest] { sent.withLock { $0 } }

    init(_ outcomes: [Result<ServiceResponse, RequestError>]) {
        self.outcomes = Lock(outcomes)
    }

    func send(_ request: URLRequest) async throws(RequestError) -> ServiceResponse {
        sent.withLock { $0.append(request) }
        let outcome = outcomes.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        return try (outcome ?? .failure(.unexpectedStatus(0))).get()
    }
}

extension ServiceResponse {
    /// A response with a status, header fields and a text.
    static func test(_ status: Int, _ fields: [String: String] = [:], _ body: String = "") -> ServiceResponse
    {
        ServiceResponse(head: ResponseHead(status: status, fields: fields), body: Data(body.utf8))
    }
}

/// A transport that calls a function for each request, and counts how many it had at once.
final class HandledTransport: Transport {
    private let handler: @Sendable (URLRequest) throws -> ServiceResponse
    private let state = Lock<(requests: [URLRequest], current: Int, most: Int)>(([], 0, 0))

    var requests: [URLRequest] { state.withLock { $0.requests } }
    var mostAtOnce: Int { state.withLock { $0.most } }

    init(_ handler: @escaping @Sendable (URLRequest) throws -> ServiceResponse) {
        self.handler = handler
    }

    func send(_ request: URLRequest) async throws(RequestError) -> ServiceResponse {
        state.withLock { state in
            state.requests.append(request)
            state.current += 1
            state.most = max(state.most, state.current)
        }
        defer { state.withLock { $0.current -= 1 } }
        // Whoever else wants to send gets the chance.
        await Task.yield()
        do {
            return try handler(request)
        } catch {
            throw .undecodableBody(reason: "\(error)")
        }
    }
}

extension ServiceResponse {
    /// The service's, that it has so many events.
    static func stored(_ count: Int) -> ServiceResponse {
        .test(200, [:], String(decoding: EventsResponse(accepted: count, duplicates: 0).json, as: UTF8.self))
    }

    /// A problem of the service's.
    static func problem(_ problem: Problem) -> ServiceResponse {
        .test(
            problem.status, ["Content-Type": MediaType.problemJSON],
            String(decoding: problem.json, as: UTF8.self))
    }
}

/// A listener on a port of 127.0.0.1 whose connections are accepted (listen(2)) and get no response, unless
/// `respond(_:)` says so. Nothing listens any more when it is released.
final class LocalListener: Sendable {
    let baseURL: URL
    private let descriptor: Int32
    private let received = Lock<[String]>([])

    init() throws {
        #if canImport(Darwin)
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        self.descriptor = descriptor
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard status, let url = URL(string: "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))") else {
            throw POSIXError(.init(rawValue: errno) ?? .EIO)
        }
        baseURL = url
    }

    deinit { close(descriptor) }

    /// The requests that came, as they were sent.
    var requests: [String] { received.withLock { $0 } }

    /// Responds to the next requests, each on a connection of its own, on a thread of its own.
    func respond(_ responses: String...) {
        Thread.detachNewThread { [self] in
            for response in responses {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                defer { close(connection) }
                guard let request = Self.request(on: connection) else { continue }
                received.withLock { $0.append(request) }
                _ = Array(response.utf8).withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
            }
        }
    }

    /// Ends the wait for requests that don't come.
    func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Reads a request with its body; nil where the client has closed the connection before its end.
    private static func request(on connection: Int32) -> String? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = read(connection, &buffer, buffer.count), count > 0 {
            bytes += buffer.prefix(count)
            let request = String(decoding: bytes, as: UTF8.self)
            guard let head = request.range(of: "\r\n\r\n") else { continue }
            let length = request[..<head.lowerBound].lowercased().components(separatedBy: "content-length: ")
                .dropFirst().first.flatMap { Int($0.prefix(while: \.isNumber)) }
            if request[head.upperBound...].utf8.count >= length ?? 0 { return request }
        }
        return nil
    }
}

/// A clock that stands still: a pause on it ends only where its task is cancelled.
final class StoppedClock: Clock {
    /// Each pause that has begun; for one consumer.
    let pauses: AsyncStream<Void>
    private let begun: AsyncStream<Void>.Continuation

    var now: TestClock.Instant { TestClock.Instant() }
    var minimumResolution: Duration { .nanoseconds(1) }

    init() {
        (pauses, begun) = AsyncStream.makeStream()
    }

    func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws {
        let (forever, keptOpen) = AsyncStream<Never>.makeStream()
        begun.yield()
        for await _ in forever {}
        keptOpen.finish()
        throw CancellationError()
    }
}

/// A clock on which every pause is over at once, and that tells how long each was to be.
///
/// It can leave time limits alone: a sleep until a given time or later ends only when the time gets there, by shorter
/// pauses or by `advance(by:)`.
final class TestClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration = .zero

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant()
        var pauses: [Duration] = []
        /// The sleeps that wait for their time; a stream ends at its deadline.
        var limits: [(deadline: Instant, end: AsyncStream<Never>.Continuation)] = []
    }

    private let state = Lock(State())
    private let limit: Duration?
    /// Each sleep until a limit that has ended, or was cancelled; for one consumer.
    let endedLimits: AsyncStream<Void>
    private let ended: AsyncStream<Void>.Continuation

    /// - Parameter limit: from which time on a sleep doesn't end at once, counted from the clock's start.
    init(limit: Duration? = nil) {
        self.limit = limit
        (endedLimits, ended) = AsyncStream.makeStream()
    }

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }
    /// The pauses so far.
    var pauses: [Duration] { state.withLock { $0.pauses } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        guard let limit, deadline.offset >= limit else {
            let pause = now.duration(to: deadline)
            state.withLock { $0.pauses.append(pause) }
            return advance(by: pause)
        }
        defer { ended.yield() }
        let (stream, end) = AsyncStream<Never>.makeStream()
        state.withLock { state in
            if deadline <= state.now { end.finish() } else { state.limits.append((deadline, end)) }
        }
        for await _ in stream {}
        try Task.checkCancellation()
    }

    /// Lets time pass, and ends the sleeps whose time it is.
    func advance(by duration: Duration) {
        state.withLock { state in
            state.now = state.now.advanced(by: duration)
            for limit in state.limits where limit.deadline <= state.now { limit.end.finish() }
            state.limits.removeAll { [now = state.now] in $0.deadline <= now }
        }
    }
}
