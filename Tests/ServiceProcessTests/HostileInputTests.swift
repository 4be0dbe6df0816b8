import Loopback
import PointsOfInterestClient
import ServerProcess
import ServiceFixtures
import Testing

/// Bytes that are no proper request, and the response to them.
struct HostileInput: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
    let status: Int

    init(_ description: String, _ text: String, _ status: Int) {
        testDescription = description
        bytes = Array(text.utf8)
        self.status = status
    }

    private static let target = "/locations?lat=1&long=2"
    private static let head = "GET \(target) HTTP/1.1\r\nHost: localhost\r\n"
    private static let post = "POST /events HTTP/1.1\r\nHost: localhost\r\n"

    static let all = [
        HostileInput(
            "a URL of 1 MiB",
            "GET \(target)&q=\(String(repeating: "a", count: 1 << 20)) HTTP/1.1\r\nHost: localhost\r\n\r\n",
            414),
        HostileInput(
            "a NUL in the target", "GET /locations?lat=\0&long=2 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        HostileInput("a NUL in a field", head + "A: b\0c\r\n\r\n", 400),
        HostileInput(
            "a header block of 32 KiB", head + "A: \(String(repeating: "b", count: 32768))\r\n\r\n", 431),
        HostileInput(
            "many fields of 1 KiB",
            head + String(repeating: "A: \(String(repeating: "b", count: 1000))\r\n", count: 17) + "\r\n",
            431),
        HostileInput("a body said to be too large", post + "Content-Length: 2000000\r\n\r\n", 413),
        HostileInput(
            "a body that can't be measured", post + "Content-Length: 99999999999999999999999\r\n\r\n", 413),
        HostileInput("a bare CR", "GET \(target) HTTP/1.1\rHost: localhost\r\n\r\n", 400),
        HostileInput("a bare CR in a field", head + "A: b\rC: d\r\n\r\n", 400),
        HostileInput("obs-fold", head + "A: b\r\n c\r\n\r\n", 400),
        HostileInput("no Host", "GET \(target) HTTP/1.1\r\n\r\n", 400),
        HostileInput("two Hosts", head + "Host: localhost\r\n\r\n", 400),
        HostileInput("conflicting lengths", post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        HostileInput(
            "two ways of framing", post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400),
        HostileInput("a chunk without its size", post + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
        HostileInput(
            "a chunk of size 2^64", post + "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n", 413),
        HostileInput(
            "an unknown transfer coding", post + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501),
        HostileInput("a body without an end", post + "Transfer-Encoding: gzip\r\n\r\n", 400),
        HostileInput(
            "a body for a path without this method",
            head.replacing("GET", with: "POST")
                + "Content-Length: 3\r\n\r\n", 405),
        HostileInput("a body for a method without one", head + "Content-Length: 3\r\n\r\n", 413),
        HostileInput("an unknown version", "GET \(target) HTTP/9.9\r\nHost: localhost\r\n\r\n", 505),
        HostileInput("an unknown method", "BREW \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n", 501),
        HostileInput("TLS", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\r\n\r\n", 400),
        HostileInput("no HTTP at all", "hello\r\n\r\n", 400),
    ]
}

@Suite("Hostile input at the socket", .serialized, .timeLimit(.minutes(2)))
struct HostileInputTests {
    @Test("Bytes that are no request get a problem and a close, and disturb no other connection")
    func refused() async throws {
        let server = try await ServerProcess.serve(
            databaseURL: ServiceDatabase.migrated().connectionString)
        try await server.ready()
        let port = server.port
        for input in HostileInput.all {
            let (response, isClosed) = try await offPool {
                let connection = try WireClient(port: port)
                connection.send(input.bytes)
                let response = try connection.receiveResponse()
                connection.finishSending()
                return (response, connection.isClosedByServer())
            }
            #expect(response.status == input.status, "\(input.testDescription)")
            #expect(response.problem?.status == input.status, "\(input.testDescription)")
            #expect(response.headers["connection"] == "close", "\(input.testDescription)")
            #expect(isClosed, "\(input.testDescription)")
            #expect(try await get(secretTarget, port: port).status == 200, "\(input.testDescription)")
        }
        try await server.finish()
    }

    @Test("A query that is wrong costs nobody the connection")
    func wrongQueries() async throws {
        let server = try await ServerProcess.serve(
            databaseURL: ServiceDatabase.migrated().connectionString)
        try await server.ready()
        let port = server.port
        let responses = try await offPool {
            let connection = try WireClient(port: port)
            return try [
                "lat=%zz&long=0", "lat=%00&long=0", "lat=91&long=121.88938642", "lat=37.32931357&lon=0", "%",
            ].map {
                connection.sendGet("/locations?\($0)")
                return try connection.receiveResponse()
            }
        }
        let faults = responses.map { $0.problem?.errors.first }
        #expect(responses.allSatisfy { $0.status == 400 })
        #expect(faults.prefix(4).map { $0?.parameter } == ["lat", "lat", "lat", "lon"])
        #expect(
            faults.prefix(4).map { $0?.code }
                == [.malformedEncoding, .malformedEncoding, .outOfRange, .unknownParameter])
        try await server.finish()
    }
}
