/// How a process learns that the data have changed.
public enum ListenMode: String, Sendable, CaseIterable {
    /// By LISTEN where that is seen to work, else by asking every second.
    case auto
    /// By LISTEN only: where it doesn't work, nothing is known.
    case on
    /// By asking every second.
    case off
}
