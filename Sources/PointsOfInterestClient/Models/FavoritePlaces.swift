import Foundation
import PointsOfInterestHTTP

/// The places that a person has chosen, in the person's order, also without a network.
///
/// The app keeps their ids: it passes those that it has stored, and stores `ids` whenever they change, also by a load: where the
/// service has merged a favourite into another place, that place takes its position.
@MainActor
public final class FavoritePlaces: ObservableModel<FavoritePlaces.State> {
    /// What a screen shows.
    public struct State: Hashable, Sendable {
        /// The ids of all favourites, each once, in the person's order.
        public var ids: [Int]
        /// The favourites that are loaded, or kept, in the order of their ids.
        public var places: [PointOfInterest] = []
        /// The favourites that the service didn't find when it was last asked, in the order of their ids. They are asked for
        /// again with each load. One that was shown before is still in `places`.
        public var missing: [Int] = []
        /// What the model is doing, or how its last load ended.
        public var phase = LoadPhase.idle
        /// Whether some of the places are of an earlier response, because the service hasn't responded yet. These have no
        /// distances.
        public var isKept = false
        /// When the places were received, the oldest of them; nil where that isn't known.
        public var receivedAt: Date?
    }

    private let placeFinder: any PlaceFinder
    private let locationSource: (any CurrentLocationSource)?
    private let properties: [String]
    private let languages: [String]
    private let policy: LoadPolicy
    var turns = LoadTurns()

    /// Makes the favourites of a person.
    ///
    /// - Parameters:
    ///   - ids: the ids in the person's order.
    ///   - placeFinder: finds the places: the service, or a stand-in.
    ///   - locationSource: has the last location, which distances are measured from. Nobody is asked for it.
    ///   - properties: the names of the properties that places come with, at most 20.
    ///   - languages: the languages of the user, the preferred one first, at most 10.
    ///   - policy: whether places of earlier responses are shown until the service has responded.
    public init(
        ids: [Int], placeFinder: any PlaceFinder, locationSource: (any CurrentLocationSource)? = nil,
        properties: [String] = [], languages: [String] = [], policy: LoadPolicy = .cacheAndNetwork
    ) {
        self.placeFinder = placeFinder
        self.locationSource = locationSource
        self.properties = properties
        self.languages = languages
        self.policy = policy
        super.init(State(ids: ids.uniqued(by: \.self)))
    }
}

extension FavoritePlaces: LoadingModel {}
extension FavoritePlaces.State: LoadingState {}

extension FavoritePlaces {
    /// The ids of all favourites, each once, in the person's order.
    public var ids: [Int] { state.ids }
    /// The favourites that are loaded, or kept, in the order of their ids.
    public var places: [PointOfInterest] { state.places }
    /// The favourites that the service didn't find when it was last asked, in the order of their ids.
    public var missing: [Int] { state.missing }
    /// What the model is doing, or how its last load ended.
    public var phase: LoadPhase { state.phase }
    /// Whether some of the places are of an earlier response.
    public var isKept: Bool { state.isKept }
    /// When the places were received, the oldest of them; nil where that isn't known.
    public var receivedAt: Date? { state.receivedAt }

    /// Whether a place is one of the favourites.
    public func contains(id: Int) -> Bool { ids.contains(id) }

    /// Adds a place at the end, unless it is one of the favourites.
    public func add(_ place: PointOfInterest) {
        guard !contains(id: place.id) else { return }
        var state = state
        state.ids.append(place.id)
        state.places.append(place)
        self.state = state
    }

    /// Removes a place, if it is one of the favourites. Nothing else does, but that a place which was merged is replaced.
    public func remove(id: Int) {
        var state = state
        state.ids.removeAll { $0 == id }
        state.missing.removeAll { $0 == id }
        state.places.removeAll { $0.id == id }
        self.state = state
    }

    /// Moves places, as a view's `onMove` says it: from some positions in `places` to before another one.
    public func move(fromOffsets source: IndexSet, toOffset destination: Int) {
        var state = state
        let moved = source.filter(state.places.indices.contains).map { state.places[$0] }
        let before = state.places.indices.filter { $0 < destination && !source.contains($0) }
        let after = state.places.indices.filter { $0 >= destination && !source.contains($0) }
        state.places = before.map { state.places[$0] } + moved + after.map { state.places[$0] }
        // A favourite that isn't shown, since it could not be loaded, keeps its position.
        let shown = Set(state.places.map(\.id))
        var order = state.places.map(\.id)[...]
        state.ids = state.ids.map { shown.contains($0) ? order.popFirst() ?? $0 : $0 }
        self.state = state
    }

    /// Loads all favourites, in requests of up to 100. Those that the service doesn't find are `missing`; they stay favourites,
    /// since one wrong response mustn't take away what a person has chosen. One that was merged into another place is replaced by
    /// that place.
    ///
    /// Meanwhile those that aren't shown yet are shown where a response with them is kept, without their distances. All stay where
    /// the load fails. When several loads run at the same time, the last one that isn't cancelled has an effect.
    public func load() async {
        let turn = turns.begin()
        state.phase = turns.phase
        let asked = ids
        do {
            let found = try await loaded(showing: { await $0.showKept(turn) }) { try await fetch(asked) }
            guard turns.isCurrent(turn) else { return end(turn, nil) }
            end(turn, .loaded) { state in
                state.follow(found)
                state.show(found) { found, _ in found }
                let missing = Set(asked).subtracting(found.flatMap { [$0.id] + $0.mergedFrom })
                state.missing = state.ids.filter(missing.contains)
                (state.isKept, state.receivedAt) = (false, Date())
            }
        } catch {
            end(turn, LoadError(error).map(LoadPhase.failed))
        }
    }

    private func fetch(_ ids: [Int]) async throws -> [PointOfInterest] {
        var found: [PointOfInterest] = []
        var rest = ids[...]
        while !rest.isEmpty {
            let part = rest.prefix(NearbyPlacesRequest.maximumIDCount)
            rest = rest.dropFirst(part.count)
            found += try await placeFinder.places(
                ids: Array(part), center: locationSource?.lastLocation, properties: properties,
                languages: languages)
        }
        return found
    }

    private func showKept(_ turn: Int) async {
        let lacking = Set(ids).subtracting(places.map(\.id))
        guard policy == .cacheAndNetwork, !lacking.isEmpty,
            let page = await placeFinder.keptPlaces(ids: ids.filter(lacking.contains), languages: languages),
            turns.isCurrent(turn)
        else { return }
        var state = state
        state.show(page.places) { _, shown in shown }
        (state.isKept, state.receivedAt) = (true, page.receivedAt)
        self.state = state
    }
}

extension FavoritePlaces.State {
    /// Replaces the ids of places that were merged by those of the places that they are now.
    fileprivate mutating func follow(_ found: [PointOfInterest]) {
        let survivors = Dictionary(
            found.flatMap { place in place.mergedFrom.map { ($0, place.id) } },
            uniquingKeysWith: { first, _ in first })
        guard !survivors.isEmpty else { return }
        ids = ids.map { survivors[$0] ?? $0 }.uniqued(by: \.self)
    }

    /// Shows places beside those that are shown; of two with one id the one that is chosen.
    fileprivate mutating func show(
        _ found: [PointOfInterest],
        choosing choose: (_ found: PointOfInterest, _ shown: PointOfInterest) -> PointOfInterest
    ) {
        let all = Dictionary(
            (found + places).map { ($0.id, $0) }, uniquingKeysWith: { choose($0, $1) })
        places = ids.compactMap { all[$0] }
    }
}
