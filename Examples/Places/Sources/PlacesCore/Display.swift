import Foundation
import PointsOfInterestClient

/// What a screen shows, for each state that its model can be in.
public struct Display<Value: Hashable & Sendable>: Hashable, Sendable {
    /// The screen itself.
    public enum Content: Hashable, Sendable {
        /// Nothing: nothing was asked for yet.
        case idle
        /// That the first value is being loaded.
        case firstLoad
        /// This value.
        case value(Value)
        /// That there is nothing, in this sentence.
        case nothing(String)
        /// Why there is nothing to show, in this sentence.
        case failed(String)
    }

    /// The screen itself.
    public let content: Content
    /// What is below the last place of a list.
    public let footer: ListFooter
    /// Why the value is not the current one, and how old it is.
    public let notice: String?

    /// Makes what a screen shows.
    ///
    /// - Parameters:
    ///   - value: what the model has; nil where that is nothing.
    ///   - phase: what the model is doing, or how its last load ended.
    ///   - isKept: whether the value is of an earlier response.
    ///   - receivedAt: when the value was received; nil where that isn't known.
    ///   - hasMore: whether a list has another page; nil where the screen is no list with pages.
    ///   - nothing: the sentence for a response with nothing.
    ///   - now: the time that an age is counted from.
    public init(
        _ value: Value?, phase: LoadPhase, isKept: Bool = false, receivedAt: Date? = nil,
        hasMore: Bool? = nil, nothing: String, now: Date = Date()
    ) {
        let value = value.map(Content.value)
        let age = receivedAt.map { "As of \(Wording.age(of: $0, at: now))." }
        let keptNotice = isKept ? age : nil
        switch phase {
        case .idle: (content, footer, notice) = (value ?? .idle, .none, keptNotice)
        case .loading: (content, footer, notice) = (value ?? .firstLoad, .none, keptNotice)
        case .loaded:
            content = value ?? .nothing(nothing)
            footer = hasMore.map { $0 ? .more : .end } ?? .none
            notice = nil
        case .loadingMore: (content, footer, notice) = (value ?? .firstLoad, .loadingMore, nil)
        case .failedMore(let error):
            content = value ?? .nothing(nothing)
            footer = .failed(error.localizedDescription)
            notice = nil
        case .failed(let error):
            let reason = error.localizedDescription
            content = value ?? .failed(reason)
            footer = .none
            notice = value.map { _ in [reason, age].compactMap(\.self).joined(separator: " ") }
        }
    }

    private init(content: Content, footer: ListFooter = .none, notice: String? = nil) {
        self.content = content
        self.footer = footer
        self.notice = notice
    }
}

/// What is below the last place of a list.
public enum ListFooter: Hashable, Sendable {
    /// Nothing, while the list is being loaded anew.
    case none
    /// There is another page, which is loaded when this comes into view.
    case more
    /// Another page is being loaded.
    case loadingMore
    /// The next page could not be loaded, for this reason; a button tries again.
    case failed(String)
    /// There are no more places.
    case end
}

extension Display<[PointOfInterest]> {
    /// Makes what the list of the places nearby shows.
    public init(_ state: PointsOfInterestList.State, now: Date = Date()) {
        self.init(
            state.places.nonEmpty, phase: state.phase, isKept: state.isKept, receivedAt: state.receivedAt,
            hasMore: state.hasMore, nothing: "There are no places nearby.", now: now)
    }

    /// Makes what the favourites show. Those that the service doesn't find stay, until the person removes them.
    public init(_ state: FavoritePlaces.State, now: Date = Date()) {
        let missing = "Some of your favourites are not there at the moment."
        let display = Display(
            state.places.nonEmpty, phase: state.phase, isKept: state.isKept, receivedAt: state.receivedAt,
            nothing: state.ids.isEmpty ? "There are no favourites yet." : missing, now: now)
        guard case .value = display.content, state.phase == .loaded, !state.missing.isEmpty else {
            self = display
            return
        }
        self.init(content: display.content, notice: missing)
    }
}

extension Display<[PlaceSearch.Result]> {
    /// Makes what the search shows.
    public init(_ state: PlaceSearch.State) {
        self.init(
            state.results.nonEmpty, phase: state.phase, isKept: state.isKept, hasMore: state.hasMore,
            nothing: "No place has such a name.")
    }
}

extension Display<[MapItem]> {
    /// Makes what the map shows.
    public init(_ state: PlacesMap.State, now: Date = Date()) {
        let display = Display(
            state.items.nonEmpty, phase: state.phase, isKept: state.isKept, receivedAt: state.receivedAt,
            nothing: "There are no places here.", now: now)
        guard case .value = display.content, state.phase == .loaded, !state.isComplete else {
            self = display
            return
        }
        self.init(
            content: display.content, notice: "There are more places here. Zoom in to see them.")
    }
}

extension Display<PointOfInterest> {
    /// Makes what the strip of the featured places shows. Why it has none is said by the list below it.
    public init(_ state: FeaturedPlaceManager.State, now: Date = Date()) {
        let display = Display(
            state.currentPlace, phase: state.phase, isKept: state.isKept, receivedAt: state.receivedAt,
            nothing: "No featured places nearby", now: now)
        if case .failed = display.content {
            self.init(content: .idle)
        } else {
            self.init(content: display.content)
        }
    }
}

extension Display<PlaceDetails> {
    /// Makes what the screen of a place shows.
    public init(_ state: Loadable<PointOfInterest>.State, now: Date = Date()) {
        if case .failed(.request(let error)) = state.phase, error.isGone {
            self.init(content: .nothing("This place is gone."))
        } else {
            self.init(
                state.value.map { PlaceDetails($0) }, phase: state.phase, isKept: state.isKept,
                receivedAt: state.receivedAt, nothing: "This place is gone.", now: now)
        }
    }
}

extension Array {
    /// This array; nil where it is empty.
    fileprivate var nonEmpty: Self? { isEmpty ? nil : self }
}
