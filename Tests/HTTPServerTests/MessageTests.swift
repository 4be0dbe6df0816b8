import Testing

@testable import HTTPServer

@Suite("Messages")
struct MessageTests {
    @Test("Header fields are found in any case of their name, and keep their order")
    func headers() {
        var headers: HTTPHeaders = ["Accept": "a", "X-One": "1", "accept": "b"]
        #expect(headers.first("ACCEPT") == "a")
        #expect(headers.all(.accept) == ["a", "b"])
        #expect(headers.map(\.name) == ["Accept", "X-One", "accept"])
        headers.remove(.accept)
        headers.add(.accept, "c")
        headers.add(contentsOf: ["B": "2", "accept": "3"])
        #expect(headers.map(\.value) == ["1", "c", "2", "3"])
        headers.remove("x-one")
        #expect(headers.map(\.name) == ["Accept", "B", "accept"])
    }

    @Test("No header field's value has a CR, LF or NUL")
    func headerInjection() {
        let headers: HTTPHeaders = ["X": "a\r\nY: b\0"]
        #expect(headers.first("X") == "a  Y: b ")
    }

    @Test("Bytes of a header field's value that aren't UTF-8 are replaced")
    func repairedValues() {
        let bytes = Array("a".utf8) + [0xff, 0xc3] + Array("z".utf8)
        var headers = HTTPHeaders()
        headers.add("X", bytes)
        #expect(headers.first("X") == "a\u{FFFD}\u{FFFD}z")
        #expect(headers.all("X") == ["a\u{FFFD}\u{FFFD}z"])
    }

    @Test("A field name is a token")
    func headerNames() {
        for name in ["", "a b", "a:", "a\r\n", "ä"] { #expect(HTTPHeaderName(name) == nil) }
        #expect(HTTPHeaderName("X-a").hashValue == HTTPHeaderName("x-A").hashValue)
    }

    @Test("Fields that the server knows are found in any case of their name, and only those")
    func knownFields() {
        let names: [HTTPHeaderName] = [
            .accept, .acceptEncoding, .authorization, .connection, .contentEncoding, "Content-Length",
            .contentType,
            "Expect", "Host", .ifMatch, .ifNoneMatch, .origin, .traceParent, "Transfer-Encoding", .requestID,
        ]
        #expect(Set(names.compactMap(\.known)).count == names.count)
        for name in names {
            #expect(KnownField(name.rawValue.uppercased()) == name.known)
            #expect(KnownField(name.rawValue + "x") == nil)
            #expect(
                KnownField("x" + name.rawValue.dropFirst()) == nil
                    || name.rawValue.lowercased().hasPrefix("x"))
            var headers: HTTPHeaders = ["X-Other": "1"]
            #expect(!headers.contains(name))
            headers.add(name, "v")
            #expect(headers.contains(name))
            #expect(headers.first(name) == "v")
            headers.remove(name)
            #expect(!headers.contains(name))
        }
        #expect(KnownField("Vary") == nil)
    }

    @Test("The characters of tokens and of hosts are those of RFC 9110 and RFC 3986")
    func characterSets() {
        let alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        for byte in UInt8.min ... .max {
            #expect(ASCII.isToken(byte) == ("!#$%&'*+-.^_`|~" + alphanumeric).utf8.contains(byte))
            #expect(ASCII.isHostName(byte) == ("-._~!$&'()*+,;=" + alphanumeric).utf8.contains(byte))
        }
    }

    @Test(
        "A known method is recognised by its token, and any other one keeps its token",
        arguments: [
            "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE", "get", "BREW",
        ])
    func methods(token: String) {
        let method = HTTPMethod(token)
        #expect(method?.rawValue == token)
        #expect((method?.knownToken == nil) == ["get", "BREW"].contains(token))
        #expect(method == HTTPMethod(token))
        #expect(method != HTTPMethod(token + "S"))
    }

    @Test("Common fields are added to every response, except the fields that the server writes itself")
    func commonFields() {
        let common = ResponseEncoder.encode(["Vary": "Accept", "Date": "mine", "X": "y"] as HTTPHeaders)
        #expect(String(decoding: common, as: UTF8.self) == "Vary: Accept\r\nX: y\r\n")
        let framing = ResponseEncoder.Framing(keepsAlive: true, version: .http11, id: RequestID("id"))
        let bytes = ResponseEncoder.encode(
            HTTPResponse(.noContent, headers: ["A": "b"]), framing, date: Array("now".utf8),
            commonFields: common)
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == "HTTP/1.1 204 No Content\r\nDate: now\r\nA: b\r\nVary: Accept\r\nX: y\r\n"
                + "X-Request-Id: id\r\n\r\n")
    }

    @Test("A second link is a field of its own, and blanks stand for what could end it")
    func links() {
        var response = HTTPResponse(.ok)
        for link in ["<?a>; rel=\"next\"", "<?b>; rel=\"prev\"", "<?c>\r\nX: y"] {
            response.addLink(Array(link.utf8))
        }
        let framing = ResponseEncoder.Framing(keepsAlive: true, version: .http11, id: RequestID("id"))
        let text = String(
            decoding: ResponseEncoder.encode(response, framing, date: Array("now".utf8)), as: UTF8.self)
        #expect(text.contains("\r\nLink: <?a>; rel=\"next\"\r\n"))
        #expect(text.contains("\r\nLink: <?b>; rel=\"prev\"\r\n"))
        #expect(text.contains("\r\nLink: <?c>  X: y\r\n"))
    }

    @Test("A response to HEAD may leave out Content-Length; a response with a body always has it")
    func omittedLength() {
        var response = HTTPResponse(.ok, body: [33])
        func encoded(isHead: Bool) -> String {
            let framing = ResponseEncoder.Framing(
                isHead: isHead, keepsAlive: true, version: .http11, id: RequestID("id"))
            return String(
                decoding: ResponseEncoder.encode(response, framing, date: Array("now".utf8)), as: UTF8.self)
        }
        #expect(encoded(isHead: true).contains("Content-Length: 1\r\n"))
        response.tellsLengthToHead = false
        #expect(!encoded(isHead: true).contains("Content-Length"))
        #expect(encoded(isHead: false).contains("Content-Length: 1\r\n"))
    }

    /// A body in memory, with room for its head.
    private static func body(_ text: String) -> ResponseBody {
        let memory = ResponseMemory.make(atLeast: ResponseBody.headroom + text.utf8.count)
        memory[ResponseBody.headroom...].copyBytes(from: text.utf8)
        return ResponseBody(adopting: memory, end: ResponseBody.headroom + text.utf8.count)
    }

    @Test(
        "Prepared fields, an entity tag and a body in memory are sent as if they were not",
        arguments: [1, 400])
    func preparedResponse(valueLength: Int) {
        // With the longer value, the head is longer than the room in front of the body.
        let long = String(repeating: "v", count: valueLength)
        let fields: HTTPHeaders = ["A": long, "B": long, "C": long, "Date": "mine"]
        let tag = EntityTag(hash: 1)
        let prepared = HTTPResponse(
            .ok, prepared: PreparedFields(fields), entityTag: tag, headers: ["D": "4"],
            body: Self.body("content"))
        var plain = HTTPResponse(.ok, headers: fields, body: Array("content".utf8))
        plain.headers.add(.eTag, tag.fieldValue)
        plain.add(["D": "4"])
        #expect(prepared.body == plain.body)
        #expect(prepared.headers.map(\.name) == ["A", "B", "C", "Date", "ETag", "D"])
        for isHead in [true, false] {
            let framing = ResponseEncoder.Framing(
                isHead: isHead, keepsAlive: true, version: .http11, id: RequestID("id"))
            let bytes = ResponseEncoder.encode(prepared, framing, date: Array("now".utf8))
            #expect(bytes == ResponseEncoder.encode(plain, framing, date: Array("now".utf8)))
            #expect(bytes.suffix(7).elementsEqual("content".utf8) == !isHead)
        }
    }

    @Test("A prepared Connection: close closes the connection, and isn't sent twice")
    func preparedClose() {
        let fields = PreparedFields([.connection: "Close", "A": "1"])
        #expect(HTTPResponse(.ok, prepared: fields).asksToClose)
        #expect(String(decoding: fields.lines, as: UTF8.self) == "A: 1\r\n")
        #expect(!HTTPResponse(.ok, prepared: PreparedFields(["A": "1"])).asksToClose)
    }

    @Test("The memory of a sent body serves the next one, unless somebody still has the body")
    func recycledMemory() {
        let memory = ResponseMemory()
        let first = memory.take(atLeast: 2000)
        let address = first.baseAddress
        memory.recycle(ResponseBody(adopting: first, end: 2000))
        let second = memory.take(atLeast: 2000)
        #expect(second.baseAddress == address)
        let kept = ResponseBody(adopting: second, end: 2000)
        memory.recycle(kept)
        let third = memory.take(atLeast: 2000)
        #expect(third.baseAddress != address)
        third.deallocate()
        #expect(kept.bytes.count == 2000 - ResponseBody.headroom)
    }

    @Test("A date is written as an IMF-fixdate")
    func date() {
        func format(_ seconds: Int) -> String {
            String(decoding: DateHeader.format(secondsSince1970: seconds), as: UTF8.self)
        }
        #expect(format(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(format(951_827_696) == "Tue, 29 Feb 2000 12:34:56 GMT")
    }

    @Test("A traceparent of version 00 or later is read, an invalid one is ignored")
    func traceParent() {
        let ids = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"
        let trace = TraceParent("00-\(ids)-01")
        #expect(trace?.traceID == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(TraceParent("cc-\(ids)-00-more") == trace)
        let zeros = String(repeating: "0", count: 32)
        for invalid in [
            "", "00-\(ids)", "00-\(ids)-01-", "ff-\(ids)-01", "00-\(ids.uppercased())-01", "cc-\(ids)-01x",
            "00-\(zeros)-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00_\(ids)-01", "00-\(ids)-0g",
        ] { #expect(TraceParent(invalid) == nil, "\(invalid)") }
    }

    @Test("New request ids are short, of letters and digits, and different")
    func requestIDs() {
        var ids = RequestIDs()
        let made = (0..<1000).map { _ in ids.nextID().description }
        #expect(Set(made).count == 1000)
        #expect(made.allSatisfy { $0.utf8.count == 15 && $0.allSatisfy { $0.isLetter || $0.isNumber } })
    }

    @Test("Later request ids don't follow from what a generator has")
    func unforeseenRequestIDs() {
        var ids = RequestIDs()
        var copy = ids
        let made = (0..<100).map { _ in (ids.nextID().description, copy.nextID().description) }
        #expect(made.last.map { $0.0 != $0.1 } == true)
    }
}

extension ResponseEncoder {
    /// Encodes a response into an array.
    fileprivate static func encode(
        _ response: HTTPResponse, _ framing: Framing, date: [UInt8], commonFields: [UInt8] = []
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        withEncoded(response, framing, date: date, commonFields: commonFields, ResponseMemory()) {
            bytes.append($0)
        }
        return bytes
    }
}
