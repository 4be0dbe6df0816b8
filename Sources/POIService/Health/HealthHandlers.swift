import HTTPServer
import PointsOfInterestAPI
import Program

/// `GET /livez`: 200 while the process is alive. Never asks the database.
struct LivenessHandler: ImmediateHandler {
    func response(to request: HTTPRequest, context: RequestContext) -> HTTPResponse {
        Self.alive
    }

    private static let alive = HTTPResponse(healthy: Array(#"{"status":"alive"}"#.utf8))
}

/// `GET /livez` of the admin listener, whose thread serves no other requests: the seconds since each loop's last beat,
/// and 503 if a loop is stuck.
struct LoopLivenessHandler: ImmediateHandler {
    let health: Health

    func response(to request: HTTPRequest, context: RequestContext) -> HTTPResponse {
        let loops = health.loopReports
        guard let stuck = loops.first(where: \.isStuck) else {
            return HTTPResponse(healthy: Self.json(loops))
        }
        let detail = "Loop \(stuck.name) hasn't turned for \(stuck.secondsSinceTurn) s."
        return HTTPResponse(notReady: detail, context)
    }

    private static func json(_ loops: [Health.LoopReport]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("status", "alive")
        writer.name("loops")
        writer.beginArray()
        for loop in loops {
            writer.beginObject()
            writer.member("name", loop.name)
            writer.member("secondsSinceTurn", loop.secondsSinceTurn)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }
}

extension HTTPResponse {
    fileprivate init(healthy json: [UInt8]) {
        self.init(.ok, prepared: Self.healthyFields, body: json)
    }

    private static let healthyFields = PreparedFields([
        .contentType: MediaType.json, .cacheControl: "no-store",
    ])

    fileprivate init(notReady reason: String, _ context: RequestContext) {
        self.init(
            Problem(.notReady, detail: reason, requestId: context.requestID), headers: [.retryAfter: "1"])
    }
}

/// `GET /readyz`: 200 while the process is ready, else a problem with the reason.
struct ReadinessHandler: ImmediateHandler {
    let health: Health

    func response(to request: HTTPRequest, context: RequestContext) -> HTTPResponse {
        let report = health.report
        if let reason = report.notReadyReason { return HTTPResponse(notReady: reason, context) }
        return HTTPResponse(healthy: report.json)
    }
}

extension Health.Report {
    fileprivate var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("status", "ready")
        writer.member("version", BuildInformation.version)
        writer.member("database", isDatabaseReachable ? "reachable" : "unreachable")
        if let isEventsDatabaseReachable {
            writer.member("eventsDatabase", isEventsDatabaseReachable ? "reachable" : "unreachable")
        }
        writer.endObject()
        return writer.bytes
    }
}
