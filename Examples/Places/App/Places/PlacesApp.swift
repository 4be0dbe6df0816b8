import CoreLocation
import PlacesCore
import PointsOfInterestClient
import SwiftUI
import UIKit

/// The app: starts it, and passes its phases on.
@main
struct PlacesApp: App {
    @Environment(\.scenePhase) private var scenePhase
    @State private var lifecycle = AppLifecycle()
    @State private var start: Result<PlacesSession, AppConfigurationError>

    /// What `openWindow` opens.
    static let windowID = "places"

    private let launch: Launch

    init() {
        let launch = Launch(
            events: Launch.folder("Events", in: .applicationSupportDirectory),
            responses: Launch.folder("Responses", in: .cachesDirectory),
            backgroundTime: SystemBackgroundTime(), makeLocationFetcher: { CLLocationManager() })
        self.launch = launch
        _start = State(initialValue: Self.start(launch))
    }

    var body: some Scene {
        // On an iPad, each window has its own models, and all share the session.
        WindowGroup(id: Self.windowID) {
            switch start {
            case .success(let session):
                RootView(session: session, useService: use, useEditorKey: edit)
                    // A session of its own for each service: nothing of the one before stays on the screen.
                    .id(ObjectIdentifier(session))
                    .task { await session.sendEvents() }
            case .failure(let error):
                Text(error.localizedDescription)
                    .padding()
            }
        }
        .onChange(of: scenePhase) { phase in change(to: phase) }
    }

    private static func start(
        _ launch: Launch, editorKey: String = ""
    ) -> Result<PlacesSession, AppConfigurationError> {
        do {
            return .success(try launch.session(editorKey: editorKey))
        } catch {
            return .failure(error)
        }
    }

    private func use(_ address: String) throws {
        try launch.settings.setBaseURL(address)
        start = Self.start(launch)
    }

    private func edit(withKey key: String) {
        start = Self.start(launch, editorKey: key)
    }

    private func change(to phase: ScenePhase) {
        guard case .success(let session) = start, let change = lifecycle.change(to: .init(phase)) else {
            return
        }
        Task { await session.perform(change) }
    }
}

extension AppLifecycle.Phase {
    fileprivate init(_ phase: ScenePhase) {
        switch phase {
        case .active: self = .active
        case .background: self = .background
        // Inactive, or a phase that is newer than this code.
        default: self = .inactive
        }
    }
}

/// The system's time for an app in the background.
private final class SystemBackgroundTime: BackgroundTime {
    func begin(_ name: String, onExpiry: @escaping @MainActor @Sendable () -> Void) -> Int {
        UIApplication.shared.beginBackgroundTask(withName: name, expirationHandler: onExpiry).rawValue
    }

    func end(_ id: Int) {
        UIApplication.shared.endBackgroundTask(UIBackgroundTaskIdentifier(rawValue: id))
    }
}
