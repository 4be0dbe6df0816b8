import Foundation
import PointsOfInterestClient
import SwiftUI

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
