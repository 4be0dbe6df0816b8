import PointsOfInterestServerAPI
import HTTPServer
import PointsOfInterestAPI

extension OpenAPIDocument {
    var events: Operation {
        Operation(
            id: "postEvents", method: "post", tag: "events",
            summary: "Stores a batch of tracking events; the response means that they are durable.",
            requestBody: [
                "required": true,
                "description": .string(
                    """
                    At most \(EventLimits.events) events and \(EventLimits.bodyBytes) bytes, which may be compressed by \
                    gzip (`Content-Encoding: gzip`); the limit is for the decompressed bytes, of which there may be \
                    \(RequestDecompression.maximumRatio) for each that was sent. If an event has a fault, none is \
                    stored. It is safe to send a batch again.
                    """),
                "content": [
                    MediaType.json: [
                        "schema": [
                            "type": "array", "maxItems": .integer(EventLimits.events),
                            "items": Self.schema("TrackedEvent"),
                        ]
                    ]
                ],
            ], content: [(MediaType.json, Self.schema("EventsResponse"))], hasTag: false,
            problems: [406, 415, 422], key: .events)
    }

    var eventSchemas: [(String, JSONValue)] {
        [
            ("TrackedEvent", trackedEvent),
            (
                "EventsResponse",
                Self.object(
                    required: [("accepted", Self.count), ("duplicates", Self.count)],
                    "The numbers of new events, and of events that had been stored before.")
            ),
            ("EventFault", Self.eventFault),
        ]
    }

    private static let count: JSONValue = ["type": "integer", "minimum": 0]
    /// PostgreSQL can't store a NUL.
    private static let storableText = #"^[^\u0000]*$"#

    /// A pattern besides the `format`, which not every program checks.
    private static let uuid =
        "^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-79A-Fa-f][0-9A-Fa-f]{3}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$"

    private static let eventFault = object(
        required: [("index", count), ("code", ["type": "string"]), ("detail", ["type": "string"])],
        optional: [("parameter", ["type": "string"])],
        "A fault of one event of a batch: the event's index, from 0, its member, and what is wrong with it.")

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
            An event: who did what, and when, in seconds since 1970 by the phone's clock. The id identifies an event \
            that is sent again. Reports leave out events of tests.
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
            optional: required.isEmpty ? [members[1]] : [], definition.description)
    }

    /// An event from a newer app.
    private var unknownContent: JSONValue {
        let known: JSONValue = ["enum": .strings(catalog.definitions.map(\.name))]
        return Self.object(
            required: [("name", Self.text(bytes: EventLimits.nameBytes).with([("not", known)]))],
            optional: [
                ("value", ["type": Self.nullableObject, "maxProperties": .integer(EventLimits.members)])
            ], "An event that this server has no definition of, from a newer app. It is stored as it is.")
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
                // An optional parameter may also be null.
                ["enum": .array(choices.map { .string($0) } + (parameter.isRequired ? [] : [.null]))]
            case .integer(let range):
                integer(in: range).with([("type", type("integer", of: parameter))])
            case .number(let range):
                Self.range(range).with([("type", type("number", of: parameter))])
            case .boolean: ["type": type("boolean", of: parameter)]
            }
        return schema.with(described)
    }

    /// Leaves out bounds beyond the integers that a double represents exactly: JSON numbers can't be relied on to be
    /// exact there (RFC 8259, section 6).
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

    /// A text with a maximum number of bytes of UTF-8. JSON Schema can only limit characters.
    private static func text(bytes: Int) -> JSONValue {
        [
            "type": "string", "minLength": 1, "maxLength": .integer(bytes), "pattern": .string(storableText),
            "description": .string("At most \(bytes) bytes of UTF-8."),
        ]
    }
}
