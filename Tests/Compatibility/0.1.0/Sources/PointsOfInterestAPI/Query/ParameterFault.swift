/// One fault of a request's parameter; a problem lists them all.
public struct ParameterFault: Hashable, Sendable, Codable {
    /// The parameter's name as the request has it, shortened if long.
    public let parameter: String
    /// What is wrong, for programs.
    public let code: ProblemCode
    /// What is wrong, for people.
    public let detail: String

    /// Makes a fault.
    public init(parameter: String, code: ProblemCode, detail: String) {
        self.parameter = parameter
        self.code = code
        self.detail = detail
    }
}
