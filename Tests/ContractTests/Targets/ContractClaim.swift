import Testing

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

extension Trait where Self == ConditionTrait {
    /// What every test of the contract says: of which data it is true, and what else decides where it runs. Where it
    /// can't be true it is skipped, and the report says why.
    static func contract(
        _ truth: ContractClaim.Truth, _ notes: ContractClaim.Note...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Self {
        let claim = ContractClaim(truth: truth, notes: Set(notes))
        // With an unusable configuration there is no reason to give: the condition ends the process.
        let reason = (try? ContractConfiguration.attempt.get()).flatMap(claim.obstacle)
        return .enabled(
            if: claim.obstacle(in: .current) == nil, reason.map { Comment(rawValue: $0) },
            sourceLocation: sourceLocation)
    }

    /// What a test needs to show anything: a service of somebody else's may have fewer places, or none.
    static func needs(places: Int, sourceLocation: SourceLocation = #_sourceLocation) -> Self {
        .enabled("the service has fewer than \(places) places", sourceLocation: sourceLocation) {
            // If this fails the test runs, and fails itself: an error that is thrown here is in no report.
            (try? await Service.has(places: places)) ?? true
        }
    }
}
