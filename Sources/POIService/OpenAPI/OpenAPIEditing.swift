import HTTPServer
import PointsOfInterestAPI
import PointsOfInterestServerAPI

// MARK: - Operations

extension OpenAPIDocument {
    /// The problems that all operations of editors may have, besides those of every operation.
    private static let editingProblems = [403, 406, 429]
    /// Those where there is a place.
    private static let placeProblems = editingProblems + [404, 409, 410]
    private static let bodyProblems = [415, 422]

    var postLocation: Operation {
        Operation(
            id: "postLocation", method: "post", tag: "editing", summary: "Makes a place.",
            parameters: [Self.idempotencyKey],
            requestBody: Self.body(
                "The place; what isn't there is as in a place of which nothing is known.", "PlaceDraft",
                example: [
                    "name": "Test Café", "category": "cafe", "latitude": 37.3293, "longitude": -121.8893,
                    "names": ["ja": "テストカフェ"], "properties": ["phone": "+1 408 555 0100"],
                ]),
            status: 201, content: [(MediaType.json, Self.schema("PlaceRecord"))],
            example: Self.exampleRecord, hasTag: false,
            successHeaders: ["NewLocation", "VersionTag", "Poi-Visible"],
            problems: Self.editingProblems + Self.bodyProblems, key: .editing, isLimited: false)
    }

    var record: Operation {
        Operation(
            id: "getRecord", tag: "editing",
            summary: "A place as its editors see it, with what its source says below corrections.",
            parameters: [Self.placeIDParameter, Self.ifMatch(isRequired: false)],
            content: [(MediaType.json, Self.schema("PlaceRecord"))], example: Self.exampleRecord,
            hasTag: false, successHeaders: ["VersionTag", "Accept-Patch"], problems: Self.placeProblems,
            key: .editing, isLimited: false)
    }

    var patchLocation: Operation {
        edit(
            id: "patchLocation", method: "patch",
            """
            Corrects members of a place. Corrections lie above what the source says, and imports don't change them. Members \
            that are as they are change nothing.
            """,
            requestBody: Self.body(
                """
                The members to correct, as a merge patch (RFC 7396): null takes a value away. Those of `reset` show again what \
                the source says.
                """, "PlacePatch", type: WriteCheck.mergePatch,
                example: [
                    "name": "Tested Café", "website": .null, "properties": ["phone": .null, "seats": 24],
                    "reset": ["category", "properties.opened"],
                ]))
    }

    var deleteLocation: Operation {
        Operation(
            id: "deleteLocation", method: "delete", tag: "editing",
            summary: "Removes a place. Imports don't bring it back, and an editor can restore it.",
            parameters: Self.editParameters, status: 204, content: [], hasTag: false,
            successHeaders: ["Poi-Visible"], problems: Self.placeProblems + Self.bodyProblems + [428],
            key: .editing, isLimited: false)
    }

    var postRestore: Operation {
        edit(
            id: "postRestore", method: "post",
            "Shows what a place was in one of its versions; a removed or merged place comes back.",
            requestBody: Self.body(
                "The version.", "Restoration", example: ["version": 5_217_412_066_101_903]))
    }

    var postMerge: Operation {
        edit(
            id: "postMerge", method: "post",
            """
            Removes a place that is the same as another one, which gets what it lacks: address, website, names and properties. \
            The response is that one's record.
            """,
            requestBody: Self.body("The place that stays.", "Merger", example: ["into": 84]))
    }

    private func edit(id: String, method: String, _ summary: String, requestBody: JSONValue) -> Operation {
        Operation(
            id: id, method: method, tag: "editing", summary: summary, parameters: Self.editParameters,
            requestBody: requestBody, content: [(MediaType.json, Self.schema("PlaceRecord"))],
            example: Self.exampleRecord, hasTag: false, successHeaders: ["VersionTag", "Poi-Visible"],
            problems: Self.placeProblems + Self.bodyProblems + [428], key: .editing, isLimited: false)
    }

    var versions: Operation {
        Operation(
            id: "getVersions", tag: "editing",
            summary: "What has changed a place, the newest first; also of removed and merged places.",
            parameters: [Self.placeIDParameter] + Self.pageParameters,
            content: [(MediaType.json, ["type": "array", "items": Self.schema("PlaceVersion")])],
            example: [Self.exampleVersion], hasTag: false, successHeaders: ["VersionsLink"],
            problems: Self.editingProblems + [404], key: .editing, isLimited: false)
    }

    var changes: Operation {
        Operation(
            id: "getChanges", tag: "editing",
            summary: """
                The newest changes that people have made, not imports; also of removed and merged places.
                """,
            parameters: [
                Self.query(
                    "bbox",
                    """
                    Only changes of places that were in this box before or are there now; everywhere without it: west, south, \
                    east and north, as with `GET /locations`.
                    """, Self.box)
            ] + Self.pageParameters,
            content: [(MediaType.json, ["type": "array", "items": Self.schema("RecentChange")])],
            example: [
                Self.exampleVersion.with([
                    ("id", 12), ("name", "Test Café"), ("latitude", 37.3293), ("longitude", -121.8893),
                ])
            ], hasTag: false, successHeaders: ["ChangesLink"], problems: Self.editingProblems, key: .editing,
            isLimited: false)
    }
}

// MARK: - Parts of requests

extension OpenAPIDocument {
    private static let editParameters = [placeIDParameter, ifMatch(isRequired: true), idempotencyKey]

    private static let idempotencyKey: JSONValue = [
        "name": "Idempotency-Key", "in": "header", "required": false,
        "description": """
        Makes it safe to send the request again for 24 hours: the same editor's same key gets the same result, and nothing is \
        done twice. 1 to 255 visible characters, perhaps in quotes; such as a UUID.
        """,
        "schema": ["type": "string", "pattern": "^[!-~]{1,257}$"],
    ]

    private static let pageParameters: [JSONValue] = [
        query(
            "limit", "The maximum number of changes.",
            integer(VersionsRequest.limits, default: VersionsRequest.defaultLimit)),
        query(
            "before", "Where the page begins, from the `Link` header of the page before.",
            ["type": "integer", "format": "int64", "minimum": 0]),
    ]

    private static func ifMatch(isRequired: Bool) -> JSONValue {
        [
            "name": "If-Match", "in": "header", "required": .boolean(isRequired),
            "description": """
            The `ETag` of the record that was seen, or several; `*` is any (RFC 9110, section 13.1.1). For a removed place, that \
            of the version that its removal ended, the newest of its versions.
            """,
            "schema": ["type": "string"], "example": #""5217412066101903""#,
        ]
    }

    private static func body(
        _ description: String, _ schema: String, type: String = MediaType.json, example: JSONValue
    ) -> JSONValue {
        [
            "required": true,
            "description": .string("\(description) At most \(EditLimits.bodyBytes) bytes."),
            "content": .object([
                (type, .object([("schema", Self.schema(schema)), ("example", example)]))
            ]),
        ]
    }

    private static let exampleRecord: JSONValue = [
        "id": 12, "version": 5_217_412_066_101_904, "updatedAt": "2026-12-01T09:30:00Z", "name": "Test Café",
        "category": "cafe", "latitude": 37.3293, "longitude": -121.8893, "address": .null, "website": .null,
        "operatingStatus": .null, "featured": false, "importance": 0, "names": ["ja": "テストカフェ"],
        "otherNames": [], "properties": ["phone": "+1 408 555 0100"],
        "source": ["dataset": "cafes", "id": "c-12", "license": "CC0-1.0"],
        "sourceValues": ["name": "Test Cafe", "properties.phone": .null], "import": 3,
    ]

    private static let exampleVersion: JSONValue = [
        "version": 5_217_412_066_101_903, "changedAt": "2026-12-01T09:30:00Z",
        "who": "Ada Lovelace (poi_edit)", "isRemoval": false,
        "changes": [
            "name": ["before": "Test Cafe", "after": "Test Café"],
            "source of name": ["after": "Test Cafe"],
        ],
    ]
}

// MARK: - Headers

extension OpenAPIDocument {
    /// An entity tag of a place's version, a strong one.
    static let versionTag = #"^"[0-9]+"$"#

    /// The names of headers that have another description in responses to other operations.
    static let editingHeaderNames = [
        "VersionTag": "ETag", "CurrentVersionTag": "ETag", "NewLocation": "Location", "VersionsLink": "Link",
        "ChangesLink": "Link",
    ]

    static let editingHeaders: [(String, JSONValue)] = [
        (
            "VersionTag",
            header(
                "The tag of the place's version, a strong one, for `If-Match`.", pattern: versionTag,
                isRequired: true)
        ),
        (
            "NewLocation",
            header(
                "The new place, relative to this request's URL.", pattern: "^locations/[1-9][0-9]*$",
                isRequired: true)
        ),
        (
            "VersionsLink",
            header(
                """
                The next page, `<versions?…>; rel="next"` (RFC 8288), relative to this request's URL. Present if older changes \
                follow.
                """, pattern: #"^<versions\?[^>]+>; rel=("next"|next)$"#)
        ),
        (
            "ChangesLink",
            header(
                """
                The next page, `<?…>; rel="next"` (RFC 8288): a query to resolve against this request's URL. Present if there may \
                be older changes, also where this page has few or none: a page looks at 10,000 changes at most.
                """, pattern: #"^<\?[^>]+>; rel=("next"|next)$"#)
        ),
        (
            "Accept-Patch",
            header(
                "The media type of patches (RFC 5789, section 3.1).",
                pattern: "^application/merge-patch\\+json$",
                isRequired: true)
        ),
        (
            "Poi-Visible",
            header(
                """
                `no` where the server that responds doesn't serve the edit yet; the edit is stored all the same.
                """, pattern: "^no$")
        ),
    ]
}

// MARK: - Schemas

extension OpenAPIDocument {
    var editingSchemas: [(String, JSONValue)] {
        let required = ["name", "category", "latitude", "longitude"]
        let draft = editableMembers(isPatch: false)
        return [
            (
                "PlaceRecord",
                Self.object(
                    required: Self.recordMembers(category: Self.category) + Self.readOnlyMembers,
                    """
                    A place as its editors see it. Members that are read-only may be in a patch if they are as they are here.
                    """)
            ),
            (
                "PlaceDraft",
                Self.object(
                    required: draft.filter { required.contains($0.0) },
                    optional: draft.filter { !required.contains($0.0) } + [
                        (
                            "dataset",
                            [
                                "type": "string", "maxLength": 100,
                                "pattern": .string("^\(EditLimits.dataset)(-[a-z0-9-]+)?$"),
                                "description": .string(
                                    "The dataset that the place is of, `\(EditLimits.dataset)` without it."),
                            ]
                        )
                    ], "A place that is to be made."
                ).with([("additionalProperties", false)])
            ),
            (
                "PlacePatch",
                Self.object(
                    required: [],
                    optional: editableMembers(isPatch: true) + Self.readOnlyMembers + [
                        (
                            "reset",
                            [
                                "type": "array", "maxItems": .integer(EditLimits.names),
                                "items": Self.text,
                                "description": """
                                Members that are to show again what the source says, by their names, such as `name` and \
                                `properties.phone`; `names` and `properties` are all of these, `*` is everything.
                                """,
                            ]
                        )
                    ], "What is to change of a place (RFC 7396)."
                ).with([("additionalProperties", false)])
            ),
            ("Restoration", Self.oneMember("version", Self.version, "A version of a place.")),
            ("Merger", Self.oneMember("into", Self.placeID, "The place into which another one is merged.")),
            ("PlaceVersion", Self.placeVersion),
            (
                "RecentChange",
                Self.object(
                    required: [
                        ("id", Self.placeID), ("name", ["type": "string"]), ("latitude", Self.latitude),
                        ("longitude", Self.longitude),
                    ] + Self.versionMembers,
                    "A change, with its place's name and position now, or before it where the place is gone.")
            ),
        ]
    }

    private static func oneMember(_ name: String, _ schema: JSONValue, _ description: String) -> JSONValue {
        object(required: [(name, schema)], description).with([("additionalProperties", false)])
    }

    private static let placeVersion = object(required: versionMembers, "A change of a place.")

    private static let versionMembers: [(String, JSONValue)] = [
        (
            "version",
            version.with([
                ("description", "The place's version before the change, which can be restored.")
            ])
        ),
        ("changedAt", time),
        (
            "who",
            [
                "type": "string",
                "description": "The editor, the import or the role of the database that changed it.",
            ]
        ),
        (
            "isRemoval",
            [
                "type": "boolean",
                "description": "Whether the place was removed, or merged into another one.",
            ]
        ),
        (
            "changes",
            [
                "type": "object",
                "additionalProperties": object(
                    required: [], optional: [("before", [:]), ("after", [:])]),
                "description": """
                The members that were changed, by their names such as `properties.phone`, before and afterwards, where they \
                had a value; `source of name` is what the source says below a correction.
                """,
            ]
        ),
    ]

    private static let readOnlyMembers: [(String, JSONValue)] = [
        ("id", placeID), ("version", version), ("updatedAt", time),
        (
            "source",
            [
                "anyOf": [schema("Source"), ["type": "null"]],
                "description": "Where the data come from; null for a place without a dataset.",
            ]
        ),
        (
            "sourceValues",
            [
                "type": "object",
                "description": """
                What the source says of the members that are corrected, by their names such as `properties.phone`; null where it \
                says nothing.
                """,
            ]
        ),
        (
            "import",
            [
                "type": ["integer", "null"], "minimum": 1,
                "description": "The import that wrote the place last, where known.",
            ]
        ),
    ].map { name, schema in (name, schema.with([("readOnly", true)])) }

    /// A request's members, which may also be null where a place may have no value, and in a patch more of them.
    private func editableMembers(isPatch: Bool) -> [(String, JSONValue)] {
        let names = vocabulary.categories.sortedNames
        let category: JSONValue =
            names.isEmpty ? Self.category : ["type": "string", "enum": .strings(names)]
        let orNull = ["featured", "importance", "names", "otherNames", "properties"]
        return Self.recordMembers(category: category, nameValue: isPatch ? Self.optionalName : Self.name).map
        {
            name, schema in
            orNull.contains(name) ? (name, ["anyOf": [schema, ["type": "null"]]]) : (name, schema)
        }
    }

    private static let name: JSONValue = [
        "type": "string", "minLength": 1, "maxLength": .integer(EditLimits.nameLength),
    ]
    private static let optionalName: JSONValue = name.with([("type", ["string", "null"])])

    /// What people may change of a place.
    ///
    /// - Parameters:
    ///   - category: the schema of categories.
    ///   - nameValue: that of a name in a language.
    private static func recordMembers(
        category: JSONValue, nameValue: JSONValue = name
    ) -> [(String, JSONValue)] {
        [
            ("name", name), ("category", category), ("latitude", latitude), ("longitude", longitude),
            (
                "address",
                [
                    "type": ["string", "null"], "minLength": 1,
                    "maxLength": .integer(EditLimits.addressLength),
                ]
            ),
            (
                "website",
                [
                    "type": ["string", "null"], "pattern": "^https?://[^/]",
                    "maxLength": .integer(TableCheck.maximumWebsiteLength),
                ]
            ),
            (
                "operatingStatus",
                ["enum": ["temporarilyClosed", "permanentlyClosed", .null]]
            ),
            ("featured", ["type": "boolean"]), ("importance", integer(0...1000)),
            (
                "names",
                [
                    "type": "object", "maxProperties": .integer(EditLimits.names),
                    "additionalProperties": nameValue, "description": "Names by their languages (BCP 47).",
                ]
            ),
            (
                "otherNames",
                [
                    "type": "array", "maxItems": .integer(EditLimits.names), "items": name,
                    "description": "Names that the place is also found by, and that are never shown.",
                ]
            ),
            (
                "properties",
                [
                    "type": "object", "maxProperties": .integer(EditLimits.names),
                    "description": .string(
                        """
                        What else is known of the place: at most \(EditLimits.propertiesBytes) bytes of JSON, of at most three \
                        levels.
                        """),
                ]
            ),
        ]
    }
}
