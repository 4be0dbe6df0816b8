// Made by generate-events from the definitions in Tests/EventGeneratorTests/Definitions/Earlier. Changes belong there.
// swift-format-ignore-file

import PointsOfInterestAPI

/// The events that are defined in `Tests/EventGeneratorTests/Definitions/Earlier`.
/// Later versions may have more cases, and more optional parameters.
enum EarlierEvent: TrackableEvent {
    /// The shop was left.
    case left(LeftParameters)
    /// The shop was opened.
    case opened
    /// Something was ordered.
    case ordered(OrderedParameters)
    /// Any other event: one whose name isn't here, or whose values no case can hold.
    case other(EventContent)
}

extension EarlierEvent {
    /// Reads an event; one that no case holds as it is becomes `other`.
    init(_ content: EventContent) {
        let known = Self.known(content)
        self = known?.content == content ? known ?? .other(content) : .other(content)
    }

    private static func known(_ content: EventContent) -> EarlierEvent? {
        let value = content.value
        switch content.name {
        case "left":
            return .left(seconds: value["seconds"]?.decimal)
        case "opened": return .opened
        case "ordered":
            guard let kind = value["kind"]?.text.flatMap(OrderedKind.init(rawValue:)),
                let items = value["items"]?.wholeNumber
            else { return nil }
            return .ordered(kind: kind, items: items, note: value["note"]?.text)
        default: return nil
        }
    }

    /// The name and the values, as they are sent.
    var content: EventContent {
        switch self {
        case .left(let parameters):
            EventContent(name: "left", present: ["seconds": parameters.seconds.map(JSONValue.number)])
        case .opened: EventContent(name: "opened")
        case .ordered(let parameters):
            EventContent(
                name: "ordered",
                present: ["kind": .string(parameters.kind.rawValue), "items": .integer(parameters.items), "note": parameters.note.map(JSONValue.string)])
        case .other(let content): content
        }
    }
}

extension EarlierEvent {
    /// The shop was left.
    static var left: EarlierEvent { .left(LeftParameters()) }

    /// The shop was left.
    ///
    /// - Parameters:
    ///   - seconds: After how long.
    static func left(seconds: Double? = nil) -> EarlierEvent {
        .left(LeftParameters(seconds: seconds))
    }

    /// The parameters of `left`.
    struct LeftParameters: Hashable, Sendable {
        /// After how long.
        var seconds: Double?

        /// Makes the parameters.
        ///
        /// - Parameters:
        ///   - seconds: After how long.
        init(seconds: Double? = nil) {
            self.seconds = seconds
        }
    }
}

extension EarlierEvent {
    /// Something was ordered.
    ///
    /// - Parameters:
    ///   - kind: How it gets there.
    ///   - items: How many items.
    ///   - note: What the customer wrote.
    static func ordered(kind: OrderedKind, items: Int, note: String? = nil) -> EarlierEvent {
        .ordered(OrderedParameters(kind: kind, items: items, note: note))
    }

    /// The parameters of `ordered`.
    struct OrderedParameters: Hashable, Sendable {
        /// How it gets there.
        var kind: OrderedKind
        /// How many items.
        var items: Int
        /// What the customer wrote.
        var note: String?

        /// Makes the parameters.
        ///
        /// - Parameters:
        ///   - kind: How it gets there.
        ///   - items: How many items.
        ///   - note: What the customer wrote.
        init(kind: OrderedKind, items: Int, note: String? = nil) {
            self.kind = kind
            self.items = items
            self.note = note
        }
    }
}

extension EarlierEvent {
    /// How it gets there.
    enum OrderedKind: String, Hashable, Sendable, CaseIterable {
        /// `in-store`.
        case inStore = "in-store"
        /// `by-mail`.
        case byMail = "by-mail"
    }
}
