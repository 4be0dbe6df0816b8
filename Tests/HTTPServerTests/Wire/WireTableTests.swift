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
