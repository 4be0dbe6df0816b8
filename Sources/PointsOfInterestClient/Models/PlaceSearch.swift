import Foundation
import PointsOfInterestHTTP

/// A search that finds places while somebody types: what was typed last is searched for, the best place first.
///
/// A view binds its text field to `text`, and a choice to `scope`. Nothing is sent before nobody has typed for `pause`.
@MainActor
public final class PlaceSearch: ObservableModel<PlaceSearch.State> {
    /// Where places are searched.
    public enum Scope: Hashable, Sendable, CaseIterable {
        /// At most 50 km from where the device is.
        case nearby
        /// Wherever they are. Where the device's last location is known, places have distances.
        case everywhere
    }

    /// A place that was found.
    public struct Result: Hashable, Sendable, Identifiable {
        /// The place.
        public let place: PointOfInterest
        /// The place's name that was found: `place.name`, or another one of its names.
        public let matchedName: String
        /// The parts of `matchedName` that the search's words are; none where it was found by an abbreviation, by its address,
        /// or with an error.
        public let matches: [Range<String.Index>]
        /// The place's id.
        public var id: Int { place.id }
    }

    /// What a screen shows.
    public struct State: Hashable, Sendable {
        /// What was typed.
        public var text = ""
        /// Where places are searched.
        public var scope: Scope
        /// The places that were found for `text`, the best first.
        public var results: [Result] = []
        /// What the search is doing, or how it ended; idle without a text.
        public var phase = LoadPhase.idle
        /// Whether the results are of an earlier response, because the service hasn't responded yet.
        public var isKept = false
        /// Who has found the results; nil where there are none yet.
        public var source: PlacesPage.Source?
        /// Whether the results are all that the service would have up to the last of them; nil where there are none yet.
        public var coverage: PlacesPage.Coverage?
        /// Whether `loadMore()` would find more.
        public var hasMore = false
    }

    /// How long nobody must type before something is sent.
    public nonisolated static let pause = Duration.milliseconds(250)
    /// The radius of a search nearby, in metres.
    public nonisolated static let nearbyMeters = 50_000.0

    private let list: PointsOfInterestList
    private let clock: any Clock<Duration>
    private var typing: Task<Void, Never>?

    /// Makes a search that has no text.
    ///
    /// - Parameters:
    ///   - placeFinder: finds the places: the service, or a stand-in.
    ///   - locationSource: finds out where the device is. A search everywhere takes the last location, and asks nobody.
    ///   - scope: where places are searched at first.
    ///   - request: filters, limit, properties and languages; text, centre, radius and order are replaced.
    ///   - policy: whether what was found for the same text before is shown until the service has responded.
    ///   - clock: measures the pause.
    public init(
        placeFinder: any PlaceFinder, locationSource: any CurrentLocationSource, scope: Scope = .nearby,
        request: NearbyPlacesRequest = NearbyPlacesRequest(center: nil),
        policy: LoadPolicy = .cacheAndNetwork, clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.clock = clock
        list = PointsOfInterestList(placeFinder: placeFinder, request: request, policy: policy) {
            request throws(LocationError) in
            // By distance, there has to be a centre; the best places anywhere need none.
            guard request.radiusMeters == nil, request.sort == .relevance else {
                return try await locationSource.currentCoordinate()
            }
            return locationSource.lastLocation
        }
        super.init(State(scope: scope))
        list.onChange = { [weak self] in self?.state.show($0) }
    }
}

extension PlaceSearch {
    /// What was typed. A change cancels the search for the text before, and begins another one after the pause. Results that
    /// have all of the text's words in their names stay meanwhile.
    public var text: String {
        get { state.text }
        set {
            guard newValue != state.text else { return }
            change(to: newValue, in: state.scope)
            begin(after: Self.pause)
        }
    }

    /// Where places are searched. A change searches anew.
    public var scope: Scope {
        get { state.scope }
        set {
            guard newValue != state.scope else { return }
            change(to: state.text, in: newValue)
            begin(after: .zero)
        }
    }

    /// The places that were found for `text`, the best first.
    public var results: [Result] { state.results }
    /// What the search is doing, or how it ended; idle without a text.
    public var phase: LoadPhase { state.phase }
    /// Whether the results are of an earlier response, because the service hasn't responded yet.
    public var isKept: Bool { state.isKept }
    /// Who has found the places; nil where there are none yet.
    public var source: PlacesPage.Source? { state.source }
    /// Whether the source has all that was asked for; nil where there are no places yet.
    public var coverage: PlacesPage.Coverage? { state.coverage }
    /// Whether `loadMore()` would find more.
    public var hasMore: Bool { state.hasMore }

    /// Searches for the text at once: when somebody taps "Search", or to try again. Without a text it does nothing.
    public func load() async {
        typing?.cancel()
        await search()
    }

    /// Loads the next page and appends its places, as `PointsOfInterestList.loadMore()` does.
    public func loadMore() async { await list.loadMore() }

    private func begin(after pause: Duration) {
        typing?.cancel()
        guard !words.isEmpty else { return }
        typing = Task { [weak self, clock] in
            if pause > .zero { guard (try? await clock.sleep(for: pause)) != nil else { return } }
            guard !Task.isCancelled else { return }
            await self?.search()
        }
    }

    private func search() async {
        guard !words.isEmpty else { return }
        await list.load()
        guard case .failed(.request(let error)) = list.phase, error.problem?.code == .indexRequired,
            list.request.sort != nil
        else { return }
        // The service can't order by relevance: the nearest places with these words are the next best.
        list.change(to: request(state, sort: nil)) { _ in false }
        await list.load()
    }

    /// Makes what is shown belong to a text and a scope, in one change.
    private func change(to text: String, in scope: Scope) {
        var state = state
        (state.text, state.scope) = (text, scope)
        let (words, isSameScope) = (state.text.searchWords, scope == self.state.scope)
        let onChange = list.onChange
        list.onChange = nil
        list.change(to: request(state, sort: .relevance)) { place in
            !words.isEmpty && isSameScope && place.searchedName.hasAll(words)
        }
        list.onChange = onChange
        state.show(list.state)
        self.state = state
    }

    private func request(_ state: State, sort: PlaceSort?) -> NearbyPlacesRequest {
        let isEmpty = state.text.searchWords.isEmpty
        var request = list.request
        request.searchText = isEmpty ? nil : state.text
        request.radiusMeters = state.scope == .nearby ? Self.nearbyMeters : nil
        request.sort = isEmpty ? nil : sort
        return request
    }

    private var words: [Substring] { state.text.searchWords }
}

extension PlaceSearch.State {
    fileprivate mutating func show(_ found: PointsOfInterestList.State) {
        let words = text.searchWords
        results = found.places.map { place in
            let name = place.searchedName
            return PlaceSearch.Result(place: place, matchedName: name, matches: name.matches(of: words))
        }
        (phase, isKept, hasMore) = (found.phase, found.isKept, found.hasMore)
        (source, coverage) = (found.source, found.coverage)
    }
}

extension PointOfInterest {
    /// The name that a search has found.
    fileprivate var searchedName: String { matchedName ?? name }
}

extension String {
    fileprivate var searchWords: [Substring] { split(whereSeparator: \.isWhitespace) }

    /// Whether each of the words is in this text.
    fileprivate func hasAll(_ words: [Substring]) -> Bool { words.allSatisfy { !ranges(of: $0).isEmpty } }

    /// The parts of this text that the words are, from left to right; parts that touch are one.
    fileprivate func matches(of words: [Substring]) -> [Range<Index>] {
        let found = words.flatMap { ranges(of: $0) }.sorted { $0.lowerBound < $1.lowerBound }
        return found.reduce(into: []) { merged, next in
            if let last = merged.last, next.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<Swift.max(last.upperBound, next.upperBound)
            } else {
                merged.append(next)
            }
        }
    }

    /// Where words of this text begin with a word, without regard to case, diacritics and width; where none does, where the word
    /// is first: scripts without spaces have no beginnings of words.
    private func ranges(of word: Substring) -> [Range<Index>] {
        var all: [Range<Index>] = []
        var rest = startIndex..<endIndex
        while let found = range(
            of: word, options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], range: rest),
            !found.isEmpty
        {
            all.append(found)
            rest = found.upperBound..<endIndex
        }
        let atBeginnings = all.filter { range in
            range.lowerBound == startIndex || !self[index(before: range.lowerBound)].isWordCharacter
        }
        return atBeginnings.isEmpty ? Array(all.prefix(1)) : atBeginnings
    }
}

extension Character {
    fileprivate var isWordCharacter: Bool { isLetter || isNumber }
}
