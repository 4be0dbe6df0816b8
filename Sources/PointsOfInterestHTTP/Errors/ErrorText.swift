import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What the errors of this module say to people, each text with a key to translate it by.
///
/// An app translates them in a string catalogue of its own, `PointsOfInterest.xcstrings` in its main bundle, with
/// the raw values as keys. Where a translation is missing, the text is English. `Examples/Places` has a catalogue to
/// copy.
public enum ErrorText: String, CaseIterable, Sendable {
    /// The request was cancelled.
    case cancelled = "error.cancelled"
    /// The device has no network.
    case offline = "error.offline"
    /// There was no response in time.
    case timedOut = "error.timed-out"
    /// The service wasn't found, or there was no response for another reason.
    case unreachable = "error.unreachable"
    /// The connection was lost before the whole response was there.
    case connectionLost = "error.connection-lost"
    /// There is no secure connection: the certificate is refused, for instance since the device's date is wrong.
    case notSecure = "error.not-secure"
    /// The network, or a wrong address, leads to another server.
    case otherServer = "error.other-server"
    /// The service is overloaded, being restarted, or has failed.
    case unavailable = "error.unavailable"
    /// The service wants fewer requests.
    case tooManyRequests = "error.too-many-requests"
    /// The service doesn't accept the app's key.
    case unauthorized = "error.unauthorized"
    /// The base URL is wrong.
    case wrongAddress = "error.wrong-address"
    /// The place is gone.
    case placeGone = "error.place-gone"
    /// The category is unknown.
    case unknownCategory = "error.unknown-category"
    /// The search text is longer than the service reads.
    case searchTooLong = "error.search-too-long"
    /// The coordinate is out of range.
    case invalidCoordinate = "error.invalid-coordinate"
    /// The service refuses the request for a reason that only a developer can mend.
    case refused = "error.refused"
    /// The response is whole, but not what the app knows.
    case unreadable = "error.unreadable"
    /// The response isn't whole, or isn't one to this request.
    case damaged = "error.damaged"
    /// The person doesn't allow the app to use the location.
    case locationNotAuthorized = "error.location-not-authorized"
    /// The device failed to determine its location.
    case locationFailed = "error.location-failed"
    /// The device didn't determine its location in time.
    case locationTimedOut = "error.location-timed-out"
    /// What the app keeps on the device can't be read or written.
    case storageFailed = "error.storage-failed"

    /// The text in English.
    public var english: String {
        switch self {
        case .cancelled: "This was cancelled."
        case .offline: "You are offline."
        case .timedOut: "The service took too long to respond. Try again."
        case .unreachable: "The service could not be reached. Try again later."
        case .connectionLost: "The connection was lost. Try again."
        case .notSecure:
            "There is no secure connection to the service. Check the date of your device, and whether your network asks you to sign in."
        case .otherServer:
            "Another server responded in place of the service. If your network asks you to sign in, do that first."
        case .unavailable: "The service is not available at the moment. Try again later."
        case .tooManyRequests: "There were too many requests. Try again in a moment."
        case .unauthorized: "The service does not let this app in."
        case .wrongAddress: "The app does not find its service."
        case .placeGone: "This place no longer exists."
        case .unknownCategory: "There is no such category."
        case .searchTooLong: "The search text is too long."
        case .invalidCoordinate: "This is not a place on Earth."
        case .refused: "The service does not understand this app. An update of the app may help."
        case .unreadable: "The app does not understand the service. An update of the app may help."
        case .damaged: "The response of the service was damaged. Try again."
        case .locationNotAuthorized: "The app is not allowed to know your location."
        case .locationFailed: "Your location could not be determined."
        case .locationTimedOut: "Your location could not be determined in time."
        case .storageFailed: "The app cannot use its storage on this device. Maybe the device is full."
        }
    }

    /// The text in the language of a bundle, which is the main one in an app.
    public func localized(in bundle: Bundle = .main) -> String {
        bundle.localizedString(forKey: rawValue, value: english, table: "PointsOfInterest")
    }
}

extension RequestError: LocalizedError {
    /// A sentence for people, in their language where the app translates `ErrorText`. It never has the words of the system
    /// or a library; what a developer needs is in the error itself.
    public var errorDescription: String? { text.localized() }

    /// The text for people.
    public var text: ErrorText {
        switch reason {
        case .invalidCoordinate: .invalidCoordinate
        case .invalidBaseURL: .wrongAddress
        case .cancelled: .cancelled
        case .transport: urlErrorCode.map(ErrorText.init) ?? .unreachable
        case .redirectRefused: .otherServer
        case .foreignResponse(let status, _): ErrorText(foreignStatus: status)
        case .undecodableBody: .unreadable
        case .notHTTP, .damagedBody: .damaged
        case .problem(let problem): ErrorText(problem)
        case .unexpectedStatus(let status): ErrorText(status: status)
        }
    }
}

extension ErrorText {
    fileprivate init(_ code: URLError.Code) {
        switch code {
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive:
            self = .offline
        case .timedOut: self = .timedOut
        case .userAuthenticationRequired: self = .unauthorized
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateNotYetValid,
            .serverCertificateUntrusted, .serverCertificateHasUnknownRoot, .clientCertificateRejected,
            .clientCertificateRequired:
            self = .notSecure
        case .networkConnectionLost: self = .connectionLost
        case .dataLengthExceedsMaximum: self = .damaged
        default: self = .unreachable
        }
    }

    fileprivate init(_ problem: Problem) {
        switch problem.code {
        case .notFound, .gone: self = .placeGone
        case .unknownCategory: self = .unknownCategory
        case .outOfRange where problem.errors.map(\.parameter) == ["q"]: self = .searchTooLong
        case .queryTimeout: self = .timedOut
        default: self.init(status: problem.status)
        }
    }

    /// A proxy in front of the service speaks for it only where it says that the service doesn't respond.
    fileprivate init(foreignStatus status: Int) {
        let text = ErrorText(status: status)
        self = [.timedOut, .tooManyRequests, .unavailable].contains(text) ? text : .otherServer
    }

    fileprivate init(status: Int) {
        switch status {
        // Such as a 304 without a condition, from something in between.
        case ..<400: self = .damaged
        case 401, 403: self = .unauthorized
        case 404, 405: self = .wrongAddress
        case 408, 504: self = .timedOut
        case 429: self = .tooManyRequests
        // The network wants a sign-in (RFC 6585, section 6).
        case 511: self = .otherServer
        case 500...: self = .unavailable
        default: self = .refused
        }
    }
}
