/// A tracker for an app without a queue: its events only get to observers.
struct NowhereTracker: Tracker {
    func track(_ event: TrackedEvent) {}
}
