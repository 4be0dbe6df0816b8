import PointsOfInterestAPI

extension OpenAPIDocument {
    /// The headers that answers carry.
    static let headers: JSONValue = [
        "X-Request-Id": header(
            "The request's id, by which the log knows it.", pattern: "^[A-Za-z0-9._-]{1,128}$",
            isRequired: true),
        "ETag": header(
            "Weak validator of what was asked and the data behind it (RFC 9110, section 8.8.3).",
            pattern: #"^W/"[\x21\x23-\x7E]+"$"#),
        "Vary": header("The request's headers that the answer depends on.", isRequired: true),
        "Cache-Control": header("How long the answer may be kept, and by whom.", isRequired: true),
        "Link": header(
            """
            The next page (RFC 8288), `<?…>; rel="next"`: a query that is resolved against this request's URL; \
            there exactly if more places follow.
            """, pattern: #"^<\?[^>]+>; rel="next"$"#),
        "Server-Timing": header("How long the database took, in milliseconds (W3C Server Timing)."),
        "Retry-After": [
            "description": "Seconds after which to ask again.", "required": true,
            "schema": ["type": "integer", "minimum": 0],
        ],
        "WWW-Authenticate": header("How to bring a key (RFC 6750).", isRequired: true),
        "Allow": header("The methods that the path has.", isRequired: true),
    ]

    private static func header(
        _ description: String, pattern: String? = nil, isRequired: Bool = false
    ) -> JSONValue {
        let schema: JSONValue = ["type": "string"]
        return [
            "description": .string(description), "required": .flag(isRequired),
            "schema": pattern.map { schema.with([("pattern", .string($0))]) } ?? schema,
        ]
    }

    /// References to headers, by their names.
    static func headers(_ names: [String]) -> JSONValue {
        .object(names.map { ($0, ["$ref": "#/components/headers/\($0)"]) })
    }

    /// The problems of each status, with the codes that come with it.
    static let problemResponses: JSONValue = {
        let codes = Dictionary(grouping: ProblemCode.definitions.keys) { code in
            ProblemCode.definitions[code]?.status ?? 0
        }
        return .object(
            codes.sorted { $0.key < $1.key }.map { status, codes in
                (problemName(status), problemResponse(status, codes.sorted { $0.rawValue < $1.rawValue }))
            })
    }()

    private static func problemResponse(_ status: Int, _ codes: [ProblemCode]) -> JSONValue {
        let titles = codes.compactMap { code in
            ProblemCode.definitions[code].map { "`\(code.rawValue)`: \($0.title)." }
        }
        return [
            "description": .string(titles.joined(separator: " ")),
            "headers": headers(["X-Request-Id", "Cache-Control", "Vary"] + headerNames(ofProblem: status)),
            "content": [
                MediaType.problemJSON: [
                    "schema": [
                        "allOf": [
                            schema("Problem"),
                            [
                                "properties": [
                                    "status": ["const": .integer(status)],
                                    "code": ["enum": .strings(codes.map(\.rawValue))],
                                ]
                            ],
                        ]
                    ]
                ]
            ],
        ]
    }

    private static func headerNames(ofProblem status: Int) -> [String] {
        switch status {
        case 401: ["WWW-Authenticate"]
        case 405: ["Allow"]
        case 429, 503: ["Retry-After"]
        default: []
        }
    }

    /// References to the problems of some statuses, as members of an operation's responses.
    static func problems(_ statuses: [Int]) -> [(String, JSONValue)] {
        statuses.sorted().map { ("\($0)", ["$ref": "#/components/responses/\(problemName($0))"]) }
    }

    private static func problemName(_ status: Int) -> String { "Problem\(status)" }
}
