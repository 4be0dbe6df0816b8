import HTTPServer
import PointsOfInterestAPI

/// `GET /livez`: 200 while the process turns; never asks the database.
struct LivenessHandler: HTTPHandler {
    func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        Self.alive
    }

    private static let alive = HTTPResponse(
        .ok, headers: [.contentType: MediaType.json, .cacheControl: "no-store"],
        body: Array(#"{"status":"alive"}"#.utf8))
}

/// `GET /readyz`: 200 while the process can take requests, else a problem that says why not.
struct ReadinessHandler: HTTPHandler {
    let health: Health

    func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        let report = health.report
        var headers: HTTPHeaders = [.cacheControl: "no-store"]
        guard let reason = report.notReadyReason else {
            headers.add(.contentType, MediaType.json)
            return HTTPResponse(.ok, headers: headers, body: report.json)
        }
        headers.add(.contentType, MediaType.problemJSON)
        headers.add(.retryAfter, "1")
        let problem = Problem(.notReady, detail: reason, requestId: context.requestID)
        return HTTPResponse(.serviceUnavailable, headers: headers, body: problem.json)
    }
}

extension Health.Report {
    fileprivate var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("status", "ready")
        writer.member("database", isDatabaseReachable ? "reachable" : "unreachable")
        writer.endObject()
        return writer.bytes
    }
}
