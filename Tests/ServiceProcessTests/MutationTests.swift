import Foundation
import Loopback
import PointsOfInterestClient
import Randomness
import ServerProcess
import ServiceFixtures
import Testing

/// How many mutations are tried: 3,000, or what the environment's `POI_MUTATIONS` says.
private let mutationCount =
    ProcessInfo.processInfo.environment["POI_MUTATIONS"].flatMap { Int($0) } ?? 3000

@Suite("Mutated requests", .timeLimit(.minutes(mutationCount > 20_000 ? 240 : 3)))
struct MutationTests {
    /// The statuses that the service may send while its database works.
    ///
    /// Of 5xx only what HTTP itself demands: 501 for a method or a transfer coding that doesn't exist
    /// (RFC 9110, section 15.6.2) and 505 for a version (section 15.6.6). 412 where an `If-None-Match` has become an
    /// `If-Match`. Not 408: a connection whose input has ended has nothing to wait for, so a time-out would be a hang
    /// that was found out late.
    private static let allowedStatuses: Set = [
        100, 102, 200, 204, 304, 400, 404, 405, 406, 412, 413, 414, 417, 431, 501, 505,
    ]

    @Test("The service responds to any changed request or closes its connection, and goes on")
    func mutations() async throws {
        let seed = SeededGenerator().seed
        let server = try await ServerProcess.serve(
            databaseURL: ServiceDatabase.migrated().connectionString,
            environment: [
                // Nobody is to wait for a database in vain, however slow the machine is.
                "POI_DB_ACQUIRE_TIMEOUT": "60s", "POI_DB_STATEMENT_TIMEOUT": "60s",
                "POI_REQUEST_TIMEOUT": "60s",
                "POI_CORS_ORIGINS": "https://app.example",
                // The log's lines are kept for the test's end: not a million of them.
                "POI_ACCESS_LOG": mutationCount > 100_000 ? "false" : "true",
            ])
        try await server.ready()
        let run = MutationRun(port: server.port, seed: seed, count: mutationCount) { bytes, isReset in
            try Self.check(bytes, isReset: isReset)
        }
        let (failures, statuses) = try await offPool { run.wait() }
        #expect(failures.isEmpty, "POI_TEST_SEED=\(seed)\n\(failures.joined(separator: "\n"))")
        // What mutations come to is a mixture, or they would show little.
        for status in [200, 304, 400, 404, 405, 406, 501, 505] {
            #expect(statuses[status, default: 0] > 0, "\(statuses)")
        }
        #expect(try await get(secretTarget, port: server.port).status == 200)
        try await server.finish()
    }

    /// The statuses of the responses on a connection; throws if one of them may not be.
    private static func check(_ bytes: [UInt8], isReset: Bool) throws -> [Int] {
        let responses = try ReceivedResponses(bytes, isReset: isReset).responses
        for response in responses {
            guard allowedStatuses.contains(response.status) else {
                throw ReceivedResponses.Malformed(description: "status \(response.status)")
            }
            guard response.status >= 400, !response.body.isEmpty else { continue }
            if response.isCompressed {
                guard response.isProblem, response.body.starts(with: [0x1F, 0x8B]) else {
                    throw ReceivedResponses.Malformed(description: "no compressed problem document")
                }
                continue
            }
            let problem = try JSONDecoder().decode(Problem.self, from: Data(response.body))
            guard response.isProblem, problem.status == response.status, problem.code != .unspecified else {
                throw ReceivedResponses.Malformed(description: "no problem document")
            }
        }
        return responses.map(\.status)
    }
}

/// Sends mutated requests, each on a connection of its own, many at once.
///
/// Unchecked, since the condition guards the state.
final class MutationRun: @unchecked Sendable {
    /// The statuses of what came over a connection; throws where it isn't what it may be.
    typealias Check = @Sendable (_ received: [UInt8], _ isReset: Bool) throws -> [Int]

    private static let threads = 32
    private static let maximumFailureCount = 10

    private let port: Int
    private let seed: UInt64
    private let count: Int
    private let check: Check
    private let condition = NSCondition()
    private var started = 0
    private var runningCount = MutationRun.threads
    private var failures: [String] = []
    private var statuses: [Int: Int] = [:]

    /// Starts sending.
    init(port: Int, seed: UInt64, count: Int, check: @escaping Check) {
        self.port = port
        self.seed = seed
        self.count = count
        self.check = check
        for _ in 0..<Self.threads { Thread { [self] in work() }.start() }
    }

    /// Waits for the end; returns what went wrong, and how often each status came. Blocks: see `offPool`.
    func wait() -> ([String], [Int: Int]) {
        condition.withLock {
            while runningCount > 0 { condition.wait() }
            return (failures, statuses)
        }
    }

    private func work() {
        while let index = next() { run(index) }
        condition.withLock {
            runningCount -= 1
            condition.broadcast()
        }
    }

    private func next() -> Int? {
        condition.withLock {
            guard started < count, failures.count < Self.maximumFailureCount else { return nil }
            started += 1
            return started - 1
        }
    }

    private func run(_ index: Int) {
        // A generator for each, so that a mutation doesn't depend on which thread took which.
        var generator = SeededGenerator(seed: seed &+ UInt64(index))
        let bytes = Mutation.mutated(ValidRequest.random(&generator), &generator)
        var received: [UInt8] = []
        do {
            let connection = try WireClient(port: port)
            // Some in pieces: the parser must not depend on where they are cut.
            var rest = bytes[...]
            while !rest.isEmpty {
                let isWhole = Bool.random(using: &generator)
                let piece = rest.prefix(
                    isWhole ? rest.count : Int.random(in: 1...rest.count, using: &generator))
                connection.send(Array(piece))
                rest = rest.dropFirst(piece.count)
            }
            connection.finishSending()
            let ending = try connection.receive(toEndInto: &received)
            let seen = try check(received, ending == .reset)
            condition.withLock { for status in seen { statuses[status, default: 0] += 1 } }
        } catch {
            let sent = String(decoding: bytes.prefix(2000), as: UTF8.self).debugDescription
            let response = String(decoding: received.prefix(1000), as: UTF8.self).debugDescription
            condition.withLock {
                failures.append("mutation \(index): \(error)\n  sent \(sent)\n  got \(response)")
            }
        }
    }
}

/// Changes to bytes that make something else of a request.
enum Mutation: CaseIterable {
    case flipBit, replace, insert, delete, duplicate, swap, insertWord, insertRun, truncate, version

    /// Bytes after one to six random changes, mostly few: many leave nothing but a malformed head.
    static func mutated(_ bytes: [UInt8], _ generator: inout some RandomNumberGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<[1, 1, 1, 1, 2, 3, 6].picked(&generator) {
            allCases.picked(&generator).change(&bytes, &generator)
        }
        return bytes
    }

    /// What parsers stumble over.
    private static let words = [
        "\r\n", "\r\n\r\n", "\r", "\n", "\0", " ", "\t", ":", "%", "%00", "%zz", "?", "&", "=", ",", ";q=",
        "/", "//", "/../", "#", "\"", "W/\"", "\u{7F}", "é", "-1", "0x10", "1e999", "99999999999999999999",
        "nan",
        "\r\nContent-Length: 3", "\r\nTransfer-Encoding: chunked", "\r\nHost: a", "\r\nExpect: 100-continue",
        "\r\nConnection: close", "\r\n 0", "HTTP/1.1", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "0\r\n\r\n",
        "ffffffffffffffff\r\n", "&lat=1", "&bbox=1,2,3,4", "&category=,", "&q=%F0%9F%98%80", "&cursor=AQ",
    ]

    private func change(_ bytes: inout [UInt8], _ generator: inout some RandomNumberGenerator) {
        let place = Int.random(in: 0...bytes.count, using: &generator)
        let range = place..<min(bytes.count, place + Int.random(in: 1...16, using: &generator))
        switch self {
        case .flipBit where place < bytes.count:
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case .replace where place < bytes.count: bytes[place] = .random(in: 0 ... .max, using: &generator)
        case .flipBit, .replace: bytes.append(.random(in: 0 ... .max, using: &generator))
        case .insert: bytes.insert(.random(in: 0 ... .max, using: &generator), at: place)
        case .delete: bytes.removeSubrange(range)
        case .duplicate: bytes.insert(contentsOf: bytes[range], at: place)
        case .swap:
            let part = Array(bytes[range])
            bytes.removeSubrange(range)
            bytes.insert(contentsOf: part, at: Int.random(in: 0...bytes.count, using: &generator))
        case .insertWord: bytes.insert(contentsOf: Self.words.picked(&generator).utf8, at: place)
        case .insertRun:
            // Rarely so long that a limit is passed: such a run makes every other change meaningless.
            let length = [2, 64, 256, 9000, 17_000].picked(&generator)
            let byte =
                Int.random(in: 0..<8, using: &generator) == 0
                ? UInt8.random(in: 0 ... .max, using: &generator) : UInt8(ascii: "1")
            let isShort = length < 1000 || Int.random(in: 0..<8, using: &generator) == 0
            bytes.insert(contentsOf: [UInt8](repeating: byte, count: isShort ? length : 3), at: place)
        case .truncate where Int.random(in: 0..<4, using: &generator) == 0: bytes.removeSubrange(place...)
        case .truncate: break
        case .version:
            // A digit: by chance alone, one of some thousand mutations would be another version.
            guard let version = bytes.firstRange(of: Array("HTTP/".utf8))?.upperBound, version < bytes.count
            else { return }
            bytes[version] = .random(in: UInt8(ascii: "0")...UInt8(ascii: "9"), using: &generator)
        }
    }
}

/// Requests that the service takes, of every route, method and header: what mutations start from.
enum ValidRequest {
    /// The bytes of one, or of a pipelined pair.
    static func random(_ generator: inout some RandomNumberGenerator) -> [UInt8] {
        let first = single(&generator)
        return Int.random(in: 0..<4, using: &generator) == 0 ? first + single(&generator) : first
    }

    private static let targets = [
        secretTarget, secretTarget + "&radius=1000&limit=5", secretTarget + "&q=caf%C3%A9%20st",
        secretTarget + "&category=park,cafe&featured=false", "/locations?bbox=-122,37,-121,38&limit=3",
        "/locations?bbox=179.5,-90,-179.5,90&lat=0&long=180",
        secretTarget + "&cursor=AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "/locations/84", "/locations/84?lat=1e1&long=-0", "/locations/9223372036854775807", "/categories",
        "/livez", "/readyz", "/openapi.json", "/", "/problems/not-found", "http://localhost/categories",
    ]

    private static let methods = [
        "GET", "GET", "GET", "GET", "GET", "GET", "HEAD", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE",
        "TRACE",
    ]

    private static let fields = [
        "Accept: application/geo+json", "Accept: text/html, application/json;q=0.5, */*;q=0.1",
        "Accept-Encoding: gzip, identity;q=0", "Accept-Encoding: gzip;q=0.5, br", "Connection: close",
        "Connection: keep-alive", "If-None-Match: *", #"If-None-Match: W/"abc", "def""#,
        "Origin: https://app.example", "Access-Control-Request-Method: GET",
        "Access-Control-Request-Headers: authorization", "Authorization: Bearer abc.def-123",
        "X-Request-Id: 7d7c2f3e-1b0a-4f8e-9c55-0a2f6f5f5e11", "X-Forwarded-For: 192.0.2.1",
        "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "User-Agent: a (b) c/1.0",
    ]

    private static let bodies = [
        "Content-Length: 0\r\n\r\n", "Content-Length: 5\r\n\r\nhello",
        "Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\nA: b\r\n\r\n",
    ]

    private static func single(_ generator: inout some RandomNumberGenerator) -> [UInt8] {
        let method = methods.picked(&generator)
        let version = Int.random(in: 0..<8, using: &generator) == 0 ? "HTTP/1.0" : "HTTP/1.1"
        // The one target that is no path, and only OPTIONS has it.
        let isWholeServer = method == "OPTIONS" && Bool.random(using: &generator)
        var text = "\(method) \(isWholeServer ? "*" : targets.picked(&generator)) \(version)\r\n"
        text += "Host: localhost\r\n"
        for _ in 0..<Int.random(in: 0...4, using: &generator) { text += fields.picked(&generator) + "\r\n" }
        let mayHaveBody = ["POST", "PUT", "PATCH", "DELETE"].contains(method) && version == "HTTP/1.1"
        text += mayHaveBody ? bodies.picked(&generator) : "\r\n"
        return Array(text.utf8)
    }
}

extension Array {
    /// One of the elements; there must be one.
    func picked(_ generator: inout some RandomNumberGenerator) -> Element {
        self[Int.random(in: 0..<count, using: &generator)]
    }
}
