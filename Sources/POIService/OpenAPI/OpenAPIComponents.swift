import PointsOfInterestAPI

extension OpenAPIDocument {
    static let latitude = range(Coordinate.latitudes)
    static let longitude = range(Coordinate.longitudes)
    static let placeID: JSONValue = [
        "type": "integer", "format": "int64", "minimum": 1, "maximum": .integer(.max),
    ]
    private static let text: JSONValue = ["type": "string"]

    /// A whole number in a range.
    static func integer(_ range: ClosedRange<Int>, default defaultValue: Int) -> JSONValue {
        [
            "type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound),
            "default": .integer(defaultValue),
        ]
    }

    /// A reference to one of the schemas.
    static func schema(_ name: String) -> JSONValue { ["$ref": "#/components/schemas/\(name)"] }

    static let schemas: JSONValue = [
        "PointOfInterest": pointOfInterest,
        "PointsOfInterest": ["type": "array", "items": schema("PointOfInterest")],
        "Source": object(
            required: [("dataset", text), ("id", text), ("license", text)],
            "Where a place's data come from, and under which licence."),
        "Feature": feature,
        "FeatureCollection": object(
            required: [
                ("type", ["const": "FeatureCollection"]),
                ("features", ["type": "array", "items": schema("Feature")]),
            ], "Places by RFC 7946, nearest first."),
        "CategoryCount": object(
            required: [("name", text), ("count", ["type": "integer", "minimum": 0])],
            "A category and how many places it has."),
        "Categories": ["type": "array", "items": schema("CategoryCount")],
        "Liveness": object(required: [("status", ["const": "alive"])], "The process turns."),
        "Readiness": object(
            required: [
                ("status", ["const": "ready"]), ("database", ["enum": ["reachable", "unreachable"]]),
            ],
            optional: [("eventsDatabase", ["enum": ["reachable", "unreachable"]])],
            "The process takes requests; what it knows of its database, and of the events' where that is another."
        ),
        "ProblemCode": [
            "type": "string", "enum": .strings(ProblemCode.definitions.keys.map(\.rawValue).sorted()),
            "description": "What the problem is, for programs; codes may be added.",
        ],
        "Problem": problem,
        "ProblemMeaning": object(
            required: [
                ("type", ["type": "string", "format": "uri-reference"]), ("code", schema("ProblemCode")),
                ("title", text), ("status", ["type": "integer"]), ("meaning", text), ("remedy", text),
            ], "What every problem of a code means, and what to do about it."),
    ]

    private static let distance: (String, JSONValue) = (
        "distance",
        [
            "type": "number", "minimum": 0, "maximum": .number(NearbyPlacesRequest.maximumRadiusMeters),
            "description": "Metres from the centre, to 0.1 m; there exactly if the query has a centre.",
        ]
    )

    /// The members of a place that depend on what is known of it and asked for.
    private static let optionalMembers = [
        distance, ("address", text), ("website", text), ("source", schema("Source")),
    ]

    private static let pointOfInterest = object(
        required: [
            ("id", placeID), ("name", text), ("category", text), ("latitude", latitude),
            ("longitude", longitude), ("featured", ["type": "boolean"]),
        ], optional: optionalMembers, "A place.")

    private static let feature = object(
        required: [
            ("type", ["const": "Feature"]), ("id", placeID),
            (
                "geometry",
                object(required: [
                    ("type", ["const": "Point"]),
                    (
                        "coordinates",
                        [
                            "type": "array", "minItems": 2, "maxItems": 2,
                            "prefixItems": [longitude, latitude],
                            "items": ["type": "number"],
                        ]
                    ),
                ])
            ),
            (
                "properties",
                object(
                    required: [("name", text), ("category", text), ("featured", ["type": "boolean"])],
                    optional: optionalMembers)
            ),
        ], "A place by RFC 7946: longitude first.")

    private static let problem = object(
        required: [
            ("type", ["type": "string", "format": "uri-reference"]), ("title", text),
            ("status", ["type": "integer", "minimum": 400, "maximum": 599]),
            ("code", schema("ProblemCode")), ("requestId", text),
        ],
        optional: [
            ("detail", text),
            (
                "errors",
                [
                    "type": "array", "minItems": 1,
                    "items": [
                        "anyOf": [
                            object(
                                required: [
                                    ("parameter", text), ("code", schema("ProblemCode")), ("detail", text),
                                ]), schema("EventFault"),
                        ]
                    ],
                    "description": "Every fault of the request's parameters, or of a batch's events.",
                ]
            ),
        ], "Why a request failed (RFC 9457).")

    /// A number in a range.
    static func range(_ range: ClosedRange<Double>) -> JSONValue {
        ["type": "number", "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound)]
    }

    /// An object; members that the schema doesn't know may be added to it one day.
    static func object(
        required: [(String, JSONValue)], optional: [(String, JSONValue)] = [], _ description: String? = nil
    ) -> JSONValue {
        var members: [(String, JSONValue)] = [("type", "object")]
        if let description { members.append(("description", .string(description))) }
        members.append(("required", .strings(required.map(\.0))))
        members.append(("properties", .object(required + optional)))
        return .object(members)
    }
}

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
