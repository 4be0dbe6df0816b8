import Locking
import Foundation

/// A notification center of a test's own, which takes note of what is posted to it.
///
/// Unchecked, because notifications are posted on any thread; the lock guards the notes.
public final class MockNotificationCenter: NotificationCenter, @unchecked Sendable {
    private let names = Lock<[Notification.Name]>([])

    // Foundation for Linux requires the initialiser of subclasses, Apple's doesn't.
    #if canImport(Darwin)
        /// Makes a center without observers.
        public override init() {
            super.init()
            takeNotes()
        }
    #else
        /// Makes a center without observers.
        public required init() {
            super.init()
            takeNotes()
        }
    #endif

    /// The names of all notifications so far, in order.
    public var postedNames: [Notification.Name] { names.withLock { $0 } }

    private func takeNotes() {
        // The observer stays as long as the center, so nobody keeps its token.
        _ = addObserver(forName: nil, object: nil, queue: nil) { [names] notification in
            names.withLock { $0.append(notification.name) }
        }
    }
}
