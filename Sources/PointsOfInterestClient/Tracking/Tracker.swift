/// Takes events to where they are counted. `EventQueue` does; a test has `MockTracker`.
public protocol Tracker: Sendable {
    /// Takes an event. Called on any thread, the main one too; doesn't wait for a network or a disk.
    func track(_ event: TrackedEvent)
}
