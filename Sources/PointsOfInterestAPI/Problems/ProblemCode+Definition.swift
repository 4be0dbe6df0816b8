extension ProblemCode {
    /// What goes with a code in every problem of that kind.
    package struct Definition: Sendable {
        package let status: Int
        package let title: String
    }

    /// Every code that the service sends, with its status and its title.
    package static let definitions: [ProblemCode: Definition] = [
        .invalidParameters: Definition(status: 400, title: "Several parameters are wrong"),
        .unknownParameter: Definition(status: 400, title: "There is no such parameter"),
        .repeatedParameter: Definition(status: 400, title: "A parameter is given more than once"),
        .missingParameter: Definition(status: 400, title: "A parameter is missing"),
        .emptyParameter: Definition(status: 400, title: "A parameter is empty"),
        .tooManyParameters: Definition(status: 400, title: "There are too many parameters"),
        .malformedEncoding: Definition(status: 400, title: "A parameter is not encoded properly"),
        .notANumber: Definition(status: 400, title: "A parameter is not a number"),
        .notAnInteger: Definition(status: 400, title: "A parameter is not a whole number"),
        .outOfRange: Definition(status: 400, title: "A parameter is out of range"),
        .swappedCoordinates: Definition(status: 400, title: "Latitude and longitude look swapped"),
        .notABoolean: Definition(status: 400, title: "A parameter is neither true nor false"),
        .tooManyValues: Definition(status: 400, title: "A list has too many values"),
        .malformedBox: Definition(status: 400, title: "The bounding box is malformed"),
        .unknownCategory: Definition(status: 400, title: "There is no such category"),
        .conflictingParameters: Definition(status: 400, title: "Two parameters exclude each other"),
        .malformedCursor: Definition(status: 400, title: "The cursor is malformed"),
        .cursorMismatch: Definition(status: 400, title: "The cursor belongs to another query"),

        .badRequest: Definition(status: 400, title: "The request is malformed"),
        .unauthorized: Definition(status: 401, title: "A key is needed"),
        .forbidden: Definition(status: 403, title: "The key is not accepted"),
        .notFound: Definition(status: 404, title: "There is nothing here"),
        .methodNotAllowed: Definition(status: 405, title: "The method is not allowed here"),
        .notAcceptable: Definition(status: 406, title: "There is no acceptable representation"),
        .requestTimeout: Definition(status: 408, title: "The request took too long to arrive"),
        .contentTooLarge: Definition(status: 413, title: "The body is too large"),
        .uriTooLong: Definition(status: 414, title: "The request target is too long"),
        .expectationFailed: Definition(status: 417, title: "The expectation can't be met"),
        .tooManyRequests: Definition(status: 429, title: "There are too many requests"),
        .headersTooLarge: Definition(status: 431, title: "The headers are too large"),

        .internalError: Definition(status: 500, title: "The service failed"),
        .notImplemented: Definition(status: 501, title: "The service can't do this"),
        .overloaded: Definition(status: 503, title: "The service is overloaded"),
        .notReady: Definition(status: 503, title: "The service is not ready"),
        .databaseUnavailable: Definition(status: 503, title: "The database is not available"),
        .databaseBusy: Definition(status: 503, title: "The database is busy"),
        .queryTimeout: Definition(status: 504, title: "The query took too long"),
        .httpVersionNotSupported: Definition(status: 505, title: "The version of HTTP is not supported"),
    ]

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
        case 413: self = .contentTooLarge
        case 414: self = .uriTooLong
        case 417: self = .expectationFailed
        case 429: self = .tooManyRequests
        case 431: self = .headersTooLarge
        case 501: self = .notImplemented
        case 503: self = .overloaded
        case 505: self = .httpVersionNotSupported
        case ..<500: self = .badRequest
        default: self = .internalError
        }
    }
}
