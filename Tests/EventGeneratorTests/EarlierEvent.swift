// Made by generate-events from the definitions in Tests/EventGeneratorTests/Definitions/Earlier. Changes belong there.
// swift-format-ignore-file

import PointsOfInterestAPI

/// The events that are defined in `Tests/EventGeneratorTests/Definitions/Earlier`.
/// Later versions may have more cases, and more optional parameters.
nonisolated enum EarlierEvent: TrackableEvent {
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

nonisolated extension EarlierEvent {
    /// Reads an event; one that no case holds as it is becomes `other`.
    init(_ content: EventContent) {
        let known = Self.known(content)
        self = known?.content == content ? known ?? .other(content) : .other(content)
    }

    private static func known(_ content: EventContent) -> EarlierEvent? {
        let value = content.value
        switch content.name {
        case "class": return .`class`
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
                note: value["note"]?.text)
        case "quoted":
            return .quoted(self: value["self"]?.text)
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
                present: ["kind": .string(parameters.kind.rawValue), "item_count": .integer(parameters.itemCount), "value": .string(parameters.value), "is-gift": .boolean(parameters.isGift), "note": parameters.note.map(JSONValue.string)])
        case .quoted(let parameters):
            EventContent(name: "quoted", present: ["self": parameters.`self`.map(JSONValue.string)])
        case .other(let content): content
        }
    }
}

nonisolated extension EarlierEvent {
    /// What order-placed is.
    ///
    /// - Parameters:
    ///   - kind: A string.
    ///   - itemCount: A integer.
    ///   - value: A string.
    ///   - isGift: A boolean.
    ///   - note: A string.
    static func orderPlaced(
        kind: OrderPlacedKind,
        itemCount: Int,
        value: String,
        isGift: Bool,
        note: String? = nil) -> EarlierEvent {
        .orderPlaced(OrderPlacedParameters(
            kind: kind,
            itemCount: itemCount,
            value: value,
            isGift: isGift,
            note: note))
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
        var note: String?

        /// Makes the parameters.
        ///
        /// - Parameters:
        ///   - kind: A string.
        ///   - itemCount: A integer.
        ///   - value: A string.
        ///   - isGift: A boolean.
        ///   - note: A string.
        init(kind: OrderPlacedKind, itemCount: Int, value: String, isGift: Bool, note: String? = nil) {
            self.kind = kind
            self.itemCount = itemCount
            self.value = value
            self.isGift = isGift
            self.note = note
        }
    }
}

nonisolated extension EarlierEvent {
    /// A "quoted" | text with a \ and <b>é</b>, and with so many words that the comment of its case has to be
    /// broken into lines.
    static var quoted: EarlierEvent { .quoted(QuotedParameters()) }

    /// A "quoted" | text with a \ and <b>é</b>, and with so many words that the comment of its case has to be
    /// broken into lines.
    ///
    /// - Parameters:
    ///   - self: A string.
    static func quoted(self selfValue: String? = nil) -> EarlierEvent {
        .quoted(QuotedParameters(self: selfValue))
    }

    /// The parameters of `quoted`.
    nonisolated struct QuotedParameters: Hashable, Sendable {
        /// A string.
        var `self`: String?

        /// Makes the parameters.
        ///
        /// - Parameters:
        ///   - self: A string.
        init(self selfValue: String? = nil) {
            self.`self` = selfValue
        }
    }
}

nonisolated extension EarlierEvent {
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
