extension ProblemCode {
    /// The code for what HTTP alone knows of an error: its status.
    ///
    /// - Parameter status: 400…599.
    public init(status: Int) {
        switch status {
        case 401: self = .unauthorized
        case 403: self = .forbidden
        case 404: self = .notFound
        case 405: self = .methodNotAllowed
        case 406: self = .notAcceptable
        case 408: self = .requestTimeout
        case 412: self = .preconditionFailed
        case 413: self = .contentTooLarge
        case 414: self = .uriTooLong
        case 415: self = .unsupportedMediaType
        case 417: self = .expectationFailed
        case 422: self = .invalidEvents
        case 429: self = .tooManyRequests
        case 431: self = .headersTooLarge
        case 501: self = .notImplemented
        case 502: self = .badGateway
        case 503: self = .overloaded
        case 504: self = .gatewayTimeout
        case 505: self = .httpVersionNotSupported
        case ..<500: self = .badRequest
        default: self = .internalError
        }
    }
}
