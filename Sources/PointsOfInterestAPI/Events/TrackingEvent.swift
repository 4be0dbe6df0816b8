// Made by generate-events from the definitions in Events. Changes belong there.
// swift-format-ignore-file

/// The events that are defined in `Events`.
/// Later versions may have more cases.
public enum TrackingEvent: TrackableEvent {
    /// The app went to the background.
    case background
    /// Events that the app had tracked are lost; the app's queue counts them.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - reason: Why: the queue was full, the service refused them, or the queue's file was damaged.
    case eventsDropped(count: Int, reason: EventsDroppedReason)
    /// A featured place was shown to the user.
    case featuredShown
    /// The app was started, or came back from the background.
    case launch
    /// The app asked where it is.
    case locationCheck
    /// A notification was opened.
    ///
    /// - Parameters:
    ///   - identifier: The notification's identifier.
    case notification(identifier: String)
    /// A page of the app came into view.
    ///
    /// - Parameters:
    ///   - page: Which page.
    ///   - additional: What the page shows where that differs, a place's id for instance.
    case pageView(page: PageViewPage, additional: String? = nil)
    /// Places were searched for by a text; asking for a further page of results is a search of its own.
    ///
    /// - Parameters:
    ///   - query: The text as it was typed.
    ///   - page: Which page of the results, from 1.
    case search(query: String, page: Int)
    /// Any other event: one whose name isn't here, or whose values no case can hold.
    case other(EventContent)
}

extension TrackingEvent {
    /// Reads an event; one that no case holds as it is becomes `other`.
    public init(_ content: EventContent) {
        let known = Self.known(content)
        self = known?.content == content ? known ?? .other(content) : .other(content)
    }

    private static func known(_ content: EventContent) -> TrackingEvent? {
        let value = content.value
        switch content.name {
        case "background": return .background
        case "events-dropped":
            guard let count = value["count"]?.wholeNumber,
                let reason = value["reason"]?.text.map(EventsDroppedReason.init(rawValue:))
            else { return nil }
            return .eventsDropped(count: count, reason: reason)
        case "featured-shown": return .featuredShown
        case "launch": return .launch
        case "location-check": return .locationCheck
        case "notification":
            guard let identifier = value["identifier"]?.text else { return nil }
            return .notification(identifier: identifier)
        case "page-view":
            guard let page = value["page"]?.text.map(PageViewPage.init(rawValue:)) else { return nil }
            return .pageView(page: page, additional: value["additional"]?.text)
        case "search":
            guard let query = value["query"]?.text,
                let page = value["page"]?.wholeNumber
            else { return nil }
            return .search(query: query, page: page)
        default: return nil
        }
    }

    /// The name and the values, as they are sent.
    public var content: EventContent {
        switch self {
        case .background: EventContent(name: "background")
        case .eventsDropped(let count, let reason):
            EventContent(
                name: "events-dropped",
                present: ["count": .integer(count), "reason": .string(reason.rawValue)])
        case .featuredShown: EventContent(name: "featured-shown")
        case .launch: EventContent(name: "launch")
        case .locationCheck: EventContent(name: "location-check")
        case .notification(let identifier):
            EventContent(name: "notification", present: ["identifier": .string(identifier)])
        case .pageView(let page, let additional):
            EventContent(
                name: "page-view",
                present: ["page": .string(page.rawValue), "additional": additional.map(JSONValue.string)])
        case .search(let query, let page):
            EventContent(name: "search", present: ["query": .string(query), "page": .integer(page)])
        case .other(let content): content
        }
    }
}

extension TrackingEvent {
    /// Why: the queue was full, the service refused them, or the queue's file was damaged.
    public struct EventsDroppedReason: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
        /// The value as it is sent.
        public let rawValue: String

        /// Makes a value of any text, listed or not.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Makes a value of any text, listed or not.
        public init(stringLiteral rawValue: String) { self.rawValue = rawValue }

        /// `full`.
        public static let full: EventsDroppedReason = "full"
        /// `refused`.
        public static let refused: EventsDroppedReason = "refused"
        /// `damaged`.
        public static let damaged: EventsDroppedReason = "damaged"
    }
}

extension TrackingEvent {
    /// Which page.
    public struct PageViewPage: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
        /// The value as it is sent.
        public let rawValue: String

        /// Makes a value of any text, listed or not.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Makes a value of any text, listed or not.
        public init(stringLiteral rawValue: String) { self.rawValue = rawValue }

        /// `locations-list`.
        public static let locationsList: PageViewPage = "locations-list"
        /// `locations-map`.
        public static let locationsMap: PageViewPage = "locations-map"
        /// `location-detail`.
        public static let locationDetail: PageViewPage = "location-detail"
        /// `featured`.
        public static let featured: PageViewPage = "featured"
        /// `search`.
        public static let search: PageViewPage = "search"
        /// `settings`.
        public static let settings: PageViewPage = "settings"
    }
}
