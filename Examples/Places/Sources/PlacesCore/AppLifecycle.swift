/// Follows the app between foreground and background.
public struct AppLifecycle: Hashable, Sendable {
    /// A scene's phase, as SwiftUI names it.
    public enum Phase: Hashable, Sendable, CaseIterable {
        /// The scene is in the foreground and takes touches.
        case active
        /// The scene is visible and takes none: below a call, or in the app switcher.
        case inactive
        /// The scene is not visible.
        case background
    }

    /// What a change of the phase means.
    public enum Change: Hashable, Sendable, CaseIterable {
        /// The app was started, or came back.
        case enterForeground
        /// The app went to the background.
        case enterBackground
    }

    private var isInForeground = false

    /// Makes the lifecycle of an app that was just started.
    public init() {}

    /// Changes the phase.
    ///
    /// - Returns: what that means; nil where the app stays in the foreground, or in the background.
    public mutating func change(to phase: Phase) -> Change? {
        switch (phase, isInForeground) {
        case (.active, false):
            isInForeground = true
            return .enterForeground
        case (.background, true):
            isInForeground = false
            return .enterBackground
        default: return nil
        }
    }
}

/// Asks the system for time after the app went to the background: `UIApplication`, or a stand-in in a test.
@MainActor
public protocol BackgroundTime: AnyObject {
    /// Asks for time, as `UIApplication.beginBackgroundTask(withName:expirationHandler:)` does.
    ///
    /// - Returns: the id that `end(_:)` takes.
    func begin(_ name: String, onExpiry: @escaping @MainActor @Sendable () -> Void) -> Int
    /// Gives the rest of the time back. The system ends an app that doesn't call this before its time is over.
    func end(_ id: Int)
}

extension BackgroundTime {
    /// Works in the background until it is done. The work is cancelled when the time is over.
    public func keepAwake(_ name: String, for work: @escaping @MainActor @Sendable () async -> Void) async {
        let task = Task { await work() }
        let turn = BackgroundTurn(self)
        turn.id = begin(name) {
            task.cancel()
            // At once: the system doesn't wait for the work to notice.
            turn.end()
        }
        await task.value
        turn.end()
    }
}

/// Time that is given back once.
@MainActor
private final class BackgroundTurn {
    var id: Int?
    private let time: any BackgroundTime

    init(_ time: any BackgroundTime) {
        self.time = time
    }

    func end() {
        guard let id else { return }
        self.id = nil
        time.end(id)
    }
}
