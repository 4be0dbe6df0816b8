// Made by generate-events from the definitions in Tests/EventGeneratorTests/Definitions. Changes belong there.
// swift-format-ignore-file

import PointsOfInterestAPI

/// The events that are defined in `Tests/EventGeneratorTests/Definitions`.
/// Later versions may have more cases, and more optional parameters.
enum ExampleEvent: TrackableEvent {
    /// What class is.
    case `class`
    /// What order-placed is.
    case orderPlaced(OrderPlacedParameters)
    /// A "quoted" | text with a \ and <b>é</b>, and with so many words that the comment of its case has to be
    /// broken into lines.
    case quoted(QuotedParameters)
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
            return .quoted(on: on, self: value["self"]?.text)
        default: return nil
        }
    }

    /// The name and the values, as they are sent.
    var content: EventContent {
        switch self {
        case .`class`: EventContent(name: "class")
        case .orderPlaced(let parameters):
            EventContent(
                name: "order-placed",
                present: ["kind": .string(parameters.kind.rawValue), "item_count": .integer(parameters.itemCount), "value": .string(parameters.value), "default": (parameters.`default`?.rawValue).map(JSONValue.string), "is-gift": parameters.isGift.map(JSONValue.boolean), "level": parameters.level.map(JSONValue.integer), "note": parameters.note.map(JSONValue.string), "price": parameters.price.map(JSONValue.number), "score": parameters.score.map(JSONValue.number)])
        case .quoted(let parameters):
            EventContent(
                name: "quoted",
                present: ["on": .boolean(parameters.on), "self": parameters.`self`.map(JSONValue.string)])
        case .other(let content): content
        }
    }
}

extension ExampleEvent {
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
    static func orderPlaced(
        kind: OrderPlacedKind,
        itemCount: Int,
        value: String,
        `default`: OrderPlacedDefault? = nil,
        isGift: Bool? = nil,
        level: Int? = nil,
        note: String? = nil,
        price: Double? = nil,
        score: Double? = nil) -> ExampleEvent {
        .orderPlaced(OrderPlacedParameters(
            kind: kind,
            itemCount: itemCount,
            value: value,
            default: `default`,
            isGift: isGift,
            level: level,
            note: note,
            price: price,
            score: score))
    }

    /// The parameters of `order-placed`.
    struct OrderPlacedParameters: Hashable, Sendable {
        /// A string.
        var kind: OrderPlacedKind
        /// A integer.
        var itemCount: Int
        /// A string.
        var value: String
        /// A string.
        var `default`: OrderPlacedDefault?
        /// A boolean.
        var isGift: Bool?
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
        ///   - default: A string.
        ///   - isGift: A boolean.
        ///   - level: A integer.
        ///   - note: A string.
        ///   - price: A number.
        ///   - score: A number.
        init(
            kind: OrderPlacedKind,
            itemCount: Int,
            value: String,
            `default`: OrderPlacedDefault? = nil,
            isGift: Bool? = nil,
            level: Int? = nil,
            note: String? = nil,
            price: Double? = nil,
            score: Double? = nil) {
            self.kind = kind
            self.itemCount = itemCount
            self.value = value
            self.`default` = `default`
            self.isGift = isGift
            self.level = level
            self.note = note
            self.price = price
            self.score = score
        }
    }
}

extension ExampleEvent {
    /// A "quoted" | text with a \ and <b>é</b>, and with so many words that the comment of its case has to be
    /// broken into lines.
    ///
    /// - Parameters:
    ///   - on: A boolean.
    ///   - self: A string.
    static func quoted(on: Bool, self selfValue: String? = nil) -> ExampleEvent {
        .quoted(QuotedParameters(on: on, self: selfValue))
    }

    /// The parameters of `quoted`.
    struct QuotedParameters: Hashable, Sendable {
        /// A boolean.
        var on: Bool
        /// A string.
        var `self`: String?

        /// Makes the parameters.
        ///
        /// - Parameters:
        ///   - on: A boolean.
        ///   - self: A string.
        init(on: Bool, self selfValue: String? = nil) {
            self.on = on
            self.`self` = selfValue
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
