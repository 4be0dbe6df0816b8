import PointsOfInterestClient
import SwiftUI

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
        if let error = map.lastError {
            Text(error.localizedDescription)
        }
        Button("Zoom out") {
            spanDegrees *= 2
            Task { await show() }
        }
    }

    private func show() async {
        let box = BoundingBox(center: center, latitudeDelta: spanDegrees, longitudeDelta: spanDegrees)
        if let box { await map.show(box) }
    }
}
