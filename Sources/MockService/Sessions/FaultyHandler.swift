import HTTPServer
import MockServerAPI
import POIService
import PointsOfInterestAPI

/// The service, with what a rule makes go wrong.
struct FaultyHandler: HTTPHandler {
    let rule: MockFaultRule?
    let service: ServiceHandler

    func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        if let delay = rule?.delaySeconds, delay > 0 { try await Task.sleep(for: .seconds(delay)) }
        switch rule?.fault {
        case nil: return await service.response(to: request, context: context)
        case .problem(let status, let code, let detail, let retryAfterSeconds):
            let problem = Problem(
                code.map { ProblemCode(rawValue: $0) } ?? ProblemCode(status: status), status: status,
                detail: detail, requestId: context.requestID)
            service.allowOrigin(of: request, in: context)
            return HTTPResponse(problem, retryAfterSeconds: retryAfterSeconds)
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
            // Half of a JSON text is none, but where half is nothing: then there is more than nothing.
            response.body = response.body.count < 2 ? [UInt8(ascii: "{")] : response.body.firstHalf
            // A client that kept it would be told that it is still right.
            response.headers.remove(.eTag)
            return response
        case .slowDrip(let bytes, let intervalSeconds):
            var response = await whole(request, context)
            response.transmission = .dripped(bytes: bytes, every: .seconds(intervalSeconds))
            return response
        }
    }

    /// The service's answer with its body as it is: not coded, so that half of it is half of a text, and not
    /// spared because the client has it, since a fault of a body needs one.
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
    /// What a proxy or a captive portal answers in the service's place.
    fileprivate static func page(status: Int) -> HTTPResponse {
        let status = HTTPStatus(code: status) ?? .internalServerError
        let page = "<!DOCTYPE html>\n<title>\(status)</title>\n<h1>\(status)</h1>\n"
        return HTTPResponse(
            status, headers: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"],
            body: Array(page.utf8))
    }
}
