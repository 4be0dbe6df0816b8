import Foundation
import Locking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Replaces the network below a URL session.
///
/// Each session of `session(_:)` has its own handler, so tests can run at the same time. Sessions whose
/// `protocolClasses` contain `MockURLProtocol.self` share `requestHandler`, and their tests have to run one after another.
/// A request without a handler fails with an error that says so.
public class MockURLProtocol: URLProtocol {
    /// Returns the response to a request and its body, or throws the error that the load fails with. Called on a thread
    /// of the session's.
    public typealias Handler = @Sendable (URLRequest) throws -> (HTTPURLResponse, Data)

    /// What the network does with a request, unless it fails.
    public enum Outcome: Sendable {
        /// Sends this response, HTTP or not, and this body.
        case response(URLResponse, Data)
        /// Sends nothing: the load ends when it is cancelled.
        case nothing
    }

    /// What happens to a request.
    public enum Event: Sendable {
        /// The request has reached the network.
        case started(URLRequest)
        /// The load has ended: it is complete, failed or cancelled.
        case stopped(URLRequest)
    }

    /// The handler of every session whose `protocolClasses` contain `MockURLProtocol.self`; nil is none.
    ///
    /// There is one in the process: set it before the test's first request, and to nil in `tearDown()`. Tests that run
    /// at the same time, as those of Swift Testing do, would replace each other's handler; they use `session(_:)`. Any
    /// thread may read and set it.
    public static var requestHandler: Handler? {
        get { sharedHandler.withLock { $0 } }
        set { sharedHandler.withLock { $0 = newValue } }
    }

    private static let sharedHandler = Lock<Handler?>(nil)

    /// Makes a session whose requests all go to this handler.
    public static func session(_ handler: @escaping Handler) -> URLSession {
        MockRoutes.session(events: nil) { request in
            let (response, body) = try handler(request)
            return .response(response, body)
        }
    }

    /// Makes a session whose requests all go to this handler, and yields what happens to them.
    public static func session(
        events: AsyncStream<Event>.Continuation, _ handler: @escaping @Sendable (URLRequest) throws -> Outcome
    ) -> URLSession {
        MockRoutes.session(events: events, handler)
    }

    /// Accepts every request of its session.
    public override class func canInit(with request: URLRequest) -> Bool { true }

    /// Returns the request unchanged.
    public override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Calls the session's handler, or `requestHandler`.
    public override func startLoading() {
        let route = MockRoutes.route(Self.routeNumber)
        let request = request.withReadBody
        route?.events?.yield(.started(request))
        do {
            guard case .response(let response, let body) = try outcome(of: request, route) else { return }
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            client?.urlProtocol(self, didLoad: body)
            client?.urlProtocolDidFinishLoading(self)
        } catch {
            client?.urlProtocol(self, didFailWithError: error)
        }
    }

    private func outcome(of request: URLRequest, _ route: MockRoutes.Route?) throws -> Outcome {
        if let route { return try route.handler(request) }
        guard Self.routeNumber == 0, let handler = Self.requestHandler else { throw URLError.noHandler }
        let (response, body) = try handler(request)
        return .response(response, body)
    }

    /// Yields the event that the load has ended.
    public override func stopLoading() {
        MockRoutes.route(Self.routeNumber)?.events?.yield(.stopped(request))
    }

    /// The number of the session's route. Each session has a class of its own for it. This class is for the sessions that
    /// share `requestHandler`, and has no route.
    class var routeNumber: Int { 0 }
}

extension URLError {
    /// It is a `URLError`, because `URLSession` and the client pass its text on unchanged. No request is repeated because
    /// of this code.
    fileprivate static var noHandler: URLError {
        let text =
            "MockURLProtocol has no handler for this request: set MockURLProtocol.requestHandler, "
            + "or use MockURLProtocol.session"
        return URLError(.unsupportedURL, userInfo: [NSLocalizedDescriptionKey: text])
    }
}

extension URLRequest {
    /// The request with its body in `httpBody`. Foundation passes the body to a protocol as a stream.
    fileprivate var withReadBody: URLRequest {
        guard httpBody == nil, let stream = httpBodyStream else { return self }
        stream.open()
        defer { stream.close() }
        var body = Data()
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while case let count = stream.read(&buffer, maxLength: buffer.count), count > 0 {
            body.append(contentsOf: buffer.prefix(count))
        }
        var request = self
        request.httpBodyStream = nil
        request.httpBody = body
        return request
    }
}

/// The handlers of the sessions.
///
/// A protocol object doesn't know its session, and on Linux it doesn't get the session's additional headers either;
/// but it knows its class. So each session gets its own class: `NumberedProtocol` of a type that encodes a number.
enum MockRoutes {
    struct Route: Sendable {
        let handler: @Sendable (URLRequest) throws -> MockURLProtocol.Outcome
        let events: AsyncStream<MockURLProtocol.Event>.Continuation?
        /// Nil when nothing more can be sent: a session lives as long as its tasks.
        weak var session: URLSession?
    }

    private struct Table {
        var routes: [Int: Route] = [:]
        var lastNumber = 0
    }

    private static let table = Lock(Table())

    static func session(
        events: AsyncStream<MockURLProtocol.Event>.Continuation?,
        _ handler: @escaping @Sendable (URLRequest) throws -> MockURLProtocol.Outcome
    ) -> URLSession {
        let number = table.withLock { table in
            table.lastNumber += 1
            return table.lastNumber
        }
        let configuration = URLSessionConfiguration.uncached
        configuration.protocolClasses = [protocolClass(spelling: number, in: NumberEnd.self)]
        let session = URLSession(configuration: configuration)
        table.withLock { table in
            table.routes = table.routes.filter { $0.value.session != nil }
            table.routes[number] = Route(handler: handler, events: events, session: session)
        }
        return session
    }

    static func route(_ number: Int) -> Route? {
        table.withLock { $0.routes[number] }
    }

    /// Returns the class for a number. The type is nested once for each bit, so a million sessions need a depth of
    /// twenty.
    private static func protocolClass<Number: SpelledNumber>(
        spelling rest: Int, in number: Number.Type
    ) -> MockURLProtocol.Type {
        guard rest > 0 else { return NumberedProtocol<Number>.self }
        return rest.isMultiple(of: 2)
            ? protocolClass(spelling: rest / 2, in: NumberZero<Number>.self)
            : protocolClass(spelling: rest / 2, in: NumberOne<Number>.self)
    }
}

/// A number that is encoded in a type, with its last bit innermost.
private protocol SpelledNumber {
    /// The number's bits, and how many there are.
    static var bits: (value: Int, count: Int) { get }
}

private enum NumberEnd: SpelledNumber {
    static var bits: (value: Int, count: Int) { (0, 0) }
}

private enum NumberZero<Lower: SpelledNumber>: SpelledNumber {
    static var bits: (value: Int, count: Int) { (Lower.bits.value, Lower.bits.count + 1) }
}

private enum NumberOne<Lower: SpelledNumber>: SpelledNumber {
    static var bits: (value: Int, count: Int) {
        let lower = Lower.bits
        return (lower.value | 1 << lower.count, lower.count + 1)
    }
}

private final class NumberedProtocol<Number: SpelledNumber>: MockURLProtocol {
    override class var routeNumber: Int { Number.bits.value }
}
