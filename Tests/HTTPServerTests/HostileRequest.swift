@testable import HTTPServer

/// A request that must be refused, and how.
struct HostileRequest: Sendable, CustomStringConvertible {
    let name: String
    let bytes: [UInt8]
    let status: HTTPStatus

    var description: String { name }

    init(_ name: String, _ text: String, _ status: HTTPStatus = .badRequest) {
        self.name = name
        self.bytes = Array(text.utf8)
        self.status = status
    }

    static let all = requestLines + fields + framing + chunks + limits

    private static func head(_ fields: String, line: String = "POST /echo HTTP/1.1") -> String {
        "\(line)\r\nHost: h\r\n\(fields)\r\n\r\n"
    }

    private static func chunked(_ body: String) -> String {
        head("Transfer-Encoding: chunked") + body
    }

    static let requestLines = [
        HostileRequest("no version (HTTP/0.9)", "GET /\r\n\r\n"),
        HostileRequest("no version, with fields", "GET /\r\nHost: h\r\n\r\n"),
        HostileRequest("a version that is none", head("A: b", line: "GET / HTTP/1.x")),
        HostileRequest("a version in lower case", head("A: b", line: "GET / http/1.1")),
        HostileRequest("HTTP/2.0", head("A: b", line: "GET / HTTP/2.0"), .httpVersionNotSupported),
        HostileRequest("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .httpVersionNotSupported),
        HostileRequest("RTSP", head("A: b", line: "OPTIONS / RTSP/1.0")),
        HostileRequest("ICE", head("A: b", line: "SOURCE / ICE/1.0")),
        HostileRequest("a method of RTSP", head("A: b", line: "PLAY / HTTP/1.1")),
        HostileRequest("an unknown method", head("A: b", line: "BREW / HTTP/1.1"), .notImplemented),
        HostileRequest("a method in lower case", head("A: b", line: "get / HTTP/1.1"), .notImplemented),
        HostileRequest("a method that is no token", head("A: b", line: "G@T / HTTP/1.1")),
        HostileRequest("CONNECT", head("A: b", line: "CONNECT h:443 HTTP/1.1"), .notImplemented),
        HostileRequest("two blanks before the target", head("A: b", line: "GET  / HTTP/1.1")),
        HostileRequest("two blanks before the version", head("A: b", line: "GET /  HTTP/1.1")),
        HostileRequest("a blank in the target", head("A: b", line: "GET /a b HTTP/1.1")),
        HostileRequest("a tab for a blank", head("A: b", line: "GET\t/ HTTP/1.1")),
        HostileRequest("a blank behind the version", head("A: b", line: "GET / HTTP/1.1 ")),
        HostileRequest("a blank before the method", " " + head("A: b", line: "GET / HTTP/1.1")),
        HostileRequest("a fragment", head("A: b", line: "GET /a#b HTTP/1.1")),
        HostileRequest("a byte that is not ASCII in the target", head("A: b", line: "GET /é HTTP/1.1")),
        HostileRequest("a NUL in the target", head("A: b", line: "GET /a\0b HTTP/1.1")),
        HostileRequest("a target without a slash", head("A: b", line: "GET a HTTP/1.1")),
        HostileRequest("an asterisk for GET", head("A: b", line: "GET * HTTP/1.1")),
        HostileRequest("an absolute target of another scheme", head("A: b", line: "GET ftp://h/ HTTP/1.1")),
        HostileRequest("an absolute target without a host", head("A: b", line: "GET http:///a HTTP/1.1")),
        HostileRequest("an absolute target with a user", head("A: b", line: "GET http://u@h/ HTTP/1.1")),
        HostileRequest("the start of TLS", "\u{16}\u{3}\u{1}\0\u{5}\r\n\r\n"),
        HostileRequest("a bare LF before the request", "\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"),
        HostileRequest("a bare CR before the request", "\rGET / HTTP/1.1\r\nHost: h\r\n\r\n"),
        HostileRequest("a bare LF behind the request line", "GET / HTTP/1.1\nHost: h\r\n\r\n"),
    ]

    static let fields = [
        HostileRequest("no Host", "GET / HTTP/1.1\r\n\r\n"),
        HostileRequest("two Hosts", "GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n"),
        HostileRequest("two Hosts in HTTP/1.0", "GET / HTTP/1.0\r\nHost: h\r\nhost: i\r\n\r\n"),
        HostileRequest("an empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n"),
        HostileRequest("a Host with a path", "GET / HTTP/1.1\r\nHost: h/p\r\n\r\n"),
        HostileRequest("a Host with a user", "GET / HTTP/1.1\r\nHost: u@h\r\n\r\n"),
        HostileRequest("a Host with a blank", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"),
        HostileRequest("a Host with a port that is none", "GET / HTTP/1.1\r\nHost: h:x\r\n\r\n"),
        HostileRequest("a Host with too high a port", "GET / HTTP/1.1\r\nHost: h:65536\r\n\r\n"),
        HostileRequest("a Host list", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n"),
        HostileRequest("an absolute target without a Host", "GET http://h/ HTTP/1.1\r\n\r\n"),
        HostileRequest("obs-fold with a blank", head("A: b\r\n c")),
        HostileRequest("obs-fold with a tab", head("A: b\r\n\tc")),
        HostileRequest("obs-fold of the first field", "GET / HTTP/1.1\r\n Host: h\r\n\r\n"),
        HostileRequest("a blank before the colon", head("A : b")),
        HostileRequest("a tab before the colon", head("A\t: b")),
        HostileRequest("an empty field name", head(": b")),
        HostileRequest("a field without a colon", head("Abc")),
        HostileRequest("a field name that is no token", head("A(b): c")),
        HostileRequest("a NUL in a value", head("A: b\0c")),
        HostileRequest("a control character in a value", head("A: b\u{1}c")),
        HostileRequest("a bare CR in a value", head("A: b\rc: d")),
        HostileRequest("a bare LF in a value", head("A: b\nc: d")),
        HostileRequest("a bare LF as the last line's end", "GET / HTTP/1.1\r\nHost: h\r\n\n"),
        HostileRequest("CR CR LF", "GET / HTTP/1.1\r\nHost: h\r\r\n\r\n"),
        HostileRequest("an unknown expectation", head("Expect: 200-ok"), .expectationFailed),
    ]

    static let framing = [
        HostileRequest("both lengths", head("Content-Length: 5\r\nTransfer-Encoding: chunked") + "0\r\n\r\n"),
        HostileRequest(
            "both lengths, the other way", head("Transfer-Encoding: chunked\r\nContent-Length: 5")),
        HostileRequest("chunked twice", head("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked")),
        HostileRequest("chunked twice in a list", head("Transfer-Encoding: chunked, chunked")),
        HostileRequest("chunked not last", head("Transfer-Encoding: chunked, gzip")),
        HostileRequest(
            "chunked and identity", head("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity")),
        HostileRequest(
            "Transfer-Encoding with a blank before the colon", head("Transfer-Encoding : chunked")),
        HostileRequest("an empty Transfer-Encoding", head("Transfer-Encoding:")),
        HostileRequest("another coding alone", head("Transfer-Encoding: gzip")),
        HostileRequest("identity", head("Transfer-Encoding: identity")),
        HostileRequest(
            "a coding behind chunked in a field of its own",
            head("Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip")),
        HostileRequest("an empty coding behind chunked", head("Transfer-Encoding: chunked,")),
        HostileRequest(
            "another coding before chunked", head("Transfer-Encoding: gzip, chunked"), .notImplemented),
        HostileRequest("almost chunked", head("Transfer-Encoding: xchunked")),
        HostileRequest("chunked in quotes", head("Transfer-Encoding: \"chunked\"")),
        HostileRequest(
            "Transfer-Encoding in HTTP/1.0", head("Transfer-Encoding: chunked", line: "POST /echo HTTP/1.0")),
        HostileRequest("a length with a sign", head("Content-Length: +5")),
        HostileRequest("a negative length", head("Content-Length: -5")),
        HostileRequest("a list of equal lengths", head("Content-Length: 5, 5")),
        HostileRequest("equal lengths twice", head("Content-Length: 5\r\nContent-Length: 5")),
        HostileRequest("conflicting lengths", head("Content-Length: 5\r\nContent-Length: 6")),
        HostileRequest("a length with a blank in it", head("Content-Length: 1 0")),
        HostileRequest("an empty length", head("Content-Length:")),
        HostileRequest("a hexadecimal length", head("Content-Length: 0x5")),
        HostileRequest("a length with a fraction", head("Content-Length: 5.0")),
        HostileRequest("a length past 64 bits", head("Content-Length: 99999999999999999999999")),
        HostileRequest("a length of 64 bits", head("Content-Length: 18446744073709551615"), .contentTooLarge),
        HostileRequest("a length past the limit", head("Content-Length: 1048577"), .contentTooLarge),
    ]

    static let chunks = [
        HostileRequest("a chunk size with 0x", chunked("0x5\r\nhello\r\n0\r\n\r\n")),
        HostileRequest("a chunk size with a sign", chunked("+5\r\nhello\r\n0\r\n\r\n")),
        HostileRequest("a negative chunk size", chunked("-5\r\nhello\r\n0\r\n\r\n")),
        HostileRequest("a chunk size that is none", chunked("g\r\n")),
        HostileRequest("an empty chunk size", chunked("\r\nhello\r\n")),
        HostileRequest("a chunk size before a blank", chunked("5 \r\nhello\r\n0\r\n\r\n")),
        HostileRequest("a blank before a chunk size", chunked(" 5\r\nhello\r\n0\r\n\r\n")),
        HostileRequest(
            "a chunk size past 64 bits", chunked("10000000000000005\r\nhello\r\n"), .contentTooLarge),
        HostileRequest("a chunk size of 64 bits", chunked("ffffffffffffffff\r\nhello\r\n"), .contentTooLarge),
        HostileRequest("a chunk past the limit", chunked("100001\r\n"), .contentTooLarge),
        HostileRequest(
            "chunks that pass the limit together", chunked("1\r\na\r\n100000\r\n"), .contentTooLarge),
        HostileRequest("a bare LF behind a chunk size", chunked("5\nhello\r\n0\r\n\r\n")),
        HostileRequest("a bare CR behind a chunk size", chunked("5\rhello\r\n0\r\n\r\n")),
        HostileRequest("a chunk longer than it says", chunked("5\r\nhelloX\r\n0\r\n\r\n")),
        HostileRequest("any two bytes for a chunk's CRLF", chunked("5\r\nhelloXX0\r\n\r\n")),
        HostileRequest("a bare LF behind a chunk", chunked("5\r\nhello\n0\r\n\r\n")),
        HostileRequest("CR and no LF behind a chunk", chunked("5\r\nhello\rX0\r\n\r\n")),
        HostileRequest("a control character in an extension", chunked("5;a=\u{1}\r\nhello\r\n0\r\n\r\n")),
        HostileRequest("a bare LF in an extension", chunked("5;a\nb\r\nhello\r\n0\r\n\r\n")),
        HostileRequest("an extension without a name", chunked("5;\r\nhello\r\n0\r\n\r\n")),
        HostileRequest("an extension with a value and no name", chunked("5;=v\r\nhello\r\n0\r\n\r\n")),
        HostileRequest("an extension that lacks its value", chunked("5;a=\r\nhello\r\n0\r\n\r\n")),
        HostileRequest("two words in an extension", chunked("5;a b\r\nhello\r\n0\r\n\r\n")),
        HostileRequest("two words in an extension's value", chunked("5;a=b c\r\nhello\r\n0\r\n\r\n")),
        HostileRequest("a blank behind an extension", chunked("5;a \r\nhello\r\n0\r\n\r\n")),
        HostileRequest("an extension's quote without end", chunked("5;a=\"b\r\nhello\r\n0\r\n\r\n")),
        HostileRequest("text behind an extension's quote", chunked("5;a=\"b\"c\r\nhello\r\n0\r\n\r\n")),
        HostileRequest("a separator in an extension's name", chunked("5;a(b)\r\nhello\r\n0\r\n\r\n")),
        HostileRequest(
            "an extension without end", chunked("5;" + String(repeating: "a", count: 300) + "\r\nhello\r\n")),
        HostileRequest(
            "many extensions",
            chunked(String(repeating: "1;" + String(repeating: "a", count: 200) + "\r\nx\r\n", count: 30))),
        HostileRequest("obs-fold in trailers", chunked("0\r\nA: b\r\n c\r\n\r\n")),
        HostileRequest("an empty trailer name", chunked("0\r\n: b\r\n\r\n")),
        HostileRequest("a bare LF in trailers", chunked("0\r\nA: b\n\r\n")),
        HostileRequest("a NUL in trailers", chunked("0\r\nA: \0\r\n\r\n")),
        HostileRequest("a bare LF for the last line", chunked("0\r\n\n")),
        HostileRequest("a trailer without a colon", chunked("0\r\nAbc\r\n\r\n")),
        HostileRequest(
            "too many trailers",
            chunked("0\r\n" + String(repeating: "Abcdef: ghijkl\r\n", count: 1100) + "\r\n"),
            .requestHeaderFieldsTooLarge),
    ]

    static let limits = [
        HostileRequest(
            "a long request line", "GET /" + String(repeating: "a", count: 8192) + " HTTP/1.1\r\n\r\n",
            .uriTooLong),
        HostileRequest("a method without end", String(repeating: "a", count: 9000), .notImplemented),
        HostileRequest("a target without end", "GET /" + String(repeating: "a", count: 9000), .uriTooLong),
        HostileRequest(
            "a long header block",
            head(String(repeating: "Abcdef: ghijkl\r\n", count: 1100)), .requestHeaderFieldsTooLarge),
        HostileRequest(
            "a long field", head("A: " + String(repeating: "b", count: 17000)), .requestHeaderFieldsTooLarge),
    ]
}
