import Testing

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
            // Where that can't be told the test runs, and fails by itself: what throws here is in no report.
            (try? await Service.has(places: places)) ?? true
        }
    }
}
