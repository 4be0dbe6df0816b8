import Testing

@testable import PointsOfInterestContract

extension Trait where Self == ConditionTrait {
    /// About the suite and not about a target: runs with the local one alone.
    static var onceOnly: Self {
        .enabled(if: ContractConfiguration.current.target == .local, "runs once, with the local target")
    }
}
