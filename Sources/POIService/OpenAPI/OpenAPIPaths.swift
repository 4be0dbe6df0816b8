import PointsOfInterestAPI

extension OpenAPIDocument {
    struct Path {
        let template: String
        let item: JSONValue
    }

    /// A `GET` with its `HEAD`, or another method.
    struct Operation {
        let id: String
        var method = "get"
        let tag: String
        let summary: String
        var parameters: [JSONValue] = []
        var requestBody: JSONValue?
        var status = 200
        let content: [(String, JSONValue)]
        /// A response's body.
        var example: JSONValue?
        /// The headers of a successful response, and of a 304 if the operation has one.
        var headers = ["Date", "X-Request-Id", "Cache-Control", "Vary"]
        var hasTag = true
        /// Whether its data come from places, which may be stale. Then responses may have `Poi-Stale-Seconds`.
        var mayBeStale = false
        var successHeaders: [String] = []
        /// What a 308 says; nil if the operation has none.
        var redirect: String?
        var problems: [Int] = []
        var links: JSONValue?
        var key: Key?
        var isLimited = true
    }

    var paths: [Path] {
        [
            path(EndpointPath.locations, [locations] + (hasEditors ? [postLocation] : [])),
            path(EndpointPath.clusters, [clusters]),
        ] + (hasDigest ? [path(EndpointPath.digest, [digest])] : []) + [
            path(EndpointPath.location, [location] + (hasEditors ? [patchLocation, deleteLocation] : [])),
            path(EndpointPath.categories, [categories]), path(EndpointPath.attributions, [attributions]),
            path(EndpointPath.events, [events]), path(EndpointPath.livez, [livez]),
            path(EndpointPath.readyz, [readyz]), path(EndpointPath.openAPI, [openAPI]),
            path(ProblemPages.indexPath, [problems]), path(EndpointPath.problem, [problem]),
            path("/", [start]),
        ] + (hasEditors ? editingPaths : []) + reportPaths
    }

    private var editingPaths: [Path] {
        [
            path(EndpointPath.record, [record]), path(EndpointPath.versions, [versions]),
            path(EndpointPath.restore, [postRestore]), path(EndpointPath.merge, [postMerge]),
            path(EndpointPath.changes, [changes]),
        ]
    }

    private static let commonProblems = [400, 408, 412, 413, 414, 417, 431, 500, 501, 503, 505]
    /// More problems of requests that need the database.
    static let databaseProblems = [406, 504]

    private var locations: Operation {
        Operation(
            id: "getLocations", tag: "places",
            summary: "The places near a centre or in a box, nearest first; or those with some ids.",
            parameters: locationsParameters,
            content: [
                (MediaType.json, Self.schema("PointsOfInterest")),
                (MediaType.geoJSON, Self.schema("FeatureCollection")),
            ], mayBeStale: true, successHeaders: ["Link", "Server-Timing"], problems: Self.databaseProblems,
            links: [
                "nearest": [
                    "operationId": "getLocation", "parameters": ["id": "$response.body#/0/id"],
                    "description": "The nearest place.",
                ]
            ], key: .data)
    }

    private var clusters: Operation {
        Operation(
            id: "getClusters", tag: "places",
            summary: "How many places are in each cell of a map, with their mean position and their box.",
            parameters: clustersParameters, content: [(MediaType.json, Self.schema("Clusters"))],
            mayBeStale: true, problems: Self.databaseProblems, key: .data)
    }

    private var location: Operation {
        Operation(
            id: "getLocation", tag: "places",
            summary: "One place, with its distance if the request has a centre.",
            parameters: locationParameters,
            content: [
                (MediaType.json, Self.schema("PointOfInterest")), (MediaType.geoJSON, Self.schema("Feature")),
            ], mayBeStale: true, successHeaders: ["Server-Timing"],
            redirect: "The place was merged into another one, to which `Location` leads.",
            problems: Self.databaseProblems + [404, 410], key: .data)
    }

    private var categories: Operation {
        Operation(
            id: "getCategories", tag: "places",
            summary: """
                All categories, or those that a text finds, with their numbers of places, the most frequent first, then by name.
                """,
            parameters: categoriesParameters, content: [(MediaType.json, Self.schema("Categories"))],
            mayBeStale: true, successHeaders: ["Server-Timing"], problems: Self.databaseProblems, key: .data)
    }

    private var attributions: Operation {
        Operation(
            id: "getAttributions", tag: "places",
            summary: "The datasets that places came from, with their licences and credits, by name.",
            content: [(MediaType.json, Self.schema("Attributions"))],
            mayBeStale: true, successHeaders: ["Server-Timing"], problems: Self.databaseProblems, key: .data)
    }

    private var livez: Operation {
        Operation(
            id: "getLiveness", tag: "health", summary: "200 while the process is alive.",
            content: [(MediaType.json, Self.schema("Liveness"))], hasTag: false, isLimited: false)
    }

    private var readyz: Operation {
        Operation(
            id: "getReadiness", tag: "health", summary: "200 while the server can serve requests.",
            content: [(MediaType.json, Self.schema("Readiness"))], hasTag: false, isLimited: false)
    }

    private var openAPI: Operation {
        Operation(
            id: "getOpenAPI", tag: "documentation", summary: "This document.",
            content: [(MediaType.json, ["type": "object"])], problems: Self.databaseProblems)
    }

    private var problems: Operation {
        Operation(
            id: "getProblems", tag: "documentation",
            summary: "What the problems mean, and what to do about them.",
            content: [
                (MediaType.json, ["type": "array", "items": Self.schema("ProblemMeaning")]),
                (Self.html, ["type": "string"]),
            ], problems: [406])
    }

    private var problem: Operation {
        Operation(
            id: "getProblem", tag: "documentation",
            summary:
                "What one problem means, and what to do about it; a problem's `type` is the path of this page.",
            parameters: [
                [
                    "name": "code", "in": "path", "required": true, "description": "The problem's code.",
                    "schema": Self.schema("ProblemCode"),
                ]
            ], content: [(MediaType.json, Self.schema("ProblemMeaning")), (Self.html, ["type": "string"])],
            problems: [404, 406])
    }

    private var start: Operation {
        Operation(
            id: "getStart", tag: "documentation", summary: "A page for people.",
            content: [(Self.html, ["type": "string"])], problems: [406])
    }

    private static let html = "text/html"

    private func path(_ template: String, _ operations: [Operation]) -> Path {
        var item: [(String, JSONValue)] = []
        for operation in operations {
            item.append((operation.method, value(of: operation, id: operation.id, hasBody: true)))
            if operation.method == "get" {
                let id = operation.id.replacing("get", with: "head", maxReplacements: 1)
                item.append(("head", value(of: operation, id: id, hasBody: false)))
            }
        }
        return Path(template: template, item: .object(item))
    }

    private func value(of operation: Operation, id: String, hasBody: Bool) -> JSONValue {
        let common = operation.hasTag ? Self.conditionalParameters : Self.commonParameters
        var members: [(String, JSONValue)] = [
            ("operationId", .string(id)), ("tags", [.string(operation.tag)]),
            ("summary", .string(operation.summary)), ("parameters", .array(operation.parameters + common)),
            ("responses", responses(of: operation, hasBody: hasBody)),
        ]
        if let body = operation.requestBody { members.append(("requestBody", body)) }
        let keys = keys(for: operation)
        if !keys.isEmpty {
            members.append(("security", .array(keys.map { .object([($0.rawValue, JSONValue.array([]))]) })))
        }
        return .object(members)
    }

    private func responses(of operation: Operation, hasBody: Bool) -> JSONValue {
        var headers = operation.headers + (operation.mayBeStale ? ["Poi-Stale-Seconds"] : [])
        if operation.hasTag { headers.append("ETag") }
        var success: [(String, JSONValue)] = [
            ("description", .string(operation.summary)),
            ("headers", Self.headers(headers + operation.successHeaders)),
        ]
        if hasBody, !operation.content.isEmpty {
            let example = operation.example.map { [("example", $0)] } ?? []
            success.append(
                (
                    "content",
                    .object(operation.content.map { ($0.0, .object([("schema", $0.1)] + example)) })
                ))
            if let links = operation.links { success.append(("links", links)) }
        }
        var responses: [(String, JSONValue)] = [("\(operation.status)", .object(success))]
        if operation.hasTag {
            responses.append(
                (
                    "304",
                    [
                        "description":
                            "The response that the client has is still valid (RFC 9110, section 15.4.5).",
                        "headers": Self.headers(headers),
                    ]
                ))
        }
        if let redirect = operation.redirect {
            responses.append(
                (
                    "308",
                    [
                        "description": .string(redirect),
                        "headers": Self.headers(operation.headers + ["Location"]),
                    ]
                ))
        }
        var problems = Self.commonProblems + operation.problems
        if !keys(for: operation).isEmpty { problems.append(401) }
        if limitsRate, operation.isLimited { problems.append(429) }
        return .object(responses + Self.problems(problems))
    }
}
