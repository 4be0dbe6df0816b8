import PointsOfInterestAPI

extension OpenAPIDocument {
    /// `POST /events`.
    var events: Operation {
        Operation(
            id: "postEvents", tag: "events",
            summary: "Takes a batch of tracking events, and answers once they are stored for good.",
            requestBody: [
                "required": true,
                "description": .string(
                    """
                    At most \(EventLimits.events) events and \(EventLimits.bodyBytes) bytes, as they are or by gzip \
                    (`Content-Encoding: gzip`), where the bytes count decompressed. All of it is taken or, where an \
                    event has a fault, none. Sending a batch again is harmless.
                    """),
                "content": [
                    MediaType.json: [
                        "schema": [
                            "type": "array", "maxItems": .integer(EventLimits.events),
                            "items": Self.schema("TrackedEvent"),
                        ]
                    ]
                ],
            ],
            content: [(MediaType.json, Self.schema("EventsResponse"))],
            hasTag: false, problems: [406, 415, 422], key: .events)
    }

    /// What events are made of.
    var eventSchemas: [(String, JSONValue)] {
        [
            ("TrackedEvent", trackedEvent),
            (
                "EventsResponse",
                Self.object(
                    required: [("accepted", Self.count), ("duplicates", Self.count)],
                    "How many events were new, and how many were there before.")
            ),
            ("EventFault", Self.eventFault),
        ]
    }

    private static let count: JSONValue = ["type": "integer", "minimum": 0]
    /// PostgreSQL keeps no NUL.
    private static let storableText = #"^[^\u0000]*$"#

    /// Not every program looks at a `format`.
    private static let uuid = "^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$"

    private static let eventFault = object(
        required: [
            ("index", count), ("code", ["type": "string"]), ("detail", ["type": "string"]),
        ],
        optional: [("parameter", ["type": "string"])],
        "A fault of one event of a batch: which event, from 0, and what is wrong with which of its members.")

    private var trackedEvent: JSONValue {
        Self.object(
            required: [
                ("user_id", Self.text(bytes: EventLimits.userIDBytes)),
                ("time", Self.range(EventLimits.times)),
                ("event", ["anyOf": .array(catalog.definitions.map(Self.content) + [unknownContent])]),
            ],
            optional: [
                ("id", ["type": ["string", "null"], "format": "uuid", "pattern": .string(Self.uuid)]),
                ("test", ["type": ["boolean", "null"]]),
            ],
            """
            An event: who did what, and when by the phone's clock, in seconds since 1970. Its id makes sending it \
            twice harmless; one that a test sent is left out of what is reported.
            """)
    }

    private static func content(_ definition: EventDefinition) -> JSONValue {
        let parameters = definition.parameters
        var value: [(String, JSONValue)] = [
            ("type", parameters.contains(where: \.isRequired) ? "object" : nullableObject)
        ]
        value.append(("maxProperties", .integer(EventLimits.members)))
        let required = parameters.filter(\.isRequired).map(\.name)
        if !required.isEmpty { value.append(("required", .strings(required))) }
        value.append(("properties", .object(parameters.map { ($0.name, schema(of: $0)) })))
        if !definition.allowsOthers { value.append(("additionalProperties", false)) }
        let members: [(String, JSONValue)] = [
            ("name", ["const": .string(definition.name)]), ("value", .object(value)),
        ]
        return object(
            required: required.isEmpty ? [members[0]] : members,
            optional: required.isEmpty ? [members[1]] : [],
            definition.description)
    }

    /// An event of a newer app.
    private var unknownContent: JSONValue {
        let known: JSONValue = ["enum": .strings(catalog.definitions.map(\.name))]
        return Self.object(
            required: [("name", Self.text(bytes: EventLimits.nameBytes).with([("not", known)]))],
            optional: [
                ("value", ["type": Self.nullableObject, "maxProperties": .integer(EventLimits.members)])
            ], "An event that this service doesn't know, from a newer app: it is kept as it is.")
    }

    private static let nullableObject: JSONValue = ["object", "null"]

    private static func schema(of parameter: EventParameter) -> JSONValue {
        let described: [(String, JSONValue)] = [("description", .string(parameter.description))]
        let schema: JSONValue =
            switch parameter.kind {
            case .text(let length), .openChoice(_, let length):
                [
                    "type": type("string", of: parameter), "minLength": .integer(length.lowerBound),
                    "maxLength": .integer(length.upperBound), "pattern": .string(storableText),
                ]
            case .choice(let choices):
                // Null is one more choice where there need be none.
                ["enum": .array(choices.map { .string($0) } + (parameter.isRequired ? [] : [.null]))]
            case .integer(let range):
                integer(in: range).with([("type", type("integer", of: parameter))])
            case .number(let range):
                Self.range(range).with([("type", type("number", of: parameter))])
            case .boolean: ["type": type("boolean", of: parameter)]
            }
        return schema.with(described)
    }

    /// Bounds beyond what a double can count are none that JSON could keep to (RFC 8259, section 6).
    private static func integer(in range: ClosedRange<Int>) -> JSONValue {
        let countable = -1 << 53...1 << 53
        var bounds: [(String, JSONValue)] = []
        if countable.contains(range.lowerBound) { bounds.append(("minimum", .integer(range.lowerBound))) }
        if countable.contains(range.upperBound) { bounds.append(("maximum", .integer(range.upperBound))) }
        return .object(bounds)
    }

    private static func type(_ name: String, of parameter: EventParameter) -> JSONValue {
        parameter.isRequired ? .string(name) : .strings([name, "null"])
    }

    /// A text of so many bytes of UTF-8 at most: JSON Schema counts characters.
    private static func text(bytes: Int) -> JSONValue {
        [
            "type": "string", "minLength": 1, "maxLength": .integer(bytes), "pattern": .string(storableText),
            "description": .string("At most \(bytes) bytes of UTF-8."),
        ]
    }
}
