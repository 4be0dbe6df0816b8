import PlacesCore
import SwiftUI
import UIKit

/// Which service the app uses.
struct SettingsScreen: View {
    let current: URL
    let useService: @MainActor (String) throws -> Void

    @Environment(\.openWindow) private var openWindow
    @Environment(\.supportsMultipleWindows) private var supportsMultipleWindows
    @State private var address = ""
    @State private var problem: String?

    var body: some View {
        Form {
            Section {
                TextField("https://places.example.com", text: $address)
                    .keyboardType(.URL)
                    .textInputAutocapitalization(.never)
                    .autocorrectionDisabled()
                    .onSubmit { use() }
                Button("Use this service", action: use)
                    .disabled(address == current.absoluteString)
            } header: {
                Text("Service")
            } footer: {
                if let problem {
                    Text(problem).foregroundStyle(.red)
                } else {
                    Text("The app uses \(current.absoluteString).")
                }
            }
            if supportsMultipleWindows {
                Section {
                    Button("Open another window") { openWindow(id: PlacesApp.windowID) }
                }
            }
        }
        .navigationTitle("Settings")
        .onAppear { address = current.absoluteString }
    }

    private func use() {
        do {
            try useService(address)
            problem = nil
        } catch {
            problem = error.localizedDescription
        }
    }
}

#if DEBUG
    struct SettingsScreen_Previews: PreviewProvider {
        static var previews: some View {
            NavigationStack {
                SettingsScreen(current: ServiceSettings.defaultBaseURL, useService: { _ in })
            }
        }
    }
#endif
