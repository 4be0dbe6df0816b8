import PointsOfInterestServerAPI
import PointsOfInterestAPI

extension OpenAPIDocument {
    static let latitude = range(Coordinate.latitudes)
    static let longitude = range(Coordinate.longitudes)
    static let placeID: JSONValue = [
        "type": "integer", "format": "int64", "minimum": 1, "maximum": .integer(.max),
    ]
    static let text: JSONValue = ["type": "string", "minLength": 1]
    static let category: JSONValue = ["type": "string", "pattern": "^[a-z][a-z0-9]*(_[a-z0-9]+)*$"]
    /// An address that an app opens when somebody taps it.
    private static let webAddress: JSONValue = [
        "type": "string", "format": "uri", "pattern": "^https?://[^/]",
    ]

    static let languageTag: JSONValue = [
        "type": "string", "maxLength": .integer(LanguageTag.maximumBytes),
        "pattern": "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$",
    ]

    static func integer(_ range: ClosedRange<Int>, default defaultValue: Int? = nil) -> JSONValue {
        let integer: JSONValue = [
            "type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound),
        ]
        return integer.with(defaultValue.map { [("default", .integer($0))] } ?? [])
    }

    static func schema(_ name: String) -> JSONValue { ["$ref": "#/components/schemas/\(name)"] }

    static let schemas: JSONValue = [
        "PointOfInterest": pointOfInterest,
        "PointsOfInterest": ["type": "array", "items": schema("PointOfInterest")],
        "Source": object(
            required: [("dataset", text), ("id", text), ("license", text)],
            "The origin of a place's data, and their licence."), "Feature": feature,
        "FeatureCollection": object(
            required: [
                ("type", ["const": "FeatureCollection"]),
                ("features", ["type": "array", "items": schema("Feature")]),
            ], "Places in GeoJSON (RFC 7946), nearest first."), "Cluster": cluster,
        "Clusters": object(
            required: [
                ("zoom", integer(ClustersRequest.zooms)),
                (
                    "clusters",
                    [
                        "type": "array", "maxItems": .integer(ClustersRequest.maximumCellCount),
                        "items": schema("Cluster"),
                    ]
                ),
            ], "The cells that have places, from north to south and from the box's west to its east."),
        "CategoryCount": object(
            required: [("name", category), ("count", ["type": "integer", "minimum": 0])],
            optional: [("label", label), ("words", categoryWords)],
            "A category and its number of places, with `lang` what it is called, and with `words=all` all words for it."
        ),
        "Categories": ["type": "array", "items": schema("CategoryCount")],
        "Attribution": object(
            required: [("dataset", text), ("license", text), ("places", ["type": "integer", "minimum": 1])],
            optional: [("credit", text), ("url", webAddress)],
            "A dataset that places came from: its licence, what that asks a map to show, and a page about it."
        ),
        "Attributions": ["type": "array", "items": schema("Attribution")],
        "Liveness": object(required: [("status", ["const": "alive"])], "The process is alive."),
        "Readiness": object(
            required: [
                ("status", ["const": "ready"]), ("version", text),
                ("database", ["enum": ["reachable", "unreachable"]]),
            ], optional: [("eventsDatabase", ["enum": ["reachable", "unreachable"]])],
            "The server is ready; its release, the state of its database, and of the events' database if that is another one."
        ),
        "ProblemCode": [
            "type": "string", "enum": .strings(ProblemCode.definitions.keys.map(\.rawValue).sorted()),
            "description": "The kind of problem, for programs. New codes may be added.",
        ], "Problem": problem,
        "MemberFault": object(
            required: [
                ("pointer", ["type": "string", "pattern": "^(/([^~]|~[01])*)?$"]),
                ("code", ["type": "string"]),
                ("detail", ["type": "string"]),
            ],
            "A fault of a member of a body: where the member is (RFC 6901), and what is wrong with it."),
        "ProblemMeaning": object(
            required: [
                ("type", ["type": "string", "format": "uri-reference"]), ("code", schema("ProblemCode")),
                ("title", text), ("status", ["type": "integer"]), ("meaning", text), ("remedy", text),
            ], "What a problem means, and what to do about it."),
    ]

    private static let distance: (String, JSONValue) = (
        "distance",
        [
            "type": "number", "minimum": 0, "maximum": .number(NearbyPlacesRequest.maximumRadiusMeters),
            "description":
                "The distance from the centre in metres, rounded to 0.1 m; present if the request has a centre.",
        ]
    )

    private static let label: JSONValue = [
        "type": "string", "minLength": 1, "maxLength": 50,
        "description": """
        What the category is called in the first of the languages of `lang` that it has a label in; absent where there is none.
        """,
    ]

    private static let categoryWords: JSONValue = [
        "type": "object",
        "additionalProperties": [
            "type": "array", "minItems": 1, "items": ["type": "string", "minLength": 1],
        ],
        "description":
            "By languages in lower case, what the category is called, then other words that find it.",
    ]

    private static let optionalMembers = [
        distance, ("address", text), ("website", webAddress), ("source", schema("Source")),
        (
            "language",
            languageTag.with([("description", "The language of the name, one of those that `lang` asks for.")]
            )
        ),
        (
            "importance",
            [
                "type": "integer", "minimum": 1, "maximum": 1000,
                "description": "How important the place is among others; absent is 0.",
            ]
        ),
        (
            "matchedName",
            [
                "type": "string",
                "description": """
                With `sort=relevance`: the name that the place was found by, where that isn't `name`.
                """,
            ]
        ),
        (
            "leftOut",
            [
                "type": "string", "minLength": 1,
                "description": """
                With `sort=relevance`, where nothing has all words of `q`: the word that the place was found without, as it is \
                written there.
                """,
            ]
        ),
        ("categoryLabel", label),
        (
            "mergedFrom",
            [
                "type": "array", "minItems": 1, "items": placeID,
                "description": """
                With `ids`: those of them whose places were merged into this one, in ascending order.
                """,
            ]
        ),
        (
            "properties",
            [
                "type": "object",
                "description": """
                What the service's team knows of the place beyond the other members: all of it in the details of a \
                place, otherwise what the parameter `properties` names.
                """,
            ]
        ),
        (
            "operatingStatus",
            [
                "type": "string",
                "enum": .strings([OperatingStatus.temporarilyClosed, .permanentlyClosed].map(\.rawValue)),
                "description": """
                Whether the place is closed; absent where nothing is known of it being closed. Places that are closed \
                permanently are found by their ids alone. New values may be added.
                """,
            ]
        ),
    ]

    /// What the details of a place have in JSON, and lists and GeoJSON don't.
    private static let lastChange: [(String, JSONValue)] = [
        (
            "version",
            version.with([
                (
                    "description",
                    "In the details of a place: a number that is another one after each change of the place."
                )
            ])
        ),
        (
            "updatedAt",
            time.with([
                (
                    "description",
                    "In the details of a place: when it was changed last (RFC 3339), in UTC."
                )
            ])
        ),
    ]

    static let version: JSONValue = [
        "type": "integer", "minimum": 0, "maximum": 9_007_199_254_740_991,
    ]
    static let time: JSONValue = [
        "type": "string", "format": "date-time",
        "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
    ]

    private static let pointOfInterest = object(
        required: [
            ("id", placeID), ("name", text), ("category", category), ("latitude", latitude),
            ("longitude", longitude), ("featured", ["type": "boolean"]),
        ], optional: optionalMembers + lastChange, "A place.")

    private static let cluster = object(
        required: [
            ("count", ["type": "integer", "minimum": 1]), ("latitude", latitude), ("longitude", longitude),
            (
                "bbox",
                [
                    "type": "array", "minItems": 4, "maxItems": 4,
                    "prefixItems": [longitude, latitude, longitude, latitude], "items": ["type": "number"],
                ]
            ),
        ], optional: [("place", schema("PointOfInterest"))],
        "The places of a cell: their number, mean position and box; the place itself if it is the only one.")

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
                            "prefixItems": [longitude, latitude], "items": ["type": "number"],
                        ]
                    ),
                ])
            ),
            (
                "properties",
                object(
                    required: [("name", text), ("category", category), ("featured", ["type": "boolean"])],
                    optional: optionalMembers)
            ),
        ], "A place in GeoJSON (RFC 7946), in which the longitude comes first.")

    private static let problem = object(
        required: [
            ("type", ["type": "string", "format": "uri-reference"]), ("title", text),
            ("status", ["type": "integer", "minimum": 400, "maximum": 599]),
            ("detail", text), ("code", schema("ProblemCode")), ("requestId", text),
        ],
        optional: [
            (
                "errors",
                [
                    "type": "array", "minItems": 1,
                    "items": [
                        "anyOf": [
                            object(
                                required: [
                                    // The parameter's name as it was sent, which can be empty.
                                    ("parameter", ["type": "string"]), ("code", schema("ProblemCode")),
                                    ("detail", text),
                                ]), schema("EventFault"), schema("MemberFault"),
                        ]
                    ],
                    "description":
                        "All faults of parameters or of the body's members, or those of the first hundred bad events.",
                ]
            ),
            (
                "mergedInto",
                placeID.with([("description", "The place that the request's one was merged into.")])
            ),
        ], "Why a request failed (RFC 9457).")

    static func range(_ range: ClosedRange<Double>) -> JSONValue {
        ["type": "number", "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound)]
    }

    /// An object. It allows more members, since the contract may add some.
    static func object(
        required: [(String, JSONValue)], optional: [(String, JSONValue)] = [], _ description: String? = nil
    ) -> JSONValue {
        var members: [(String, JSONValue)] = [("type", "object")]
        if let description { members.append(("description", .string(description))) }
        members.append(("required", .strings(required.map(\.0))))
        members.append(("properties", .object(required + optional)))
        return .object(members)
    }

    // MARK: - Headers and problems

    static let headers: JSONValue = [
        "Date": header(
            "When the response was made (RFC 9110, section 6.6.1).",
            pattern: "^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$",
            isRequired: true),
        "X-Request-Id": header(
            "The request's id, which is also in the log.", pattern: "^[A-Za-z0-9._-]{1,128}$",
            isRequired: true),
        "ETag": header(
            "The entity tag of the response, a weak one (RFC 9110, section 8.8.3).",
            pattern: #"^W/"[\x21\x23-\x7E]+"$"#),
        "Vary": header("The request's headers on which the response depends.", isRequired: true),
        "Cache-Control": header("Which caches may keep the response, and how long.", isRequired: true),
        "Link": header(
            """
            The next page, `<?…>; rel="next"` (RFC 8288): a query to resolve against this request's URL. Present if \
            more places follow.
            """, pattern: #"^<\?[^>]+>; rel=("next"|next)$"#),
        "Location": header(
            """
            The same request for another place: a reference to resolve against this request's URL (RFC 9110, section \
            10.2.2).
            """, pattern: #"^[1-9][0-9]*(\?.*)?$"#, isRequired: true),
        "Poi-Stale-Seconds": header(
            "How many seconds ago the data were last known to be the newest, where that is longer than usual: the database "
                + "is away or behind.", pattern: "^[0-9]+$"),
        "Server-Timing": header("How long the database took, in milliseconds (W3C Server Timing)."),
        "Retry-After": [
            "description": "The seconds to wait before the next request.", "required": true,
            "schema": ["type": "integer", "minimum": 0],
        ],
        "WWW-Authenticate": header("How to send a key (RFC 6750).", isRequired: true),
        "Allow": header("The methods of the path.", isRequired: true),
        "CurrentVersionTag": header(
            "Where a place was to be edited that has changed: the tag of its version now.",
            pattern: versionTag),
    ]

    static func header(
        _ description: String, pattern: String? = nil, isRequired: Bool = false
    ) -> JSONValue {
        let schema: JSONValue = ["type": "string"]
        return [
            "description": .string(description), "required": .boolean(isRequired),
            "schema": pattern.map { schema.with([("pattern", .string($0))]) } ?? schema,
        ]
    }

    /// Headers by the names of their descriptions, which are their own names or those of `editingHeaderNames`.
    static func headers(_ names: [String]) -> JSONValue {
        .object(names.map { (editingHeaderNames[$0] ?? $0, ["$ref": "#/components/headers/\($0)"]) })
    }

    /// A response for each status of problems, with the codes of that status.
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
            "headers": headers(
                ["Date", "X-Request-Id", "Cache-Control", "Vary"] + headerNames(ofProblem: status)),
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
        case 412: ["CurrentVersionTag"]
        case 429, 503: ["Retry-After"]
        default: []
        }
    }

    static func problems(_ statuses: [Int]) -> [(String, JSONValue)] {
        statuses.sorted().map { ("\($0)", ["$ref": "#/components/responses/\(problemName($0))"]) }
    }

    private static func problemName(_ status: Int) -> String { "Problem\(status)" }
}
