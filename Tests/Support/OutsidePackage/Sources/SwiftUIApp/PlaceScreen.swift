import PointsOfInterestClient
import SwiftUI

/// A screen of an app: no name of the client's hides one of SwiftUI's.
struct PlaceScreen {
    @Environment(\.dismiss) private var dismiss

    let environment: AppEnvironment

    @MainActor
    func close() {
        environment.trackingModel.sendTrackingEvent(.background)
        dismiss()
    }
}
