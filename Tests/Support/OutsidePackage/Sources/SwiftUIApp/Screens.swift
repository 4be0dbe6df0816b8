import Foundation
import PointsOfInterestClient
import SwiftUI

/// The places nearby: SwiftUI's `List` of what the client's list has loaded. With Observation, a view that reads a model
/// is drawn again when the model changes.
struct ListScreen: View {
    @State private var list: PointsOfInterestList

    init(environment: AppEnvironment) {
        _list = State(wrappedValue: environment.makeList())
    }

    var body: some View {
        if case .failed(let error) = list.phase {
            Text(error.localizedDescription)
        }
        List(list.places) { place in
            Text(place.name)
        }
        .task { await list.load() }
        .refreshable { await list.load() }
        if list.hasMore {
            Button("More") { Task { await list.loadMore() } }
        }
    }
}

/// One place. No name of the client's hides one of SwiftUI's: see `Environment`.
struct PlaceScreen: View {
    @Environment(\.dismiss) private var dismiss

    let environment: AppEnvironment
    let place: PointOfInterest

    var body: some View {
        Text(place.name)
        Button("Close") { close() }
            .onAppear {
                environment.trackingModel.sendTrackingEvent(
                    .pageView(page: .locationDetail, additional: "\(place.id)"))
            }
    }

    private func close() {
        environment.trackingModel.sendTrackingEvent(.background)
        dismiss()
    }
}

/// The places of a region. Whether this works with MapKit is shown by `Examples/Places`: a stand-in of MapKit in this
/// package would also be seen by the client, which asks whether there is one.
struct MapScreen: View {
    @State private var spanDegrees = 0.1
    @State private var map: PlacesMap

    let center: Coordinate

    init(environment: AppEnvironment, center: Coordinate) {
        _map = State(wrappedValue: environment.makeMap())
        self.center = center
    }

    var body: some View {
        List(map.places) { place in
            Text(place.name)
        }
        .task { await show() }
        if case .failed(let error) = map.phase {
            Text(error.localizedDescription)
        }
        Button("Zoom out") {
            spanDegrees *= 2
            Task { await show() }
        }
    }

    private func show() async {
        let box = BoundingBox(center: center, latitudeDelta: spanDegrees, longitudeDelta: spanDegrees)
        if let box { await map.load(box) }
    }
}

/// Which service the app talks to.
struct SettingsScreen: View {
    @State private var baseURL = ""

    let save: @MainActor (AppConfiguration) -> Void

    var body: some View {
        Form {
            TextField("Service", text: $baseURL)
            Button("Save") {
                if let url = URL(string: baseURL) { save(AppConfiguration(baseURL: url)) }
            }
        }
    }
}
