/// A request refused for its parameters.
public struct ParameterError: Error, Hashable, Sendable {
    /// Every fault of the request, never empty.
    public let faults: [ParameterFault]

    /// What a client matches on: the faults' code where all have the same, else `invalid-parameters`.
    public var code: ProblemCode {
        guard let first = faults.first?.code, faults.allSatisfy({ $0.code == first }) else {
            return .invalidParameters
        }
        return first
    }

    /// Makes an error of at least one fault.
    public init(faults: [ParameterFault]) {
        self.faults = faults
    }
}
