// Made by generate-events from the definitions in Tests/EventGeneratorTests/Definitions. Changes belong there.
// swift-format-ignore-file

import PointsOfInterestAPI

/// The events that are defined in `Tests/EventGeneratorTests/Definitions`.
enum ExampleEvent: TrackableEvent {
    /// What class is.
    case `class`
    /// What order-placed is.
    ///
    /// - Parameters:
    ///   - kind: A string.
    ///   - itemCount: A integer.
    ///   - value: A string.
    ///   - default: A string.
    ///   - isGift: A boolean.
    ///   - level: A integer.
    ///   - note: A string.
    ///   - price: A number.
    ///   - score: A number.
    case orderPlaced(
        kind: OrderPlacedKind,
        itemCount: Int,
        value: String,
        default: OrderPlacedDefault? = nil,
        isGift: Bool? = nil,
        level: Int? = nil,
        note: String? = nil,
        price: Double? = nil,
        score: Double? = nil)
    /// A "quoted" | text with a \ and <b>é</b>, and with so many words that the comment of its case has to be
    /// broken into lines.
    ///
    /// - Parameters:
    ///   - on: A boolean.
    case quoted(on: Bool)
    /// Any other event: one whose name isn't here, or whose values no case can hold.
    case other(EventContent)
}

extension ExampleEvent {
    /// Reads an event; one that no case holds as it is becomes `other`.
    init(_ content: EventContent) {
        let known = Self.known(content)
        self = known?.content == content ? known ?? .other(content) : .other(content)
    }

    private static func known(_ content: EventContent) -> ExampleEvent? {
        let value = content.value
        switch content.name {
        case "class": return .`class`
        case "order-placed":
            guard let kind = value["kind"]?.text.flatMap(OrderPlacedKind.init(rawValue:)),
                let itemCount = value["item_count"]?.wholeNumber,
                let valueValue = value["value"]?.text
            else { return nil }
            return .orderPlaced(
                kind: kind,
                itemCount: itemCount,
                value: valueValue,
                default: value["default"]?.text.map(OrderPlacedDefault.init(rawValue:)),
                isGift: value["is-gift"]?.flag,
                level: value["level"]?.wholeNumber,
                note: value["note"]?.text,
                price: value["price"]?.decimal,
                score: value["score"]?.decimal)
        case "quoted":
            guard let on = value["on"]?.flag else { return nil }
            return .quoted(on: on)
        default: return nil
        }
    }

    /// The name and the values, as they are sent.
    var content: EventContent {
        switch self {
        case .`class`: EventContent(name: "class")
        case .orderPlaced(let kind, let itemCount, let valueValue, let `default`, let isGift, let level, let note, let price, let score):
            EventContent(
                name: "order-placed",
                present: ["kind": .string(kind.rawValue), "item_count": .integer(itemCount), "value": .string(valueValue), "default": (`default`?.rawValue).map(EventValue.string), "is-gift": isGift.map(EventValue.boolean), "level": level.map(EventValue.integer), "note": note.map(EventValue.string), "price": price.map(EventValue.number), "score": score.map(EventValue.number)])
        case .quoted(let on):
            EventContent(name: "quoted", present: ["on": .boolean(on)])
        case .other(let content): content
        }
    }
}

extension ExampleEvent {
    /// A string.
    enum OrderPlacedKind: String, Hashable, Sendable, CaseIterable {
        /// `in-store`.
        case inStore = "in-store"
        /// `self`.
        case `self` = "self"
        /// `URL scheme`.
        case urlScheme = "URL scheme"
    }
}

extension ExampleEvent {
    /// A string.
    struct OrderPlacedDefault: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
        /// The value as it is sent.
        let rawValue: String

        /// Makes a value of any text, listed or not.
        init(rawValue: String) { self.rawValue = rawValue }

        /// Makes a value of any text, listed or not.
        init(stringLiteral rawValue: String) { self.rawValue = rawValue }

        /// `a`.
        static let a: OrderPlacedDefault = "a"
        /// `case`.
        static let `case`: OrderPlacedDefault = "case"
    }
}

extension ExampleEvent {
    /// What each event is, and what its values may be.
    static let definitions: [EventDefinition] = [
        EventDefinition(
            name: "class",
            description: "What class is.",
            allowsOthers: true),
        EventDefinition(
            name: "order-placed",
            description: "What order-placed is.",
            parameters: [
                EventParameter(
                    name: "kind",
                    description: "A string.",
                    kind: .choice(["in-store", "self", "URL scheme"]),
                    isRequired: true),
                EventParameter(
                    name: "item_count",
                    description: "A integer.",
                    kind: .integer(1...99),
                    isRequired: true),
                EventParameter(
                    name: "value",
                    description: "A string.",
                    kind: .text(length: 0...8192),
                    isRequired: true),
                EventParameter(
                    name: "default",
                    description: "A string.",
                    kind: .openChoice(["a", "case"], length: 0...10),
                    isRequired: false),
                EventParameter(
                    name: "is-gift",
                    description: "A boolean.",
                    kind: .boolean,
                    isRequired: false),
                EventParameter(
                    name: "level",
                    description: "A integer.",
                    kind: .integer(Int.min...0),
                    isRequired: false),
                EventParameter(
                    name: "note",
                    description: "A string.",
                    kind: .text(length: 1...8192),
                    isRequired: false),
                EventParameter(
                    name: "price",
                    description: "A number.",
                    kind: .number(0.0...Double.greatestFiniteMagnitude),
                    isRequired: false),
                EventParameter(
                    name: "score",
                    description: "A number.",
                    kind: .number(-1.5...1.5),
                    isRequired: false),
            ],
            allowsOthers: false),
        EventDefinition(
            name: "quoted",
            description: "A \"quoted\" | text with a \\ and <b>é</b>, and with so many words that the comment of its case has to be broken into lines.",
            parameters: [
                EventParameter(
                    name: "on",
                    description: "A boolean.",
                    kind: .boolean,
                    isRequired: true),
            ],
            allowsOthers: true),
    ]
}
