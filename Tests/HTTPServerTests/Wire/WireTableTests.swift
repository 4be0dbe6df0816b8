import Loopback
import Testing
import WireCases

@Suite("The wire by the book", .timeLimit(.minutes(5)))
struct WireTableTests {
    private static let probe = Array("GET /b HTTP/1.1\r\nHost: h\r\n\r\n".utf8)

    /// What a client sends, and the responses that it has to get.
    private struct Conversation: Sendable {
        let request: [UInt8]
        private let expected: ResponsePattern
        private let responseCount: Int
        private let connection: WireCase.Connection

        /// A case, and on a connection that stays open one more request, for which nothing of the case may be left.
        ///
        /// - Parameter start: a plain request before it, with its response.
        init(_ wireCase: WireCase, behind start: (request: String, text: String)? = nil) {
            let isOpen = wireCase.connection == .open
            request = Array((start?.request ?? "").utf8) + wireCase.request + (isOpen ? probe : [])
            let before: [WireCase.Response] = start.map { [.ok($0.text)] } ?? []
            let responses = before + wireCase.responses + (isOpen ? [.ok("GET /b")] : [])
            responseCount = responses.filter { $0.status >= 200 }.count
            connection = wireCase.connection
            expected = ResponsePattern(responses, connection)
        }

        /// What is wrong with an outcome; nil if nothing is.
        func fault(of outcome: TableServer.Outcome) -> String? {
            guard expected.matches(outcome.bytes) else {
                let received = String(decoding: outcome.bytes, as: UTF8.self)
                return "expected \(expected), got \(received.debugDescription)"
            }
            guard outcome.connection == connection else { return "the connection is \(outcome.connection)" }
            return outcome.logged == responseCount ? nil : "\(outcome.logged) requests were logged"
        }
    }

    @Test(
        "A client gets the whole responses that the table says, in one piece, split at any byte, and byte by byte",
        arguments: try WireTable.cases())
    func responds(wireCase: WireCase) async throws {
        let conversation = Conversation(wireCase)
        let fault = try await Self.fault(of: [conversation]) { request in
            [[request[...]], request.map { [$0] }]
                + request.indices.dropFirst().map { [request[..<$0], request[$0...]] }
        }
        if let fault { Issue.record("\(wireCase) \(fault)") }
    }

    @Test(
        "A client gets the same responses if the request follows another one that begins like it",
        arguments: try WireTable.cases())
    func respondsBehindOthers(wireCase: WireCase) async throws {
        let conversations = ["GET / HTTP/1.1", "GET /a HTTP/1.1", "POST /a HTTP/1.1"].map { line in
            Conversation(
                wireCase, behind: ("\(line)\r\nHost: h\r\n\r\n", line.replacing(" HTTP/1.1", with: "")))
        }
        let fault = try await Self.fault(of: conversations) { [[$0[...]], $0.map { [$0] }] }
        if let fault { Issue.record("\(wireCase) \(fault)") }
    }

    @Test("The table has more than 400 rows, and no two of them have the same bytes")
    func rowsDiffer() throws {
        let cases = try WireTable.cases()
        let places = Dictionary(grouping: cases, by: \.request).values.filter { $0.count > 1 }
        #expect(places.map { $0.map(\.description) } == [])
        #expect(cases.count > 400)
    }

    /// The first fault of conversations whose requests come in different pieces; nil if there is none.
    private static func fault(
        of conversations: [Conversation], _ pieces: @escaping @Sendable ([UInt8]) -> [[ArraySlice<UInt8>]]
    ) async throws -> String? {
        try await withLoop { loop in
            try await loop.submit {
                let server = TableServer(loop: loop)
                for conversation in conversations {
                    for pieces in pieces(conversation.request) {
                        guard let fault = conversation.fault(of: try server.exchange(pieces)) else {
                            continue
                        }
                        return "in \(pieces.count) pieces, the first of \(pieces[0].count): \(fault)"
                    }
                }
                return nil
            }
        }
    }
}

/// The bytes of all responses of a row of the table, whatever the time and the requests' ids are.
struct ResponsePattern: CustomStringConvertible {
    let description: String
    /// With `any` for each byte of a date or an id.
    private let bytes: [UInt8]
    /// No response of the table has this byte.
    private static let any: UInt8 = 1

    init(_ responses: [WireCase.Response], _ connection: WireCase.Connection) {
        let last = connection == .closed ? responses.indices.last : nil
        let text = responses.indices.map { Self.text(of: responses[$0], closes: $0 == last) }.joined()
        description = text.debugDescription
        bytes = Array(
            text.replacing("<date>", with: String(repeating: "\u{1}", count: 29))
                .replacing("<id>", with: String(repeating: "\u{1}", count: 15)).utf8)
    }

    func matches(_ received: [UInt8]) -> Bool {
        received.count == bytes.count && zip(received, bytes).allSatisfy { $0 == $1 || $1 == Self.any }
    }

    private static func text(of response: WireCase.Response, closes: Bool) -> String {
        let status = "\(response.status) \(reasonPhrases[response.status] ?? "?")"
        guard response.status >= 200 else { return "HTTP/1.1 \(status)\r\n\r\n" }
        var fields = response.fields.map { "\($0)\r\n" }.joined()
        var connection = closes ? "close" : nil
        if fields.hasSuffix("Connection: keep-alive\r\n") {
            fields.removeLast("Connection: keep-alive\r\n".count)
            connection = "keep-alive"
        }
        guard let text = response.text else {
            return ExpectedResponse.empty(status, fields: fields, connection: connection)
        }
        return ExpectedResponse.text(
            status, text + "\n", fields: fields, connection: connection, isHead: response.isWithoutBody)
    }

    /// RFC 9110 section 15.
    private static let reasonPhrases = [
        100: "Continue", 200: "OK", 204: "No Content", 304: "Not Modified", 400: "Bad Request",
        404: "Not Found",
        405: "Method Not Allowed", 412: "Precondition Failed", 413: "Content Too Large", 414: "URI Too Long",
        417: "Expectation Failed", 431: "Request Header Fields Too Large", 501: "Not Implemented",
        505: "HTTP Version Not Supported",
    ]
}
