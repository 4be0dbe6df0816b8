/// What goes wrong with an answer of `poi-mock`.
public enum MockFault: Hashable, Sendable {
    /// The service refuses with a problem, without looking at the request.
    ///
    /// - status: 400…599.
    /// - code: the problem's code; nil is the one that HTTP's status alone tells.
    /// - detail: the problem's detail.
    /// - retryAfterSeconds: what `Retry-After` says, 0…86400; nil leaves the field out.
    case problem(status: Int, code: String? = nil, detail: String? = nil, retryAfterSeconds: Int? = nil)
    /// Something in front of the service, a proxy or a captive portal, answers a page of HTML with a status of
    /// 200…599.
    case page(status: Int)
    /// The connection is reset, and there is no answer.
    case reset
    /// The connection ends after so many bytes of the body, of which the head told the whole length; nil is half
    /// of the body.
    case truncatedBody(bytes: Int? = nil)
    /// The body's first half alone, whole as far as HTTP can tell.
    case malformedJSON
    /// The body comes `bytes` at a time, one piece every `intervalSeconds`.
    case slowDrip(bytes: Int, intervalSeconds: Double)

    /// Which case it is, as a journal names it.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// See `MockFault.problem`.
        case problem
        /// See `MockFault.page`.
        case page
        /// See `MockFault.reset`.
        case reset
        /// See `MockFault.truncatedBody`.
        case truncatedBody = "truncated-body"
        /// See `MockFault.malformedJSON`.
        case malformedJSON = "malformed-json"
        /// See `MockFault.slowDrip`.
        case slowDrip = "slow-drip"
    }

    /// Which case it is.
    public var kind: Kind {
        switch self {
        case .problem: .problem
        case .page: .page
        case .reset: .reset
        case .truncatedBody: .truncatedBody
        case .malformedJSON: .malformedJSON
        case .slowDrip: .slowDrip
        }
    }
}
