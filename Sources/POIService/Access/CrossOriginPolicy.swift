import HTTPServer
import Program

/// Which origins' scripts may read the service's responses (Fetch standard, "CORS protocol"). A script sends its key in
/// `Authorization`. The service uses no cookies, so no response allows credentials.
package struct CrossOriginPolicy: Sendable {
    private static let allowOrigin: HTTPHeaderName = "Access-Control-Allow-Origin"
    private static let requestMethod: HTTPHeaderName = "Access-Control-Request-Method"

    /// A browser may cache a preflight for two hours, the maximum in Chromium.
    private static let preflightFields: HTTPHeaders = [
        "Access-Control-Allow-Headers":
            "Accept, Authorization, Content-Encoding, Content-Type, Idempotency-Key, If-Match, If-None-Match, "
            + "X-Request-Id, traceparent",
        "Access-Control-Max-Age": "7200",
    ]

    /// Whether responses to different origins differ.
    package let dependsOnOrigin: Bool
    package let commonFields: HTTPHeaders

    private let allowsAny: Bool
    private let fieldsByOrigin: [String: HTTPHeaders]

    package init(_ origins: [AllowedOrigin]) {
        allowsAny = origins.contains(.any)
        dependsOnOrigin = !allowsAny && !origins.isEmpty
        commonFields = allowsAny ? Self.fields(for: "*") : HTTPHeaders()
        var fieldsByOrigin: [String: HTTPHeaders] = [:]
        for case .origin(let origin) in origins where !allowsAny {
            fieldsByOrigin[origin] = Self.fields(for: origin)
        }
        self.fieldsByOrigin = fieldsByOrigin
    }

    /// Whether the policy affects the response to a request beyond `commonFields`.
    func concerns(_ request: HTTPRequest) -> Bool {
        dependsOnOrigin ? request.headers.contains(.origin) : allowsAny && Self.isPreflight(request)
    }

    /// Whether scripts of the request's origin may read responses.
    func allows(_ request: HTTPRequest) -> Bool { allowsAny || fields(for: request) != nil }

    /// The fields that let the request's origin read the response, without `commonFields`.
    func fields(for request: HTTPRequest) -> HTTPHeaders? {
        guard dependsOnOrigin, let origin = request.headers.first(.origin), origin.isASCII else { return nil }
        return fieldsByOrigin[origin]
    }

    /// The response to a preflight request of an allowed origin; nil for any other request.
    /// - Parameter methods: the methods of the path, as in `Allow`; nil if there is no such path. The script's own
    ///   request gets the 404 then.
    func preflightResponse(to request: HTTPRequest, methods: String?) -> HTTPResponse? {
        guard Self.isPreflight(request), allows(request) else { return nil }
        var headers = Self.preflightFields
        headers.add("Access-Control-Allow-Methods", methods ?? "GET, HEAD, OPTIONS")
        return HTTPResponse(.noContent, headers: headers)
    }

    /// The method that a preflight asks for; nil for any other request, and for what isn't a method.
    static func method(ofPreflight request: HTTPRequest) -> HTTPMethod? {
        isPreflight(request) ? request.headers.first(requestMethod).flatMap(HTTPMethod.init) : nil
    }

    private static func isPreflight(_ request: HTTPRequest) -> Bool {
        request.method == .options && request.headers.contains(.origin)
            && request.headers.contains(requestMethod)
    }

    private static func fields(for origin: String) -> HTTPHeaders {
        [
            allowOrigin: origin,
            "Access-Control-Expose-Headers":
                "Link, ETag, Location, Poi-Stale-Seconds, Poi-Visible, Retry-After, X-Request-Id",
            "Timing-Allow-Origin": origin,
        ]
    }
}

/// An origin whose scripts may read responses, as in a browser's `Origin` field (RFC 6454, section 6.2).
package enum AllowedOrigin: Hashable, Sendable {
    case any
    /// `scheme://host[:port]`, in lower case.
    case origin(String)

    /// Parses `*`, or an origin without a path; nil for anything else.
    package init?(settingText text: String) {
        if text == "*" {
            self = .any
            return
        }
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].first?.isLetter == true, !parts[1].isEmpty,
            parts[0].utf8.allSatisfy({ Self.isLowerCaseOrDigit($0) || "+-.".utf8.contains($0) }),
            parts[1].utf8.allSatisfy({ Self.isLowerCaseOrDigit($0) || "-._:[]".utf8.contains($0) })
        else { return nil }
        self = .origin(text)
    }

    private static func isLowerCaseOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

extension String {
    /// Whether every character is ASCII. Check it before text from outside is compared or looked up in a dictionary. Swift
    /// does both by canonical equivalence, whose cost is quadratic in a run of combining marks: 16 KiB take 0.2 s.
    var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }
}
