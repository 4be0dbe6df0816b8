// Made by generate-events from the definitions in Tests/EventGeneratorTests/Definitions. Changes belong there.
// swift-format-ignore-file

import PointsOfInterestAPI

/// The events that are defined in `Tests/EventGeneratorTests/Definitions`.
/// Later versions may have more cases.
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
                present: ["kind": .string(kind.rawValue), "item_count": .integer(itemCount), "value": .string(valueValue), "default": (`default`?.rawValue).map(JSONValue.string), "is-gift": isGift.map(JSONValue.boolean), "level": level.map(JSONValue.integer), "note": note.map(JSONValue.string), "price": price.map(JSONValue.number), "score": score.map(JSONValue.number)])
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
