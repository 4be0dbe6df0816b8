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
                ObservedProperty(name: "hasMore", change: { $0.hasMore = true }, read: { model.hasMore }),
                ObservedProperty(
                    name: "receivedAt", change: { $0.receivedAt = Date() }, read: { model.receivedAt }),
                ObservedProperty(name: "request", change: { $0.request.limit = 7 }, read: { model.request }),
            ],
            unobserved: [
                "placeFinder", "locationSource", "observation", "pager", "loads", "loadCount", "settledLoad",
                "settledPhase",
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
                ObservedProperty(
                    name: "lastError", change: { $0.lastError = .request(.notHTTP) },
                    read: { model.lastError }),
            ],
            unobserved: [
                "placeFinder", "locationSource", "timerScheduler", "timer", "refreshCount", "roundRefresh",
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
                ObservedProperty(
                    name: "isLoading", change: { $0.isLoading = true }, read: { model.isLoading }),
                ObservedProperty(
                    name: "isComplete", change: { $0.isComplete = true }, read: { model.isComplete }),
                ObservedProperty(
                    name: "lastError", change: { $0.lastError = .notHTTP }, read: { model.lastError }),
                ObservedProperty(name: "request", change: { $0.request.limit = 7 }, read: { model.request }),
            ],
            unobserved: ["placeFinder", "load", "turn"])
    }
}
