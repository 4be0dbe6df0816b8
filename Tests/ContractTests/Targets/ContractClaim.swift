/// What a test says of itself: of which data it is true, and which targets it can be run against.
struct ContractClaim: Sendable {
    /// Of which data a test is true.
    enum Truth: Sendable {
        /// Of any, none at all included.
        case invariant
        /// Of the seed.
        case seeded
    }

    /// What else decides where a test runs.
    enum Note: Sendable {
        /// All its requests are recorded, so that no server is needed.
        case recorded
        /// It needs a server whose settings are the suite's own.
        case ownSettings
        /// It sends what it marks as a test, and may be repeated.
        case writesTestData
        /// It is about more than one target, or about the suite: it runs once, with the local target.
        case once
    }

    let truth: Truth
    let notes: Set<Note>

    /// Why the test doesn't run with a configuration; nil where it does.
    func obstacle(in configuration: ContractConfiguration) -> String? {
        if notes.contains(.once), configuration.target != .local {
            return "runs once, with the local target"
        }
        if configuration.target == .recorded || configuration.isRecording, !notes.contains(.recorded) {
            return "a server's to show: nothing of it is recorded"
        }
        if case .remote = configuration.target, notes.contains(.ownSettings) {
            return "POI_BASE_URL names a service with settings of its own"
        }
        if truth == .seeded, !configuration.isSeeded {
            return
                "POI_BASE_URL names a service with data of its own; POI_CONTRACT_SEEDED=true says otherwise"
        }
        return nil
    }
}
