import Foundation

/// Calls a closure on the main actor at each notification of a name, until it is deallocated.
final class NotificationObservation {
    private let center: NotificationCenter
    private let token: any NSObjectProtocol

    init(
        of name: Notification.Name, in center: NotificationCenter,
        _ body: @escaping @MainActor @Sendable () async -> Void
    ) {
        self.center = center
        token = center.addObserver(forName: name, object: nil, queue: nil) { _ in
            Task { @MainActor in await body() }
        }
    }

    deinit {
        center.removeObserver(token)
    }
}
