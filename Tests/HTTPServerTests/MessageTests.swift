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
        #expect(headers.map(\.value) == ["1", "c"])
        headers.remove("x-one")
        #expect(headers.count == 1)
    }

    @Test("No header field's value has a CR, LF or NUL")
    func headerInjection() {
        let headers: HTTPHeaders = ["X": "a\r\nY: b\0"]
        #expect(headers.first("X") == "a  Y: b ")
    }

    @Test("Bytes of a header field's value that aren't UTF-8 are replaced")
    func repairedValues() {
        let bytes = Array("a".utf8) + [0xff, 0xc3] + Array("z".utf8)
        let headers = HTTPHeaders(
            storage: Array("X".utf8) + bytes,
            fields: [.init(nameStart: 0, nameEnd: 1, valueStart: 1, valueEnd: 1 + bytes.count)])
        #expect(headers.first("X") == "a\u{FFFD}\u{FFFD}z")
        #expect(headers.all("X") == ["a\u{FFFD}\u{FFFD}z"])
    }

    @Test("A field name is a token")
    func headerNames() {
        for name in ["", "a b", "a:", "a\r\n", "ä"] { #expect(HTTPHeaderName(name) == nil) }
        #expect(HTTPHeaderName("X-a").hashValue == HTTPHeaderName("x-A").hashValue)
    }

    @Test("Header fields are added after others unchanged")
    func addedFields() {
        var headers: HTTPHeaders = ["A": "1"]
        headers.add(contentsOf: ["B": "2", "a": "3"])
        headers.add("C", "4")
        #expect(headers.map(\.name) == ["A", "B", "a", "C"])
        #expect(headers.all("a") == ["1", "3"])
        #expect(headers.first("C") == "4")
    }

    @Test("Common fields are added to every response, except the fields that the server writes itself")
    func commonFields() {
        let common = ResponseEncoder.encode(["Vary": "Accept", "Date": "mine", "X": "y"] as HTTPHeaders)
        #expect(String(decoding: common, as: UTF8.self) == "Vary: Accept\r\nX: y\r\n")
        let framing = ResponseEncoder.Framing(keepsAlive: true, version: .http11, requestID: "id")
        let bytes = ResponseEncoder.encode(
            HTTPResponse(.noContent, headers: ["A": "b"]), framing, date: Array("now".utf8),
            commonFields: common)
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == "HTTP/1.1 204 No Content\r\nDate: now\r\nA: b\r\nVary: Accept\r\nX: y\r\n"
                + "X-Request-Id: id\r\n\r\n")
    }

    @Test("A response to HEAD may leave out Content-Length; a response with a body always has it")
    func omittedLength() {
        var response = HTTPResponse(.ok, body: [33])
        func encoded(isHead: Bool) -> String {
            let framing = ResponseEncoder.Framing(
                isHead: isHead, keepsAlive: true, version: .http11, requestID: "id")
            return String(
                decoding: ResponseEncoder.encode(response, framing, date: Array("now".utf8)), as: UTF8.self)
        }
        #expect(encoded(isHead: true).contains("Content-Length: 1\r\n"))
        response.tellsLengthToHead = false
        #expect(!encoded(isHead: true).contains("Content-Length"))
        #expect(encoded(isHead: false).contains("Content-Length: 1\r\n"))
    }

    @Test("A date is written as an IMF-fixdate")
    func date() {
        func format(_ seconds: Int) -> String {
            String(decoding: DateHeader.format(secondsSince1970: seconds), as: UTF8.self)
        }
        #expect(format(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(format(951_827_696) == "Tue, 29 Feb 2000 12:34:56 GMT")
    }

    @Test("Numbers are written in decimal", arguments: [0, 9, 10, 1_048_576, Int.max])
    func decimal(number: Int) {
        let text = [UInt8](unsafeUninitializedCapacity: 20) { buffer, count in
            var writer = ByteWriter(buffer)
            writer.write(decimal: number)
            count = writer.count
        }
        #expect(String(decoding: text, as: UTF8.self) == String(number))
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
        let made = (0..<1000).map { _ in ids.next() }
        #expect(Set(made).count == 1000)
        #expect(made.allSatisfy { $0.utf8.count == 15 && $0.allSatisfy { $0.isLetter || $0.isNumber } })
    }

    @Test("Percent-encoding is decoded strictly")
    func percentDecoding() {
        func decode(_ text: String) -> String? {
            Array(text.utf8).withUnsafeBytes { PercentDecoding.decode($0[...]) }
        }
        #expect(decode("a%20b+%C3%a9") == "a b+é")
        for invalid in ["%", "%4", "%zz", "%00", "%FF", "a%"] { #expect(decode(invalid) == nil) }
    }
}
