import Foundation
import HTTPServer
import MockServerAPI
import PointsOfInterestAPI
import POIService

/// The body of a request that sets a session's faults: an array of rules.
struct FaultRules {
    /// The maximum number of rules. Every request is compared with the rules one after the other.
    static let maximumCount = 100

    let rules: [MockFaultRule]

    /// Reads the rules.
    ///
    /// A path that the service doesn't have is refused: the rule would never be used, and a test that relies on it
    /// would test nothing.
    ///
    /// - Throws: `MockProblem` with the first fault.
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

    /// Splits a path or a template into segments.
    init(_ text: String) {
        segments = text.split(separator: "/", omittingEmptySubsequences: false)
    }

    /// Whether a path matches the template; a parameter matches any segment that isn't empty.
    func matches(_ path: String) -> Bool {
        let others = path.split(separator: "/", omittingEmptySubsequences: false)
        return others.count == segments.count
            && zip(segments, others).allSatisfy { segment, other in
                segment.hasPrefix("{") && segment.hasSuffix("}") ? !other.isEmpty : segment == other
            }
    }
}

/// The service with the fault and the delay of a rule.
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
            response.transmission = .reset
            return response
        case .truncatedBody(let bytes):
            var response = await whole(request, context)
            response.transmission = .cutOff(afterBodyBytes: bytes ?? response.body.count / 2)
            return response
        case .malformedJSON:
            var response = await whole(request, context)
            // Half of a JSON text is no JSON; half of a very short one would be empty.
            response.body = response.body.count < 2 ? [UInt8(ascii: "{")] : response.body.firstHalf
            // A client that kept the body would get 304 for it later.
            response.headers.remove(.eTag)
            return response
        case .slowDrip(let bytes, let intervalSeconds):
            var response = await whole(request, context)
            response.transmission = .dripped(bytes: bytes, every: .seconds(intervalSeconds))
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
    /// A response as from a proxy or a captive portal.
    fileprivate static func page(status: Int) -> HTTPResponse {
        let status = HTTPStatus(code: status) ?? .internalServerError
        let page = "<!DOCTYPE html>\n<title>\(status)</title>\n<h1>\(status)</h1>\n"
        return HTTPResponse(
            status, headers: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"],
            body: Array(page.utf8))
    }

    /// The response of a rule. It was checked when the rule was set.
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
