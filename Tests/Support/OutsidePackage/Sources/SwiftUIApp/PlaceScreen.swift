import PointsOfInterestClient
import SwiftUI

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
