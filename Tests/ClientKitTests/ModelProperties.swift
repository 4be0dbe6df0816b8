import Foundation
@testable import PointsOfInterestClient
import PointsOfInterestTesting

/// An observable property of a model: a change of it, and how a view reads it.
struct ObservedProperty<State> {
    let name: String
    let change: (inout State) -> Void
    let read: @MainActor () -> AnyHashable
}

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
                ObservedProperty(name: "phase", change: { $0.phase = .loaded }, read: { model.phase }),
                ObservedProperty(
                    name: "places", change: { $0.places = .fixtures(1) }, read: { model.places }),
                ObservedProperty(name: "isKept", change: { $0.isKept = true }, read: { model.isKept }),
                ObservedProperty(name: "hasMore", change: { $0.hasMore = true }, read: { model.hasMore }),
                ObservedProperty(
                    name: "receivedAt", change: { $0.receivedAt = Date() }, read: { model.receivedAt }),
                ObservedProperty(name: "request", change: { $0.request.limit = 7 }, read: { model.request }),
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
                ObservedProperty(
                    name: "currentPlace", change: { $0.currentPlace = .fixture() },
                    read: { model.currentPlace }),
                ObservedProperty(
                    name: "places", change: { $0.places = .fixtures(1) }, read: { model.places }),
                ObservedProperty(name: "phase", change: { $0.phase = .loaded }, read: { model.phase }),
                ObservedProperty(name: "isKept", change: { $0.isKept = true }, read: { model.isKept }),
                ObservedProperty(
                    name: "receivedAt", change: { $0.receivedAt = Date() }, read: { model.receivedAt }),
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
                ObservedProperty(name: "box", change: { $0.box = box }, read: { model.box }),
                ObservedProperty(
                    name: "places", change: { $0.places = .fixtures(1) }, read: { model.places }),
                ObservedProperty(
                    name: "clusters",
                    change: { $0.clusters = [PlaceCluster(.fixture())].compactMap(\.self) },
                    read: { model.clusters }),
                ObservedProperty(name: "phase", change: { $0.phase = .loaded }, read: { model.phase }),
                ObservedProperty(
                    name: "isComplete", change: { $0.isComplete = true }, read: { model.isComplete }),
                ObservedProperty(name: "isKept", change: { $0.isKept = true }, read: { model.isKept }),
                ObservedProperty(
                    name: "receivedAt", change: { $0.receivedAt = Date() }, read: { model.receivedAt }),
                ObservedProperty(name: "request", change: { $0.request.limit = 7 }, read: { model.request }),
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
                ObservedProperty(name: "ids", change: { $0.ids = [1] }, read: { model.ids }),
                ObservedProperty(
                    name: "places", change: { $0.places = .fixtures(1) }, read: { model.places }),
                ObservedProperty(name: "phase", change: { $0.phase = .loaded }, read: { model.phase }),
                ObservedProperty(name: "isKept", change: { $0.isKept = true }, read: { model.isKept }),
                ObservedProperty(
                    name: "receivedAt", change: { $0.receivedAt = Date() }, read: { model.receivedAt }),
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
                ObservedProperty(name: "value", change: { $0.value = [] }, read: { model.value }),
                ObservedProperty(name: "phase", change: { $0.phase = .loaded }, read: { model.phase }),
                ObservedProperty(name: "isKept", change: { $0.isKept = true }, read: { model.isKept }),
                ObservedProperty(
                    name: "receivedAt", change: { $0.receivedAt = Date() }, read: { model.receivedAt }),
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
                ObservedProperty(name: "text", change: { $0.text = "a" }, read: { model.text }),
                ObservedProperty(name: "scope", change: { $0.scope = .everywhere }, read: { model.scope }),
                ObservedProperty(
                    name: "results",
                    change: {
                        $0.results = [PlaceSearch.Result(place: .fixture(), matchedName: "", matches: [])]
                    },
                    read: { model.results }),
                ObservedProperty(name: "phase", change: { $0.phase = .loaded }, read: { model.phase }),
                ObservedProperty(name: "isKept", change: { $0.isKept = true }, read: { model.isKept }),
                ObservedProperty(name: "hasMore", change: { $0.hasMore = true }, read: { model.hasMore }),
            ],
            unobserved: ["list", "clock", "typing"])
    }
}
