// Made by generate-events from the definitions in Tests/EventGeneratorTests/Definitions/Later. Changes belong there.
// swift-format-ignore-file

import PointsOfInterestAPI

/// The events that are defined in `Tests/EventGeneratorTests/Definitions/Later`.
/// Later versions may have more cases, and more optional parameters.
enum LaterEvent: TrackableEvent {
    /// The shop was left.
    case left(LeftParameters)
    /// The shop was opened.
    case opened(OpenedParameters)
    /// Something was ordered.
    case ordered(OrderedParameters)
    /// Any other event: one whose name isn't here, or whose values no case can hold.
    case other(EventContent)
}

extension LaterEvent {
    /// Reads an event; one that no case holds as it is becomes `other`.
    init(_ content: EventContent) {
        let known = Self.known(content)
        self = known?.content == content ? known ?? .other(content) : .other(content)
    }

    private static func known(_ content: EventContent) -> LaterEvent? {
        let value = content.value
        switch content.name {
        case "left":
            return .left(emptyHanded: value["empty-handed"]?.flag, seconds: value["seconds"]?.decimal)
        case "opened":
            return .opened(source: value["source"]?.text.map(OpenedSource.init(rawValue:)))
        case "ordered":
            guard let kind = value["kind"]?.text.flatMap(OrderedKind.init(rawValue:)),
                let items = value["items"]?.wholeNumber
            else { return nil }
            return .ordered(
                kind: kind,
                items: items,
                coupon: value["coupon"]?.text,
                note: value["note"]?.text,
                price: value["price"]?.decimal)
        default: return nil
        }
    }

    /// The name and the values, as they are sent.
    var content: EventContent {
        switch self {
        case .left(let parameters):
            EventContent(
                name: "left",
                present: ["empty-handed": parameters.emptyHanded.map(JSONValue.boolean), "seconds": parameters.seconds.map(JSONValue.number)])
        case .opened(let parameters):
            EventContent(
                name: "opened",
                present: ["source": (parameters.source?.rawValue).map(JSONValue.string)])
        case .ordered(let parameters):
            EventContent(
                name: "ordered",
                present: ["kind": .string(parameters.kind.rawValue), "items": .integer(parameters.items), "coupon": parameters.coupon.map(JSONValue.string), "note": parameters.note.map(JSONValue.string), "price": parameters.price.map(JSONValue.number)])
        case .other(let content): content
        }
    }
}

extension LaterEvent {
    /// The shop was left.
    static var left: LaterEvent { .left(LeftParameters()) }

    /// The shop was left.
    ///
    /// - Parameters:
    ///   - emptyHanded: Whether nothing was ordered.
    ///   - seconds: After how long.
    static func left(emptyHanded: Bool? = nil, seconds: Double? = nil) -> LaterEvent {
        .left(LeftParameters(emptyHanded: emptyHanded, seconds: seconds))
    }

    /// The parameters of `left`.
    struct LeftParameters: Hashable, Sendable {
        /// Whether nothing was ordered.
        var emptyHanded: Bool?
        /// After how long.
        var seconds: Double?

        /// Makes the parameters.
        ///
        /// - Parameters:
        ///   - emptyHanded: Whether nothing was ordered.
        ///   - seconds: After how long.
        init(emptyHanded: Bool? = nil, seconds: Double? = nil) {
            self.emptyHanded = emptyHanded
            self.seconds = seconds
        }
    }
}

extension LaterEvent {
    /// The shop was opened.
    static var opened: LaterEvent { .opened(OpenedParameters()) }

    /// The shop was opened.
    ///
    /// - Parameters:
    ///   - source: From where.
    static func opened(source: OpenedSource? = nil) -> LaterEvent {
        .opened(OpenedParameters(source: source))
    }

    /// The parameters of `opened`.
    struct OpenedParameters: Hashable, Sendable {
        /// From where.
        var source: OpenedSource?

        /// Makes the parameters.
        ///
        /// - Parameters:
        ///   - source: From where.
        init(source: OpenedSource? = nil) {
            self.source = source
        }
    }
}

extension LaterEvent {
    /// Something was ordered.
    ///
    /// - Parameters:
    ///   - kind: How it gets there.
    ///   - items: How many items.
    ///   - coupon: The coupon.
    ///   - note: What the customer wrote.
    ///   - price: What it costs.
    static func ordered(
        kind: OrderedKind,
        items: Int,
        coupon: String? = nil,
        note: String? = nil,
        price: Double? = nil) -> LaterEvent {
        .ordered(OrderedParameters(kind: kind, items: items, coupon: coupon, note: note, price: price))
    }

    /// The parameters of `ordered`.
    struct OrderedParameters: Hashable, Sendable {
        /// How it gets there.
        var kind: OrderedKind
        /// How many items.
        var items: Int
        /// The coupon.
        var coupon: String?
        /// What the customer wrote.
        var note: String?
        /// What it costs.
        var price: Double?

        /// Makes the parameters.
        ///
        /// - Parameters:
        ///   - kind: How it gets there.
        ///   - items: How many items.
        ///   - coupon: The coupon.
        ///   - note: What the customer wrote.
        ///   - price: What it costs.
        init(
            kind: OrderedKind,
            items: Int,
            coupon: String? = nil,
            note: String? = nil,
            price: Double? = nil) {
            self.kind = kind
            self.items = items
            self.coupon = coupon
            self.note = note
            self.price = price
        }
    }
}

extension LaterEvent {
    /// From where.
    struct OpenedSource: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
        /// The value as it is sent.
        let rawValue: String

        /// Makes a value of any text, listed or not.
        init(rawValue: String) { self.rawValue = rawValue }

        /// Makes a value of any text, listed or not.
        init(stringLiteral rawValue: String) { self.rawValue = rawValue }

        /// `link`.
        static let link: OpenedSource = "link"
        /// `icon`.
        static let icon: OpenedSource = "icon"
    }
}

extension LaterEvent {
    /// How it gets there.
    enum OrderedKind: String, Hashable, Sendable, CaseIterable {
        /// `in-store`.
        case inStore = "in-store"
        /// `by-mail`.
        case byMail = "by-mail"
    }
}
