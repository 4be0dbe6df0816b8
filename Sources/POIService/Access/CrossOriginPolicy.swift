import HTTPServer

/// Which pages' scripts may read the service's answers (Fetch standard, "CORS protocol").
///
/// Keys travel in `Authorization`, which a script sets itself; cookies are never asked for, so no answer
/// allows credentials.
public struct CrossOriginPolicy: Sendable {
    private static let allowOrigin: HTTPHeaderName = "Access-Control-Allow-Origin"
    private static let requestMethod: HTTPHeaderName = "Access-Control-Request-Method"

    /// How long a browser may rely on a preflight: two hours, the most that Chromium takes.
    private static let preflightFields: HTTPHeaders = [
        "Access-Control-Allow-Headers":
            "Accept, Authorization, Content-Encoding, Content-Type, If-None-Match, X-Request-Id, traceparent",
        "Access-Control-Max-Age": "7200",
    ]

    /// Whether answers to different origins differ.
    public let dependsOnOrigin: Bool
    /// The fields of every answer, whoever asks.
    public let commonFields: HTTPHeaders

    private let allowsAny: Bool
    /// The fields of answers to an origin that is listed.
    private let fieldsByOrigin: [String: HTTPHeaders]

    /// A policy that lets these origins read answers.
    public init(_ origins: [AllowedOrigin]) {
        allowsAny = origins.contains(.any)
        dependsOnOrigin = !allowsAny && !origins.isEmpty
        commonFields = allowsAny ? Self.fields(for: "*") : HTTPHeaders()
        var fieldsByOrigin: [String: HTTPHeaders] = [:]
        for case .origin(let origin) in origins where !allowsAny {
            fieldsByOrigin[origin] = Self.fields(for: origin)
        }
        self.fieldsByOrigin = fieldsByOrigin
    }

    /// Whether a request is to be looked at: no other gets an answer of its own.
    func concerns(_ request: HTTPRequest) -> Bool {
        dependsOnOrigin ? request.headers.contains(.origin) : allowsAny && Self.asksInAdvance(request)
    }

    /// The fields that let the request's origin read the answer, `commonFields` not among them.
    func fields(for request: HTTPRequest) -> HTTPHeaders? {
        guard dependsOnOrigin, let origin = request.headers.first(.origin), origin.isASCII else { return nil }
        return fieldsByOrigin[origin]
    }

    /// The answer to a preflight request of an origin that is let in; nil for any other request.
    ///
    /// - Parameter methods: the methods of the path, as `Allow` lists them; nil where there is nothing, which the
    ///   script gets to know by its own request.
    func preflightAnswer(to request: HTTPRequest, methods: String?) -> HTTPResponse? {
        guard Self.asksInAdvance(request), allowsAny || fields(for: request) != nil else { return nil }
        var headers = Self.preflightFields
        headers.add("Access-Control-Allow-Methods", methods ?? "GET, HEAD, OPTIONS")
        return HTTPResponse(.noContent, headers: headers)
    }

    private static func asksInAdvance(_ request: HTTPRequest) -> Bool {
        request.method == .options && request.headers.contains(.origin)
            && request.headers.contains(requestMethod)
    }

    private static func fields(for origin: String) -> HTTPHeaders {
        [
            allowOrigin: origin,
            "Access-Control-Expose-Headers": "Link, ETag, Retry-After, X-Request-Id",
            "Timing-Allow-Origin": origin,
        ]
    }
}

/// An origin whose scripts may read answers, as a browser's `Origin` field spells it (RFC 6454, section 6.2).
public enum AllowedOrigin: Hashable, Sendable {
    /// Every origin.
    case any
    /// `scheme://host[:port]`, in lower case.
    case origin(String)

    /// Reads `*`, or an origin without a path; nil for all else.
    public init?(settingText text: String) {
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
    /// Whether every character is ASCII.
    ///
    /// To be asked of a text from outside before it is looked up in a dictionary or compared: Swift does both by
    /// canonical equivalence, which takes the square of a run of combining marks, of which 16 KiB take 0.2 s.
    var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }
}
