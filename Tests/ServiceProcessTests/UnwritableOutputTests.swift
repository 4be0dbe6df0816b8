import Foundation
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A standard stream that takes nothing.
enum UnwritableStream: String, CaseIterable, Sendable {
    case fullDisk, closedPipe, closedDescriptor

    /// What a shell does at its `exec` of a program, so that descriptor `number` is such a stream.
    fileprivate func script(for number: Int) -> String {
        switch self {
        case .fullDisk: #"exec "$@" \#(number)>/dev/full"#
        case .closedDescriptor: #"exec "$@" \#(number)>&-"#
        // Opened in both directions, a FIFO doesn't wait for its other end, which is closed then.
        case .closedPipe: #"exec 4<>"$FIFO" 5>"$FIFO" 4<&-; exec "$@" \#(number)>&5 5>&-"#
        }
    }

    fileprivate var reason: String {
        switch self {
        case .fullDisk: "No space left on device"
        case .closedPipe: "Broken pipe"
        case .closedDescriptor: "Bad file descriptor"
        }
    }
}

@Suite("Output that can't be written", .timeLimit(.minutes(2)))
final class UnwritableOutputTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try #require(mkfifo(folder.path + "/fifo", 0o600) == 0)
    }

    deinit { folder.remove() }

    /// Starts `poi` by a shell script, which has a FIFO.
    private func start(
        _ arguments: [String], by script: String, _ environment: [String: String] = [:]
    ) throws -> ChildProgram {
        let program = PoiProgram.executable.path(percentEncoded: false)
        return try PoiProgram.start(
            ["-c", script, "sh", program] + arguments, of: URL(filePath: "/bin/sh"),
            environment: environment.merging(["FIFO": folder.path + "/fifo"]) { $1 })
    }

    private static func lines(_ program: ChildProgram) -> [String] {
        program.output.lines(of: .standardError)
    }

    @Test(
        "A server whose standard output takes nothing serves all the same",
        arguments: UnwritableStream.allCases)
    func serving(stream: UnwritableStream) async throws {
        let database = try await ServiceDatabase.migrated()
        let program = try start(
            ["serve", "--port", "0"], by: stream.script(for: 1), ["DATABASE_URL": database.connectionString])
        let line = try await program.output.line { $0.text.contains(#""event":"listening""#) }
        let port = try #require(
            line.text.firstMatch(of: /"url":"http:\/\/127.0.0.1:([0-9]+)"/).flatMap { Int($0.1) })
        #expect(try await get("/livez", port: port).status == 200)
        program.send(signal: SIGTERM)
        #expect(try await program.exitCode() == 0)
        #expect(program.output.text.contains(#""event":"stopped""#))
    }

    @Test(
        "A command whose output is its result ends with exit code 1 and says why",
        arguments: UnwritableStream.allCases)
    func results(stream: UnwritableStream) async throws {
        let database = try await ServiceDatabase.migrated()
        try await DatabaseSession(database.connectionString).run(
            """
            INSERT INTO events (id, time, received_at, user_id, name, is_test)
            VALUES (gen_random_uuid(), '2026-11-01 12:00+00', '2026-11-02 12:00+00', 'user', 'launch', false)
            """)
        for arguments in [
            ["--help"], ["serve", "--print-config"], ["migrate", "status"],
            ["events", "export", "--since", "2026-11-01"],
        ] {
            let program = try start(
                arguments, by: stream.script(for: 1), ["DATABASE_URL": database.connectionString])
            #expect(try await program.exitCode() == 1, "\(arguments)")
            #expect(Self.lines(program) == ["poi: standard output: \(stream.reason)"], "\(arguments)")
        }
    }

    @Test(
        "A command that changes a database does so even if its output can't be written",
        arguments: UnwritableStream.allCases)
    func changes(stream: UnwritableStream) async throws {
        let database = try await ServiceDatabase.empty()
        for arguments in [["migrate", "up"], ["events", "maintain"]] {
            let program = try start(
                arguments, by: stream.script(for: 1), ["DATABASE_URL": database.connectionString])
            #expect(try await program.exitCode() == 0, "\(arguments)")
            #expect(Self.lines(program) == [], "\(arguments)")
        }
        let check = try await PoiProgram.run(
            ["migrate", "up"], environment: ["DATABASE_URL": database.connectionString])
        #expect(check.standardOutput.first == "nothing to do")
    }

    @Test(
        "A command that can't write its error message still ends with that error's exit code",
        arguments: UnwritableStream.allCases)
    func errors(stream: UnwritableStream) async throws {
        let program = try start(["swim"], by: stream.script(for: 2))
        #expect(try await program.exitCode() == 64)
    }

    @Test(
        "A server whose log takes nothing serves, and counts the lines", arguments: UnwritableStream.allCases)
    func log(stream: UnwritableStream) async throws {
        let database = try await ServiceDatabase.migrated()
        // Its log can't say on which port its metrics are, so they have an address of their own.
        let address = "127." + (0..<3).map { _ in "\(Int.random(in: 2...250))" }.joined(separator: ".")
        let program = try start(
            ["serve", "--port", "0"], by: stream.script(for: 2),
            [
                "DATABASE_URL": database.connectionString, "POI_ADMIN_HOST": address,
                "POI_ADMIN_PORT": "9464",
            ])
        let line = try await program.output.line { $0.text.hasPrefix("serving ") }
        let port = try #require(line.text.split(separator: ":").last.flatMap { Int($0) })
        for _ in 0..<20 { #expect(try await get("/livez", port: port).status == 200) }
        var dropped = 0.0
        // 20 requests, and what it says of its start.
        while dropped < 22 {
            try Task.checkCancellation()
            let text = try await Self.metrics(at: address)
            dropped = try #require(try PrometheusText(text)["poi_log_lines_dropped_total"])
        }
        program.send(signal: SIGTERM)
        #expect(try await program.exitCode() == 0)
    }

    private static func metrics(at address: String) async throws -> String {
        let url = try #require(URL(string: "http://\(address):9464/metrics"))
        return String(decoding: try await URLSession.shared.data(from: url).0, as: UTF8.self)
    }

    @Test("A log whose reader has stalled doesn't hold up the end")
    func stalledReader() async throws {
        let database = try await ServiceDatabase.migrated()
        // A FIFO that is full from the start, with a reader that never reads: the program itself.
        let script = #"exec 4<>"$FIFO"; head -c 65536 /dev/zero >&4; exec "$@" 2>&4"#
        let program = try start(
            ["serve", "--port", "0"], by: script,
            ["DATABASE_URL": database.connectionString, "POI_SHUTDOWN_TIMEOUT": "60m"])
        _ = try await program.output.line { $0.text.hasPrefix("serving ") }
        program.send(signal: SIGTERM)
        // Well before the hard end, which would come after an hour.
        #expect(try await program.exitCode() == 0)
    }
}
