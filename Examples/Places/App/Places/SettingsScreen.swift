import PlacesCore
import SwiftUI
import UIKit

/// Which service the app uses, and an editor's key to it.
struct SettingsScreen: View {
    let current: URL
    let useService: @MainActor (String) throws -> Void
    let isEditor: Bool
    /// An empty key ends the editing.
    let useEditorKey: @MainActor (String) -> Void

    @Environment(\.openWindow) private var openWindow
    @Environment(\.supportsMultipleWindows) private var supportsMultipleWindows
    @State private var address = ""
    @State private var problem: String?
    @State private var editorKey = ""

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
            Section {
                if isEditor {
                    Button("Stop editing") { useEditorKey("") }
                } else {
                    SecureField("Editor's key", text: $editorKey)
                    Button("Edit places") { useEditorKey(editorKey) }
                        .disabled(editorKey.isEmpty)
                }
            } header: {
                Text("Editing")
            } footer: {
                Text("The key is kept until the app ends, or uses another service.")
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
                SettingsScreen(
                    current: ServiceSettings.defaultBaseURL, useService: { _ in }, isEditor: false,
                    useEditorKey: { _ in })
            }
        }
    }
#endif
