// Made by generate-events from the definitions in Tests/EventGeneratorTests/Definitions. Changes belong there.
// swift-format-ignore-file

import PointsOfInterestAPI

/// The events that are defined in `Tests/EventGeneratorTests/Definitions`.
/// Later versions may have more cases, and more optional parameters.
nonisolated enum ExampleEvent: TrackableEvent {
    /// What class is.
    case `class`(ClassParameters)
    /// What order-placed is.
    case orderPlaced(OrderPlacedParameters)
    /// A "quoted" | text with a \ and <b>é</b>, and with so many words that the comment of its case has to be
    /// broken into lines.
    case quoted(QuotedParameters)
    /// Any other event: one whose name isn't here, or whose values no case can hold.
    case other(EventContent)
}

nonisolated extension ExampleEvent {
    /// Reads an event; one that no case holds as it is becomes `other`.
    init(_ content: EventContent) {
        let known = Self.known(content)
        self = known?.content == content ? known ?? .other(content) : .other(content)
    }

    private static func known(_ content: EventContent) -> ExampleEvent? {
        let value = content.value
        switch content.name {
        case "class":
            return .`class`(source: value["source"]?.text.map(ClassSource.init(rawValue:)))
        case "order-placed":
            guard let kind = value["kind"]?.text.flatMap(OrderPlacedKind.init(rawValue:)),
                let itemCount = value["item_count"]?.wholeNumber,
                let valueValue = value["value"]?.text,
                let isGift = value["is-gift"]?.flag
            else { return nil }
            return .orderPlaced(
                kind: kind,
                itemCount: itemCount,
                value: valueValue,
                isGift: isGift,
                default: value["default"]?.text.map(OrderPlacedDefault.init(rawValue:)),
                level: value["level"]?.wholeNumber,
                note: value["note"]?.text,
                price: value["price"]?.decimal,
                score: value["score"]?.decimal)
        case "quoted":
            return .quoted(on: value["on"]?.flag, self: value["self"]?.text)
        default: return nil
        }
    }

    /// The name and the values, as they are sent.
    var content: EventContent {
        switch self {
        case .`class`(let parameters):
            EventContent(
                name: "class",
                present: ["source": (parameters.source?.rawValue).map(JSONValue.string)])
        case .orderPlaced(let parameters):
            EventContent(
                name: "order-placed",
                present: ["kind": .string(parameters.kind.rawValue), "item_count": .integer(parameters.itemCount), "value": .string(parameters.value), "is-gift": .boolean(parameters.isGift), "default": (parameters.`default`?.rawValue).map(JSONValue.string), "level": parameters.level.map(JSONValue.integer), "note": parameters.note.map(JSONValue.string), "price": parameters.price.map(JSONValue.number), "score": parameters.score.map(JSONValue.number)])
        case .quoted(let parameters):
            EventContent(
                name: "quoted",
                present: ["on": parameters.on.map(JSONValue.boolean), "self": parameters.`self`.map(JSONValue.string)])
        case .other(let content): content
        }
    }
}

nonisolated extension ExampleEvent {
    /// What class is.
    static var `class`: ExampleEvent { .`class`(ClassParameters()) }

    /// What class is.
    ///
    /// - Parameters:
    ///   - source: From where.
    static func `class`(source: ClassSource? = nil) -> ExampleEvent {
        .`class`(ClassParameters(source: source))
    }

    /// The parameters of `class`.
    nonisolated struct ClassParameters: Hashable, Sendable {
        /// From where.
        var source: ClassSource?

        /// Makes the parameters.
        ///
        /// - Parameters:
        ///   - source: From where.
        init(source: ClassSource? = nil) {
            self.source = source
        }
    }
}

nonisolated extension ExampleEvent {
    /// What order-placed is.
    ///
    /// - Parameters:
    ///   - kind: A string.
    ///   - itemCount: A integer.
    ///   - value: A string.
    ///   - isGift: A boolean.
    ///   - default: A string.
    ///   - level: A integer.
    ///   - note: A string.
    ///   - price: A number.
    ///   - score: A number.
    static func orderPlaced(
        kind: OrderPlacedKind,
        itemCount: Int,
        value: String,
        isGift: Bool,
        `default`: OrderPlacedDefault? = nil,
        level: Int? = nil,
        note: String? = nil,
        price: Double? = nil,
        score: Double? = nil) -> ExampleEvent {
        .orderPlaced(OrderPlacedParameters(
            kind: kind,
            itemCount: itemCount,
            value: value,
            isGift: isGift,
            default: `default`,
            level: level,
            note: note,
            price: price,
            score: score))
    }

    /// The parameters of `order-placed`.
    nonisolated struct OrderPlacedParameters: Hashable, Sendable {
        /// A string.
        var kind: OrderPlacedKind
        /// A integer.
        var itemCount: Int
        /// A string.
        var value: String
        /// A boolean.
        var isGift: Bool
        /// A string.
        var `default`: OrderPlacedDefault?
        /// A integer.
        var level: Int?
        /// A string.
        var note: String?
        /// A number.
        var price: Double?
        /// A number.
        var score: Double?

        /// Makes the parameters.
        ///
        /// - Parameters:
        ///   - kind: A string.
        ///   - itemCount: A integer.
        ///   - value: A string.
        ///   - isGift: A boolean.
        ///   - default: A string.
        ///   - level: A integer.
        ///   - note: A string.
        ///   - price: A number.
        ///   - score: A number.
        init(
            kind: OrderPlacedKind,
            itemCount: Int,
            value: String,
            isGift: Bool,
            `default`: OrderPlacedDefault? = nil,
            level: Int? = nil,
            note: String? = nil,
            price: Double? = nil,
            score: Double? = nil) {
            self.kind = kind
            self.itemCount = itemCount
            self.value = value
            self.isGift = isGift
            self.`default` = `default`
            self.level = level
            self.note = note
            self.price = price
            self.score = score
        }
    }
}

nonisolated extension ExampleEvent {
    /// A "quoted" | text with a \ and <b>é</b>, and with so many words that the comment of its case has to be
    /// broken into lines.
    static var quoted: ExampleEvent { .quoted(QuotedParameters()) }

    /// A "quoted" | text with a \ and <b>é</b>, and with so many words that the comment of its case has to be
    /// broken into lines.
    ///
    /// - Parameters:
    ///   - on: A boolean.
    ///   - self: A string.
    static func quoted(on: Bool? = nil, self selfValue: String? = nil) -> ExampleEvent {
        .quoted(QuotedParameters(on: on, self: selfValue))
    }

    /// The parameters of `quoted`.
    nonisolated struct QuotedParameters: Hashable, Sendable {
        /// A boolean.
        var on: Bool?
        /// A string.
        var `self`: String?

        /// Makes the parameters.
        ///
        /// - Parameters:
        ///   - on: A boolean.
        ///   - self: A string.
        init(on: Bool? = nil, self selfValue: String? = nil) {
            self.on = on
            self.`self` = selfValue
        }
    }
}

nonisolated extension ExampleEvent {
    /// From where.
    nonisolated struct ClassSource: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
        /// The value as it is sent.
        let rawValue: String

        /// Makes a value of any text, listed or not.
        init(rawValue: String) { self.rawValue = rawValue }

        /// Makes a value of any text, listed or not.
        init(stringLiteral rawValue: String) { self.rawValue = rawValue }

        /// `link`.
        static let link: ClassSource = "link"
        /// `icon`.
        static let icon: ClassSource = "icon"
    }
}

nonisolated extension ExampleEvent {
    /// A string.
    nonisolated enum OrderPlacedKind: String, Hashable, Sendable, CaseIterable {
        /// `in-store`.
        case inStore = "in-store"
        /// `self`.
        case `self` = "self"
        /// `URL scheme`.
        case urlScheme = "URL scheme"
    }
}

nonisolated extension ExampleEvent {
    /// A string.
    nonisolated struct OrderPlacedDefault: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
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
