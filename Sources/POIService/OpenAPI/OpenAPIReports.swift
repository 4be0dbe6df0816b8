import PointsOfInterestAPI
import PointsOfInterestServerAPI

extension OpenAPIDocument {
    var reportPaths: [Path] {
        guard takesReports else { return [] }
        var methods: [(String, JSONValue)] = [("post", postReport)]
        guard hasEditors else {
            return [Path(template: EndpointPath.reports, item: .object(methods))]
        }
        methods += [
            ("get", reportsPage(id: "getReports", hasBody: true)),
            ("head", reportsPage(id: "headReports", hasBody: false)),
        ]
        return [
            Path(template: EndpointPath.reports, item: .object(methods)),
            Path(template: EndpointPath.report, item: ["patch": patchReport, "delete": deleteReport]),
        ]
    }

    var reportSchemas: [(String, JSONValue)] {
        guard takesReports else { return [] }
        let sent: [(String, JSONValue)] = [
            ("PlaceReport", Self.placeReport), ("PlaceReportReceipt", Self.receipt),
        ]
        guard hasEditors else { return sent }
        return sent + [("ReceivedReport", Self.receivedReport), ("ReportChange", Self.reportChange)]
    }

    private static let problems = [400, 406, 408, 412, 413, 414, 417, 429, 431, 500, 501, 503, 505]
    private static let fields = ["Date", "X-Request-Id", "Cache-Control", "Vary"]

    private var postReport: JSONValue {
        operation(
            "postReport",
            """
            Reports what is wrong with a place, or missing; the response means that the report is durable. It is safe to send a \
            report again: the response is the same, and the report is there once.
            """, body: (MediaType.json, "PlaceReport"), key: .data,
            success: ("201", content(Self.schema("PlaceReportReceipt"))), problems: [415, 422])
    }

    private func reportsPage(id: String, hasBody: Bool) -> JSONValue {
        let parameters: [JSONValue] = ReportsRequest.Parameter.allCases.map { parameter in
            [
                "name": .string(parameter.name.description), "in": "query", "required": false,
                "description": .string(Self.description(of: parameter)), "schema": Self.schema(of: parameter),
            ]
        }
        let items: JSONValue = ["type": "array", "items": Self.schema("ReceivedReport")]
        return operation(
            id, "What people have reported, the newest first, a page at a time.", parameters: parameters,
            key: .editing, success: ("200", hasBody ? content(items) : []), headers: ["Link"],
            problems: [403])
    }

    private var patchReport: JSONValue {
        operation(
            "patchReport", "Says what became of a report.", parameters: [Self.reportID],
            body: (WriteCheck.mergePatch, "ReportChange"), key: .editing,
            success: ("200", content(Self.schema("ReceivedReport"))), problems: [403, 404, 415, 422])
    }

    private var deleteReport: JSONValue {
        operation(
            "deleteReport", "Removes all that is known of a report.", parameters: [Self.reportID],
            key: .editing, success: ("204", []), problems: [403, 404])
    }

    private func content(_ schema: JSONValue) -> [(String, JSONValue)] {
        [("content", [MediaType.json: ["schema": schema]])]
    }

    private func operation(
        _ id: String, _ summary: String, parameters: [JSONValue] = [],
        body: (mediaType: String, schema: String)? = nil, key: Key,
        success: (status: String, members: [(String, JSONValue)]), headers: [String] = [], problems: [Int]
    ) -> JSONValue {
        var response: [(String, JSONValue)] = [
            ("description", .string(summary)), ("headers", Self.headers(Self.fields + headers)),
        ]
        response += success.members
        let statuses = Self.problems + problems + (requires(key) ? [401] : [])
        var members: [(String, JSONValue)] = [
            ("operationId", .string(id)), ("tags", ["reports"]), ("summary", .string(summary)),
            ("parameters", .array(parameters + Self.commonParameters)),
            (
                "responses",
                .object([(success.status, .object(response))] + Self.problems(statuses))
            ),
        ]
        if let body {
            members.append(
                (
                    "requestBody",
                    [
                        "required": true,
                        "description": .string("At most \(ReportLimits.bodyBytes) bytes."),
                        "content": [body.mediaType: ["schema": Self.schema(body.schema)]],
                    ]
                ))
        }
        if requires(key) { members.append(("security", [.object([(key.rawValue, JSONValue.array([]))])])) }
        return .object(members)
    }

    private static func description(of parameter: ReportsRequest.Parameter) -> String {
        switch parameter {
        case .status: "What became of the reports."
        case .limit: "At most this many reports."
        case .before: "Where the page begins, as the `Link` of the page before has it."
        }
    }

    private static func schema(of parameter: ReportsRequest.Parameter) -> JSONValue {
        switch parameter {
        case .status: statuses.with([("default", .string(ReportStatus.open.rawValue))])
        case .limit: integer(ReportsRequest.limits, default: ReportsRequest.defaultLimit)
        case .before: ["type": "integer", "format": "int64", "minimum": 0]
        }
    }

    /// A pattern besides the `format`, which not every program checks.
    private static let uuid: JSONValue = [
        "type": "string", "format": "uuid",
        "pattern": "^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$",
    ]
    private static let reportID: JSONValue = [
        "name": "id", "in": "path", "required": true, "description": "The report's id.", "schema": uuid,
    ]
    private static let statuses: JSONValue = [
        "type": "string", "enum": .strings(ReportStatus.allCases.map(\.rawValue)),
    ]

    /// PostgreSQL can't store a NUL.
    private static func text(atMost length: Int) -> JSONValue {
        ["type": "string", "minLength": 1, "maxLength": .integer(length), "pattern": #"^[^\u0000]*$"#]
    }

    private static let requiredMembers: [(String, JSONValue)] = [
        ("id", uuid),
        ("reason", ["type": "string", "enum": .strings(PlaceReport.Reason.allCases.map(\.rawValue))]),
    ]
    private static let optionalMembers: [(String, JSONValue)] = [
        ("place", placeID), ("latitude", latitude), ("longitude", longitude),
        ("text", text(atMost: PlaceReport.maximumTextLength)),
    ]

    private static let placeReport = object(
        required: requiredMembers, optional: optionalMembers,
        """
        What a person says is wrong with a place, or missing: with the place's id, a position, or both. The id is made by the app. \
        The text may have line breaks.
        """
    ).with([("anyOf", [["required": ["place"]], ["required": ["latitude", "longitude"]]])])

    private static let receipt = object(required: [("id", uuid)], "The report is stored, now or before.")

    private static let receivedReport = object(
        required: requiredMembers + [("reportedAt", time), ("status", statuses)],
        optional: optionalMembers + [
            ("note", text(atMost: ReportLimits.noteLength)), ("changedBy", ["type": "string"]),
            ("changedAt", time),
        ], "A report as editors see it: when it came, what became of it, and the editor who said so last.")

    private static let reportChange: JSONValue = object(
        required: [],
        optional: [
            ("status", statuses),
            ("note", text(atMost: ReportLimits.noteLength).with([("type", ["string", "null"])])),
        ], "What an editor says of a report (RFC 7396); a note of null takes it away."
    ).with([("minProperties", 1)])
}
