// Made by generate-events from the definitions in Events. Changes belong there.
// swift-format-ignore-file

/// The events that are defined in `Events`.
/// Later versions may have more cases, and more optional parameters.
public nonisolated enum TrackingEvent: TrackableEvent {
    /// The app went to the background.
    case background
    /// Events that the app had tracked are lost; the app's queue counts them.
    case eventsDropped(EventsDroppedParameters)
    /// A featured place was shown to the user.
    case featuredShown(FeaturedShownParameters)
    /// The app was started, or came back from the background.
    case launch
    /// The app asked where it is.
    case locationCheck
    /// A notification was opened.
    case notification(NotificationParameters)
    /// A page of the app came into view.
    case pageView(PageViewParameters)
    /// Places were searched for by a text; asking for a further page of results is a search of its own.
    case search(SearchParameters)
    /// Any other event: one whose name isn't here, or whose values no case can hold.
    case other(EventContent)
}

nonisolated extension TrackingEvent {
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
        case "featured-shown":
            return .featuredShown(place: value["place"]?.wholeNumber)
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
            return .search(query: query, page: page, results: value["results"]?.wholeNumber)
        default: return nil
        }
    }

    /// The name and the values, as they are sent.
    public var content: EventContent {
        switch self {
        case .background: EventContent(name: "background")
        case .eventsDropped(let parameters):
            EventContent(
                name: "events-dropped",
                present: ["count": .integer(parameters.count), "reason": .string(parameters.reason.rawValue)])
        case .featuredShown(let parameters):
            EventContent(name: "featured-shown", present: ["place": parameters.place.map(JSONValue.integer)])
        case .launch: EventContent(name: "launch")
        case .locationCheck: EventContent(name: "location-check")
        case .notification(let parameters):
            EventContent(name: "notification", present: ["identifier": .string(parameters.identifier)])
        case .pageView(let parameters):
            EventContent(
                name: "page-view",
                present: ["page": .string(parameters.page.rawValue), "additional": parameters.additional.map(JSONValue.string)])
        case .search(let parameters):
            EventContent(
                name: "search",
                present: ["query": .string(parameters.query), "page": .integer(parameters.page), "results": parameters.results.map(JSONValue.integer)])
        case .other(let content): content
        }
    }
}

nonisolated extension TrackingEvent {
    /// Events that the app had tracked are lost; the app's queue counts them.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - reason: Why: the queue was full, the service refused them, or the queue's file was damaged.
    public static func eventsDropped(count: Int, reason: EventsDroppedReason) -> TrackingEvent {
        .eventsDropped(EventsDroppedParameters(count: count, reason: reason))
    }

    /// The parameters of `events-dropped`.
    public nonisolated struct EventsDroppedParameters: Hashable, Sendable {
        /// How many.
        public var count: Int
        /// Why: the queue was full, the service refused them, or the queue's file was damaged.
        public var reason: EventsDroppedReason

        /// Makes the parameters.
        ///
        /// - Parameters:
        ///   - count: How many.
        ///   - reason: Why: the queue was full, the service refused them, or the queue's file was damaged.
        public init(count: Int, reason: EventsDroppedReason) {
            self.count = count
            self.reason = reason
        }
    }
}

nonisolated extension TrackingEvent {
    /// A featured place was shown to the user.
    public static var featuredShown: TrackingEvent { .featuredShown(FeaturedShownParameters()) }

    /// A featured place was shown to the user.
    ///
    /// - Parameters:
    ///   - place: The place's id.
    public static func featuredShown(place: Int? = nil) -> TrackingEvent {
        .featuredShown(FeaturedShownParameters(place: place))
    }

    /// The parameters of `featured-shown`.
    public nonisolated struct FeaturedShownParameters: Hashable, Sendable {
        /// The place's id.
        public var place: Int?

        /// Makes the parameters.
        ///
        /// - Parameters:
        ///   - place: The place's id.
        public init(place: Int? = nil) {
            self.place = place
        }
    }
}

nonisolated extension TrackingEvent {
    /// A notification was opened.
    ///
    /// - Parameters:
    ///   - identifier: The notification's identifier.
    public static func notification(identifier: String) -> TrackingEvent {
        .notification(NotificationParameters(identifier: identifier))
    }

    /// The parameters of `notification`.
    public nonisolated struct NotificationParameters: Hashable, Sendable {
        /// The notification's identifier.
        public var identifier: String

        /// Makes the parameters.
        ///
        /// - Parameters:
        ///   - identifier: The notification's identifier.
        public init(identifier: String) {
            self.identifier = identifier
        }
    }
}

nonisolated extension TrackingEvent {
    /// A page of the app came into view.
    ///
    /// - Parameters:
    ///   - page: Which page.
    ///   - additional: What the page shows where that differs, a place's id for instance.
    public static func pageView(page: PageViewPage, additional: String? = nil) -> TrackingEvent {
        .pageView(PageViewParameters(page: page, additional: additional))
    }

    /// The parameters of `page-view`.
    public nonisolated struct PageViewParameters: Hashable, Sendable {
        /// Which page.
        public var page: PageViewPage
        /// What the page shows where that differs, a place's id for instance.
        public var additional: String?

        /// Makes the parameters.
        ///
        /// - Parameters:
        ///   - page: Which page.
        ///   - additional: What the page shows where that differs, a place's id for instance.
        public init(page: PageViewPage, additional: String? = nil) {
            self.page = page
            self.additional = additional
        }
    }
}

nonisolated extension TrackingEvent {
    /// Places were searched for by a text; asking for a further page of results is a search of its own.
    ///
    /// - Parameters:
    ///   - query: The text as it was typed.
    ///   - page: Which page of the results, from 1.
    ///   - results: How many places the page has.
    public static func search(query: String, page: Int, results: Int? = nil) -> TrackingEvent {
        .search(SearchParameters(query: query, page: page, results: results))
    }

    /// The parameters of `search`.
    public nonisolated struct SearchParameters: Hashable, Sendable {
        /// The text as it was typed.
        public var query: String
        /// Which page of the results, from 1.
        public var page: Int
        /// How many places the page has.
        public var results: Int?

        /// Makes the parameters.
        ///
        /// - Parameters:
        ///   - query: The text as it was typed.
        ///   - page: Which page of the results, from 1.
        ///   - results: How many places the page has.
        public init(query: String, page: Int, results: Int? = nil) {
            self.query = query
            self.page = page
            self.results = results
        }
    }
}

nonisolated extension TrackingEvent {
    /// Why: the queue was full, the service refused them, or the queue's file was damaged.
    public nonisolated struct EventsDroppedReason: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
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

nonisolated extension TrackingEvent {
    /// Which page.
    public nonisolated struct PageViewPage: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
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
