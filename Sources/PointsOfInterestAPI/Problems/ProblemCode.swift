/// The kind of a problem, for programs: a stable code in kebab case. A newer service may send codes that aren't here.
public struct ProblemCode: RawRepresentable, Hashable, Sendable, Codable {
    /// The code as it is written in JSON.
    public let rawValue: String

    /// Makes a code, known or not.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    // A request's parameters.

    /// Parameters have several kinds of faults, see the problem's `errors`.
    public static let invalidParameters = ProblemCode(rawValue: "invalid-parameters")
    /// The endpoint has no such parameter.
    public static let unknownParameter = ProblemCode(rawValue: "unknown-parameter")
    /// The parameter is given more than once.
    public static let repeatedParameter = ProblemCode(rawValue: "repeated-parameter")
    /// A required parameter is absent.
    public static let missingParameter = ProblemCode(rawValue: "missing-parameter")
    /// The parameter has no value.
    public static let emptyParameter = ProblemCode(rawValue: "empty-parameter")
    /// The query has more parameters than the service reads.
    public static let tooManyParameters = ProblemCode(rawValue: "too-many-parameters")
    /// The percent-encoding is malformed, or what it encodes isn't UTF-8.
    public static let malformedEncoding = ProblemCode(rawValue: "malformed-encoding")
    /// The value is not a decimal number.
    public static let notANumber = ProblemCode(rawValue: "not-a-number")
    /// The value is not a whole number.
    public static let notAnInteger = ProblemCode(rawValue: "not-an-integer")
    /// The number is out of its range.
    public static let outOfRange = ProblemCode(rawValue: "out-of-range")
    /// The latitude is out of range, and both numbers would be valid if they were swapped.
    public static let swappedCoordinates = ProblemCode(rawValue: "swapped-coordinates")
    /// The value is neither `true` nor `false`.
    public static let notABoolean = ProblemCode(rawValue: "not-a-boolean")
    /// A list has more values than it may.
    public static let tooManyValues = ProblemCode(rawValue: "too-many-values")
    /// The bounding box is not four edges, or its south is north of its north.
    public static let malformedBox = ProblemCode(rawValue: "malformed-box")
    /// There has never been such a category.
    public static let unknownCategory = ProblemCode(rawValue: "unknown-category")
    /// The query names a dataset that has no places and isn't described.
    public static let unknownDataset = ProblemCode(rawValue: "unknown-dataset")
    /// The query filters by a property that can't be filtered by.
    public static let unknownProperty = ProblemCode(rawValue: "unknown-property")
    /// The list has something that is no language tag.
    public static let malformedLanguage = ProblemCode(rawValue: "malformed-language")
    /// Places can't be ordered so.
    public static let unknownSort = ProblemCode(rawValue: "unknown-sort")
    /// The parameter can't be given together with another.
    public static let conflictingParameters = ProblemCode(rawValue: "conflicting-parameters")
    /// The cursor is not one that the service made.
    public static let malformedCursor = ProblemCode(rawValue: "malformed-cursor")
    /// The cursor belongs to another query.
    public static let cursorMismatch = ProblemCode(rawValue: "cursor-mismatch")

    // A request as a whole.

    /// More places match a digest's filter than the service compares.
    public static let areaTooLarge = ProblemCode(rawValue: "area-too-large")
    /// The request is malformed or ambiguous.
    public static let badRequest = ProblemCode(rawValue: "bad-request")
    /// The request has no key, or a wrong one.
    public static let unauthorized = ProblemCode(rawValue: "unauthorized")
    /// The request's key isn't accepted. Earlier servers sent this for a wrong key; now that is `unauthorized`.
    public static let forbidden = ProblemCode(rawValue: "forbidden")
    /// The client sends more requests than it may.
    public static let tooManyRequests = ProblemCode(rawValue: "too-many-requests")
    /// The service has no such path: most likely the base URL is wrong. Earlier servers sent `notFound`.
    public static let unknownPath = ProblemCode(rawValue: "unknown-path")
    /// There is no place with this id.
    public static let notFound = ProblemCode(rawValue: "not-found")
    /// The place is gone for good, or until somebody restores it. From version 0.6.0 of the service on.
    public static let gone = ProblemCode(rawValue: "gone")
    /// The path exists, but not for this method.
    public static let methodNotAllowed = ProblemCode(rawValue: "method-not-allowed")
    /// The service has no representation that the request accepts.
    public static let notAcceptable = ProblemCode(rawValue: "not-acceptable")
    /// The request would change a place, and doesn't say by `If-Match` which version of it.
    public static let preconditionRequired = ProblemCode(rawValue: "precondition-required")
    /// The resource doesn't match the request's `If-Match`.
    public static let preconditionFailed = ProblemCode(rawValue: "precondition-failed")
    /// The request was not complete in time.
    public static let requestTimeout = ProblemCode(rawValue: "request-timeout")
    /// The request's body is too large.
    public static let contentTooLarge = ProblemCode(rawValue: "content-too-large")
    /// The body isn't JSON, or not the document that the endpoint reads.
    public static let malformedBody = ProblemCode(rawValue: "malformed-body")
    /// The body is of a media type that the endpoint doesn't read.
    public static let unsupportedMediaType = ProblemCode(rawValue: "unsupported-media-type")
    /// The body has a coding that the endpoint doesn't read.
    public static let unsupportedContentEncoding = ProblemCode(rawValue: "unsupported-content-encoding")
    /// Some events of a batch have faults, so no event is stored.
    public static let invalidEvents = ProblemCode(rawValue: "invalid-events")
    /// Members of the body have faults, see the problem's `memberErrors`.
    public static let invalidContent = ProblemCode(rawValue: "invalid-content")
    /// The key is for reading, and not an editor's.
    public static let notAnEditor = ProblemCode(rawValue: "not-an-editor")
    /// The place was merged into another one, see the problem's `mergedInto`.
    public static let merged = ProblemCode(rawValue: "merged")
    /// Another request had the same `Idempotency-Key`.
    public static let idempotencyKeyReused = ProblemCode(rawValue: "idempotency-key-reused")
    /// The request's target is too long.
    public static let uriTooLong = ProblemCode(rawValue: "uri-too-long")
    /// The request's headers are too large.
    public static let headersTooLarge = ProblemCode(rawValue: "headers-too-large")
    /// The service doesn't meet the request's `Expect`.
    public static let expectationFailed = ProblemCode(rawValue: "expectation-failed")

    // The service.

    /// The service failed; its log has the reason.
    public static let internalError = ProblemCode(rawValue: "internal-error")
    /// The service doesn't implement what the request needs.
    public static let notImplemented = ProblemCode(rawValue: "not-implemented")
    /// The service doesn't support the request's version of HTTP.
    public static let httpVersionNotSupported = ProblemCode(rawValue: "http-version-not-supported")
    /// The service already handles as many requests as it takes at once.
    public static let overloaded = ProblemCode(rawValue: "overloaded")
    /// The service isn't ready yet, or is shutting down.
    public static let notReady = ProblemCode(rawValue: "not-ready")
    /// The service can't reach the database.
    public static let databaseUnavailable = ProblemCode(rawValue: "database-unavailable")
    /// The service counts clusters from the places in memory, and has none there.
    public static let indexRequired = ProblemCode(rawValue: "index-required")
    /// No connection to the database came free in time.
    public static let databaseBusy = ProblemCode(rawValue: "database-busy")
    /// Finding the places took too long.
    public static let queryTimeout = ProblemCode(rawValue: "query-timeout")

    // These come from a load balancer in front of the service.

    /// The load balancer could not reach a server.
    public static let badGateway = ProblemCode(rawValue: "bad-gateway")
    /// A server didn't respond in time.
    public static let gatewayTimeout = ProblemCode(rawValue: "gateway-timeout")

    /// The problem document has no code: another program sent it.
    public static let unspecified = ProblemCode(rawValue: "unspecified")
}

extension ProblemCode {
    /// The code for an HTTP status.
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
        case 409: self = .merged
        case 410: self = .gone
        case 412: self = .preconditionFailed
        case 413: self = .contentTooLarge
        case 414: self = .uriTooLong
        case 415: self = .unsupportedMediaType
        case 417: self = .expectationFailed
        case 422: self = .invalidEvents
        case 428: self = .preconditionRequired
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

// MARK: - Status and title

extension ProblemCode {
    /// The status and the title of a problem. `PointsOfInterestServerAPI` has longer texts.
    package struct Kind: Sendable {
        /// The status of the response, unless HTTP asks for another.
        package let status: Int
        /// What kind of problem this is, for people.
        package let title: String

        fileprivate init(_ status: Int, _ title: String) {
            self.status = status
            self.title = title
        }
    }

    /// The status and the title of every code that the service, or the load balancer in front of it, sends.
    package static let kinds: [ProblemCode: Kind] = [
        .invalidParameters: Kind(400, "Several parameters are wrong"),
        .unknownParameter: Kind(400, "There is no such parameter"),
        .repeatedParameter: Kind(400, "A parameter is given more than once"),
        .missingParameter: Kind(400, "A parameter is missing"),
        .emptyParameter: Kind(400, "A parameter is empty"),
        .tooManyParameters: Kind(400, "There are too many parameters"),
        .malformedEncoding: Kind(400, "A parameter is not encoded properly"),
        .notANumber: Kind(400, "A parameter is not a number"),
        .notAnInteger: Kind(400, "A parameter is not a whole number"),
        .outOfRange: Kind(400, "A parameter is out of range"),
        .swappedCoordinates: Kind(400, "Latitude and longitude look swapped"),
        .notABoolean: Kind(400, "A parameter is neither true nor false"),
        .tooManyValues: Kind(400, "A list has too many values"),
        .malformedBox: Kind(400, "The bounding box is malformed"),
        .unknownCategory: Kind(400, "There is no such category"),
        .unknownDataset: Kind(400, "There is no such dataset"),
        .unknownProperty: Kind(400, "There is no such property to filter by"),
        .malformedLanguage: Kind(400, "A language tag is malformed"),
        .unknownSort: Kind(400, "There is no such order"),
        .conflictingParameters: Kind(400, "Two parameters exclude each other"),
        .malformedCursor: Kind(400, "The cursor is malformed"),
        .cursorMismatch: Kind(400, "The cursor belongs to another query"),
        .areaTooLarge: Kind(400, "There are too many places to compare"),
        .badRequest: Kind(400, "The request is malformed"),
        .unauthorized: Kind(401, "A key is needed"),
        .forbidden: Kind(403, "The key is not accepted"),
        .unknownPath: Kind(404, "There is nothing at this path"),
        .notFound: Kind(404, "There is nothing here"),
        .gone: Kind(410, "The place is gone"),
        .notAnEditor: Kind(403, "The key is not an editor's"),
        .merged: Kind(409, "The place was merged into another one"),
        .preconditionRequired: Kind(428, "The version to change is not named"),
        .invalidContent: Kind(422, "The content has faults"),
        .idempotencyKeyReused: Kind(422, "The key belongs to another request"),
        .methodNotAllowed: Kind(405, "The method is not allowed here"),
        .notAcceptable: Kind(406, "There is no acceptable representation"),
        .preconditionFailed: Kind(412, "The precondition doesn't hold"),
        .requestTimeout: Kind(408, "The request took too long to arrive"),
        .contentTooLarge: Kind(413, "The body is too large"),
        .uriTooLong: Kind(414, "The request target is too long"),
        .malformedBody: Kind(400, "The body is malformed"),
        .unsupportedMediaType: Kind(415, "The media type is not read here"),
        .unsupportedContentEncoding: Kind(415, "The coding is not read here"),
        .invalidEvents: Kind(422, "Some events are not valid"),
        .expectationFailed: Kind(417, "The expectation can't be met"),
        .tooManyRequests: Kind(429, "There are too many requests"),
        .headersTooLarge: Kind(431, "The headers are too large"),
        .internalError: Kind(500, "The service failed"),
        .notImplemented: Kind(501, "The service can't do this"),
        .badGateway: Kind(502, "No server has responded"),
        .overloaded: Kind(503, "The service is overloaded"),
        .notReady: Kind(503, "The service is not ready"),
        .databaseUnavailable: Kind(503, "The database is not available"),
        .indexRequired: Kind(501, "This service does not keep its places in memory"),
        .databaseBusy: Kind(503, "The database is busy"),
        .queryTimeout: Kind(504, "The query took too long"),
        .gatewayTimeout: Kind(504, "A server took too long to respond"),
        .httpVersionNotSupported: Kind(505, "The version of HTTP is not supported"),
    ]
}
