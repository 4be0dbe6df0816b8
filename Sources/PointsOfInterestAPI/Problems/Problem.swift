/// Why a request failed, as the service tells it (RFC 9457, `application/problem+json`).
public struct Problem: Hashable, Sendable {
    /// A URI reference that names the kind of problem: `/problems/` and the code.
    public var type: String
    /// What kind of problem this is, for people; the same for every problem of its code.
    public var title: String
    /// The HTTP status of the answer.
    public var status: Int
    /// What went wrong this time, for people.
    public var detail: String?
    /// What kind of problem this is, for programs.
    public var code: ProblemCode
    /// The request's id, by which the service's logs know it.
    public var requestId: String?
    /// Every fault of the request's parameters; empty where the problem is another.
    public var errors: [ParameterFault]
    /// Every event of the request that has faults; empty where the problem is another. They are sent as `errors`.
    public var eventErrors: [EventFault]

    /// Makes a problem of a code, which decides its type, its title and, where none is given, its status.
    public init(
        _ code: ProblemCode, status: Int? = nil, detail: String? = nil, requestId: String? = nil,
        errors: [ParameterFault] = [], eventErrors: [EventFault] = []
    ) {
        let definition = ProblemCode.definitions[code]
        self.type = "/problems/\(code.rawValue)"
        self.title = definition?.title ?? code.rawValue
        self.status = status ?? definition?.status ?? 500
        self.detail = detail
        self.code = code
        self.requestId = requestId
        self.errors = errors
        self.eventErrors = eventErrors
    }

    /// Makes the problem of a request that was refused for its parameters.
    public init(_ error: ParameterError, requestId: String? = nil) {
        self.init(
            error.code,
            detail: error.faults.map { "\($0.parameter) \($0.detail)" }.joined(separator: "; "),
            requestId: requestId,
            errors: error.faults)
    }
}
