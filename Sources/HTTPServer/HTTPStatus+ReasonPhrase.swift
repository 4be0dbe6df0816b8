extension HTTPStatus {
    /// The phrase registered for the code, empty where there is none (IANA, HTTP status codes).
    public var reasonPhrase: String {
        withReasonPhrase { String(decoding: $0, as: UTF8.self) }
    }

    /// The phrase as bytes, without making a string of it.
    func withReasonPhrase<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        staticReasonPhrase.withUTF8Buffer(body)
    }

    private var staticReasonPhrase: StaticString {
        switch code {
        case 100...199: informationalPhrase
        case 200...299: successPhrase
        case 300...399: redirectionPhrase
        case 400...499: clientErrorPhrase
        case 500...599: serverErrorPhrase
        default: ""
        }
    }

    private var informationalPhrase: StaticString {
        switch code {
        case 100: "Continue"
        case 101: "Switching Protocols"
        case 103: "Early Hints"
        default: ""
        }
    }

    private var successPhrase: StaticString {
        switch code {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 203: "Non-Authoritative Information"
        case 204: "No Content"
        case 205: "Reset Content"
        case 206: "Partial Content"
        default: ""
        }
    }

    private var redirectionPhrase: StaticString {
        switch code {
        case 300: "Multiple Choices"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        default: ""
        }
    }

    private var clientErrorPhrase: StaticString {
        switch code {
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 402: "Payment Required"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 407: "Proxy Authentication Required"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 411: "Length Required"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 425: "Too Early"
        case 426: "Upgrade Required"
        case 428: "Precondition Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        default: ""
        }
    }

    private var serverErrorPhrase: StaticString {
        switch code {
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        case 507: "Insufficient Storage"
        case 511: "Network Authentication Required"
        default: ""
        }
    }
}
