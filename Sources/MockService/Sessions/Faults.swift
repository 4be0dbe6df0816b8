import Bytes
import CSystem
import Foundation
import HTTPServer
import MockServerAPI
import POIService
import PointsOfInterestAPI
import PointsOfInterestServerAPI

struct FaultRules {
    /// Every request is compared with the rules one after the other.
    static let maximumCount = 100

    let rules: [MockFaultRule]

    /// A path that the service doesn't have is refused: the rule would never be used, and a test that relies on it
    /// would test nothing.
    init(json: [UInt8], isRoute: (String) -> Bool) throws(MockProblem) {
        let list = try MockProblem.decode(RuleList.self, from: json, as: "faults")
        rules = list.rules
        guard list.isWhole else {
            throw .invalid(
                "faults", [DocumentFault(path: "", detail: "has more than \(Self.maximumCount) rules")])
        }
        for (index, rule) in rules.enumerated() {
            guard let path = rule.path, !isRoute(path) else { continue }
            throw .invalid(
                "faults", [DocumentFault(path: "[\(index)].path", detail: "is no path of the service")])
        }
    }
}

/// The beginning of an array of rules. Rules beyond the limit aren't read, whatever they are.
private struct RuleList: Decodable {
    var rules: [MockFaultRule] = []
    let isWhole: Bool

    init(from decoder: any Decoder) throws {
        var array = try decoder.unkeyedContainer()
        while !array.isAtEnd, rules.count < FaultRules.maximumCount {
            rules.append(try array.decode(MockFaultRule.self))
        }
        isWhole = array.isAtEnd
    }
}

/// A path that may have parameters, `/locations/{id}`.
struct PathTemplate: Hashable, Sendable {
    private let segments: [Substring]

    init(_ text: String) {
        segments = text.split(separator: "/", omittingEmptySubsequences: false)
    }

    /// A parameter matches any segment that isn't empty.
    func matches(_ path: String) -> Bool {
        let others = path.split(separator: "/", omittingEmptySubsequences: false)
        return others.count == segments.count
            && zip(segments, others).allSatisfy { segment, other in
                segment.hasPrefix("{") && segment.hasSuffix("}") ? !other.isEmpty : segment == other
            }
    }
}

struct FaultyHandler: WaitingHandler {
    let rule: MockFaultRule?
    let service: ServiceDispatcher

    func response(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        if let delay = rule?.delaySeconds, delay > 0 { try await Task.sleep(for: .seconds(delay)) }
        switch rule?.fault {
        case nil: return await service.response(to: request, context: context)
        case .problem(let status, let code, let detail, let retryAfterSeconds):
            let problem = Problem(
                code.map { ProblemCode(rawValue: $0) } ?? ProblemCode(status: status), status: status,
                detail: detail, requestId: context.requestID)
            service.allowOrigin(of: request, in: context)
            return HTTPResponse(
                problem, headers: retryAfterSeconds.map { [.retryAfter: String($0)] } ?? HTTPHeaders())
        case .page(let status): return .page(status: status)
        case .reset:
            var response = HTTPResponse(.ok)
            response.write { _, _, _ in throw CancellationError() }
            return response
        case .lostResponse:
            var response = await service.response(to: request, context: context)
            response.write { _, _, _ in throw CancellationError() }
            return response
        case .truncatedBody(let bytes):
            var response = await whole(request, context)
            let count = bytes ?? response.body.count / 2
            response.write { head, body, send in send(head + body.prefix(count)) }
            return response
        case .malformedJSON:
            var response = await whole(request, context)
            // Half of a JSON text is no JSON; half of a very short one would be empty. It keeps the tag of the whole, as where
            // something on the way cuts it: a client that keeps this body gets 304 for it ever after.
            response.body = response.body.count < 2 ? [UInt8(ascii: "{")] : response.body.firstHalf
            return response
        case .paddedBody(let bytes):
            var response = await whole(request, context)
            let lacking = max(0, bytes - response.body.count)
            response.body += [UInt8](repeating: UInt8(ascii: " "), count: lacking)
            // Sent as they are, so many bytes would be more than the server holds for one client.
            try ResponseCompression().apply(to: &response, for: request)
            return response
        case .slowDrip(let bytes, let intervalSeconds):
            var response = await whole(request, context)
            response.drip(bytes, every: .seconds(intervalSeconds))
            return response
        case .response(let status, let headers, let body):
            service.allowOrigin(of: request, in: context)
            return .custom(status: status, headers: headers, body: body)
        }
    }

    /// The service's response with its whole body: neither compressed, so that half of it is half of a text, nor 304,
    /// since a fault of a body needs a body.
    private func whole(_ request: HTTPRequest, _ context: RequestContext) async -> HTTPResponse {
        var request = request
        request.headers.remove(.acceptEncoding)
        request.headers.remove(.ifNoneMatch)
        return await service.response(to: request, context: context)
    }
}

extension [UInt8] {
    fileprivate var firstHalf: [UInt8] { Array(prefix(count / 2)) }
}

extension HTTPResponse {
    /// Sends a body in pieces of so many bytes: the first one with the head, then one every interval.
    fileprivate mutating func drip(_ count: Int, every interval: Duration) {
        write { head, body, send in
            send(head + body.prefix(count))
            var rest = body.dropFirst(count)
            while !rest.isEmpty {
                try await Task.sleep(for: interval)
                send(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
        }
    }
}

extension HTTPResponse {
    /// A response as from a proxy or a captive portal.
    fileprivate static func page(status: Int) -> HTTPResponse {
        let status = HTTPStatus(code: status) ?? .internalServerError
        let page = "<!DOCTYPE html>\n<title>\(status)</title>\n<h1>\(status)</h1>\n"
        return HTTPResponse(
            status, headers: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"],
            body: Array(page.utf8))
    }

    fileprivate static func custom(
        status: Int, headers: [String: String], body: String
    ) -> HTTPResponse {
        var response = HTTPResponse(HTTPStatus(code: status) ?? .internalServerError, body: Array(body.utf8))
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            if let name = HTTPHeaderName(name) { response.headers.add(name, value) }
        }
        return response
    }
}

/// A session's rules for faults, and how often each was used. A value, without a socket.
struct FaultPlan {
    private(set) var states: [MockFaultState]

    init(_ rules: [MockFaultRule] = []) {
        states = rules.map { MockFaultState(rule: $0, timesMatched: 0, timesUsed: 0) }
    }

    /// Counts the use of the rule, and for each rule before it that matches, that it let the request pass.
    ///
    /// - Parameter path: below a session's prefix, as rules have it.
    mutating func rule(for request: HTTPRequest, path: String) -> MockFaultRule? {
        guard !states.isEmpty else { return nil }
        let parts = RequestParts(request, path: path)
        for (index, state) in states.enumerated() where !state.isUsedUp && parts.match(state.rule) {
            let number = state.timesMatched + 1
            let applies = state.rule.applies(toMatch: number)
            states[index] = MockFaultState(
                rule: state.rule, timesMatched: number, timesUsed: state.timesUsed + (applies ? 1 : 0))
            if applies { return state.rule }
        }
        return nil
    }
}

extension MockFaultState {
    fileprivate var isUsedUp: Bool { rule.times.map { timesUsed >= $0 } ?? false }
}

extension MockFaultRule {
    fileprivate func applies(toMatch number: Int) -> Bool {
        number > skip && (number - skip) % every == 0
    }
}

/// The parts of a request that rules look at. The request is taken apart once, however many rules there are.
private struct RequestParts {
    private let request: HTTPRequest
    private let path: String
    /// The values of the query's items by their names. As bytes: to hash a text of combining marks takes time that grows
    /// with the square of its length.
    private let query: [[UInt8]: [[UInt8]]]

    init(_ request: HTTPRequest, path: String) {
        self.request = request
        self.path = path
        let items = (request.query ?? "").utf8.split(separator: UInt8(ascii: "&")).map { item in
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            return (Self.decoded(name), Self.decoded(item[name.endIndex...].dropFirst()))
        }
        query = Dictionary(grouping: items) { $0.0 }.mapValues { $0.map(\.1) }
    }

    /// A name or a value of the query as the service decodes it; what it refuses stays as it is.
    private static func decoded(_ text: Substring.UTF8View) -> [UInt8] {
        (try? PercentEncoding.decode(text, plusIsSpace: true)) ?? Array(text)
    }

    func match(_ rule: MockFaultRule) -> Bool {
        (rule.method ?? request.method.rawValue) == request.method.rawValue
            && rule.path.map { PathTemplate($0).matches(path) } ?? true
            && rule.query.allSatisfy { $1.isMet(by: query[Array($0.utf8)] ?? []) }
            && rule.headers.allSatisfy { name, condition in
                let values = HTTPHeaderName(name).map { request.headers.all($0) } ?? []
                return condition.isMet(by: values.map { Array($0.utf8) })
            }
            && rule.bodyContains.map { request.body.contains(text: $0) } ?? true
    }
}

extension [UInt8] {
    func contains(text: String) -> Bool {
        let text = Array(text.utf8)
        return poi_contains(self, count, text, text.count)
    }
}
