import Foundation
@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP
import PointsOfInterestTesting

/// An observable property of a model: a change of it, and how a view reads it.
typealias ObservedProperty<State> = (
    name: String, change: (inout State) -> Void, read: @MainActor () -> AnyHashable
)

/// A model with all that can be observed of it.
struct ObservedModel<State: Hashable & Sendable> {
    let model: ObservableModel<State>
    /// All of the state's properties.
    let properties: [ObservedProperty<State>]
    /// All that the model stores beside its state. A view sees nothing of it: it isn't announced.
    let unobserved: [String]

    /// The names of the state's properties as they are in the code.
    @MainActor var propertyNames: [String] { Mirror(reflecting: model.state).children.compactMap(\.label) }
    /// The names of the model's stored properties as they are in the code.
    @MainActor var storedNames: [String] { Mirror(reflecting: model).children.compactMap(\.label) }
}

@MainActor
extension ObservedModel<PointsOfInterestList.State> {
    static func list() -> ObservedModel {
        let model = AppEnvironment.mock().makeList()
        return ObservedModel(
            model: model,
            properties: [
                ("phase", { $0.phase = .loaded }, { model.phase }),
                ("places", { $0.places = .fixtures(1) }, { model.places }),
                ("isKept", { $0.isKept = true }, { model.isKept }),
                ("source", { $0.source = .kept }, { model.source }),
                ("coverage", { $0.coverage = .partial }, { model.coverage }),
                ("hasMore", { $0.hasMore = true }, { model.hasMore }),
                ("receivedAt", { $0.receivedAt = Date() }, { model.receivedAt }),
                ("request", { $0.request.limit = 7 }, { model.request }),
            ],
            unobserved: [
                "placeFinder", "policy", "position", "observation", "pager", "turns", "center",
            ])
    }
}

@MainActor
extension ObservedModel<FeaturedPlaceManager.State> {
    static func featured() -> ObservedModel {
        let model = AppEnvironment.mock().makeFeaturedPlaceManager()
        return ObservedModel(
            model: model,
            properties: [
                ("currentPlace", { $0.currentPlace = .fixture() }, { model.currentPlace }),
                ("places", { $0.places = .fixtures(1) }, { model.places }),
                ("phase", { $0.phase = .loaded }, { model.phase }),
                ("isKept", { $0.isKept = true }, { model.isKept }),
                ("source", { $0.source = .kept }, { model.source }),
                ("coverage", { $0.coverage = .partial }, { model.coverage }),
                ("receivedAt", { $0.receivedAt = Date() }, { model.receivedAt }),
            ],
            unobserved: [
                "placeFinder", "locationSource", "timerScheduler", "policy", "timer", "turns", "center",
                "roundLoad",
            ])
    }
}

@MainActor
extension ObservedModel<PlacesMap.State> {
    static func map() -> ObservedModel {
        let model = AppEnvironment.mock().makeMap()
        let box = BoundingBox(west: 1, south: 2, east: 3, north: 4)
        return ObservedModel(
            model: model,
            properties: [
                ("box", { $0.box = box }, { model.box }),
                ("places", { $0.places = .fixtures(1) }, { model.places }),
                (
                    "clusters", { $0.clusters = [PlaceCluster(.fixture())].compactMap(\.self) },
                    { model.clusters }
                ),
                ("phase", { $0.phase = .loaded }, { model.phase }),
                ("isComplete", { $0.isComplete = true }, { model.isComplete }),
                ("isKept", { $0.isKept = true }, { model.isKept }),
                ("source", { $0.source = .kept }, { model.source }),
                ("coverage", { $0.coverage = .partial }, { model.coverage }),
                ("receivedAt", { $0.receivedAt = Date() }, { model.receivedAt }),
                ("request", { $0.request.limit = 7 }, { model.request }),
            ],
            unobserved: ["placeFinder", "policy", "running", "turns", "lastTurn", "shownBox"])
    }
}

@MainActor
extension ObservedModel<FavoritePlaces.State> {
    static func favorites() -> ObservedModel {
        let model = AppEnvironment.mock().makeFavorites(ids: [])
        return ObservedModel(
            model: model,
            properties: [
                ("ids", { $0.ids = [1] }, { model.ids }),
                ("places", { $0.places = .fixtures(1) }, { model.places }),
                ("missing", { $0.missing = [1] }, { model.missing }),
                ("phase", { $0.phase = .loaded }, { model.phase }),
                ("isKept", { $0.isKept = true }, { model.isKept }),
                ("receivedAt", { $0.receivedAt = Date() }, { model.receivedAt }),
            ],
            unobserved: ["placeFinder", "locationSource", "properties", "languages", "policy", "turns"])
    }
}

@MainActor
extension ObservedModel<Loadable<[CategoryCount]>.State> {
    static func categories() -> ObservedModel {
        let model = AppEnvironment.mock().makeCategories()
        return ObservedModel(
            model: model,
            properties: [
                ("value", { $0.value = [] }, { model.value }),
                ("phase", { $0.phase = .loaded }, { model.phase }),
                ("isKept", { $0.isKept = true }, { model.isKept }),
                ("receivedAt", { $0.receivedAt = Date() }, { model.receivedAt }),
            ],
            unobserved: ["fetch", "kept", "policy", "turns"])
    }
}

@MainActor
extension ObservedModel<PlaceSearch.State> {
    static func search() -> ObservedModel {
        let model = AppEnvironment.mock().makeSearch()
        return ObservedModel(
            model: model,
            properties: [
                ("text", { $0.text = "a" }, { model.text }),
                ("scope", { $0.scope = .everywhere }, { model.scope }),
                (
                    "results",
                    {
                        $0.results = [PlaceSearch.Result(place: .fixture(), matchedName: "", matches: [])]
                    }, { model.results }
                ),
                ("phase", { $0.phase = .loaded }, { model.phase }),
                ("isKept", { $0.isKept = true }, { model.isKept }),
                ("source", { $0.source = .kept }, { model.source }),
                ("coverage", { $0.coverage = .partial }, { model.coverage }),
                ("hasMore", { $0.hasMore = true }, { model.hasMore }),
            ],
            unobserved: ["list", "clock", "typing"])
    }
}
