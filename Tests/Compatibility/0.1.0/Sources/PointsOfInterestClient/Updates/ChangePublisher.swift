#if canImport(Combine)
    import Combine

    /// The publisher of an observable object that is the main actor's.
    ///
    /// Unchecked, because Combine asks for the publisher from anywhere and doesn't say that it is `Sendable`;
    /// sending through it is safe from any thread, and ours send on the main one.
    struct ChangePublisher: @unchecked Sendable {
        let publisher = ObservableObjectPublisher()
    }
#endif
