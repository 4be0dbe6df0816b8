import Foundation

/// A `poi serve` or `poi dev` that serves on a port of its own, and its metrics on another.
package struct ServerProcess: Sendable {
    /// The process.
    package let program: ChildProgram
    /// Where it serves.
    package let baseURL: URL
    /// The port it serves on.
    package let port: Int
    /// A libpq URI of its database.
    package let databaseURL: String
    /// The key by which `poi dev` lets places be edited.
    package let editorKey: String?

    /// Starts `poi serve` on a database; it need not be ready when this returns.
    ///
    /// - Parameters:
    ///   - host: an address of this machine, in IPv4's notation.
    ///   - port: 0 lets the system choose one that is free.
    ///   - descriptorLimits: how many files it may open: the soft limit and the hard one (prlimit(1)).
    package static func serve(
        databaseURL: String, host: String = "127.0.0.1", port: Int = 0, environment: [String: String] = [:],
        descriptorLimits: (soft: Int, hard: Int)? = nil
    ) async throws -> ServerProcess {
        var environment = environment
        environment["DATABASE_URL"] = databaseURL
        var arguments = ["serve", "--host", host, "--port", "\(port)"]
        var executable = PoiProgram.executable
        if let (soft, hard) = descriptorLimits {
            arguments.insert(
                contentsOf: ["--nofile=\(soft):\(hard)", executable.path(percentEncoded: false)], at: 0)
            executable = URL(filePath: "/usr/bin/prlimit")
        }
        return try await ServerProcess(
            PoiProgram.start(arguments, of: executable, environment: environment), host: host,
            databaseURL: databaseURL)
    }

    /// Starts `poi dev`, which keeps its state below a folder.
    package static func dev(
        in folder: TemporaryFolder, environment: [String: String] = [:]
    ) async throws -> ServerProcess {
        var environment = environment
        environment["POI_STATE_DIR"] = folder.path
        return try await ServerProcess(
            PoiProgram.start(["dev", "--port", "0"], environment: environment, folder: folder))
    }

    private init(
        _ program: ChildProgram, host: String = "127.0.0.1", databaseURL: String? = nil
    ) async throws {
        let announcement = "serving http://\(host):"
        let line = try await program.output.line {
            $0.stream == .standardOutput && $0.text.hasPrefix(announcement)
        }
        // What `poi dev` says before.
        func value(after name: String) -> String? {
            program.output.lines(of: .standardOutput).first { $0.hasPrefix(name) }.map {
                String($0.dropFirst(name.count))
            }
        }
        guard let port = Int(line.text.dropFirst(announcement.count)),
            let baseURL = URL(string: "http://\(host):\(port)"),
            let databaseURL = databaseURL ?? value(after: "DATABASE_URL=")
        else {
            throw ProgramFailure(
                reason: "didn't say where it and its database are", output: program.output.text)
        }
        self.program = program
        self.port = port
        self.baseURL = baseURL
        self.databaseURL = databaseURL
        editorKey = value(after: "editor's key: ")
    }

    /// The port of its admin listener, on 127.0.0.1, once that listens.
    package func adminPort() async throws -> Int {
        let line = try await program.output.line {
            $0.stream == .standardError && $0.text.contains(#""event":"admin-listening""#)
        }
        guard let match = line.text.firstMatch(of: /"url":"http:\/\/[^"]*:([0-9]+)"/), let port = Int(match.1)
        else { throw ProgramFailure(reason: "didn't say where its metrics are", output: program.output.text) }
        return port
    }

    /// Waits until it is ready: from then on `/readyz` answers 200.
    package func ready() async throws {
        try await event("migrations-applied")
    }

    /// Waits for an event in its log, not counting those among the first `count` lines of its output.
    package func event(_ name: String, after count: Int = 0) async throws {
        _ = try await program.output.line(after: count) {
            $0.stream == .standardError && $0.text.contains(#""event":"\#(name)""#)
        }
    }

    /// Waits until so many lines of its log are as awaited.
    package func logLines(_ count: Int, where isAwaited: @escaping @Sendable (String) -> Bool) async throws {
        try await program.output.lines(count) { $0.stream == .standardError && isAwaited($0.text) }
    }

    /// Sends SIGTERM and waits for the end; returns the exit code.
    @discardableResult
    package func stop() async throws -> Int32 {
        program.send(signal: SIGTERM)
        return try await program.exitCode()
    }
}

/// A `poi-mock` on a free port of its own.
package struct MockServerProcess: Sendable {
    /// The process.
    package let program: ChildProgram
    /// Where it serves.
    package let baseURL: URL
    /// The port it serves on, on 127.0.0.1.
    package let port: Int

    /// What it prints once it listens.
    private struct Announcement: Decodable {
        let port: Int
        let url: URL
    }

    /// Starts it; it answers when this returns.
    ///
    /// - Parameter arguments: further ones than the port.
    package init(_ arguments: [String] = [], environment: [String: String] = [:]) async throws {
        program = try PoiProgram.start(
            ["--port", "0"] + arguments, of: PoiProgram.mock, environment: environment)
        let line = try await program.output.line { $0.stream == .standardOutput }
        let announcement = try JSONDecoder().decode(Announcement.self, from: Data(line.text.utf8))
        port = announcement.port
        baseURL = announcement.url
    }

    /// Sends SIGTERM and waits for the end; returns the exit code.
    @discardableResult
    package func stop() async throws -> Int32 {
        program.send(signal: SIGTERM)
        return try await program.exitCode()
    }
}

/// Servers with the seed that suites start for themselves and that run until the end of this process. The contract suite edits the
/// places of its own.
package enum OwnServers {
    /// The origin that they let in.
    package static let origin = "https://app.example"

    /// Starts `poi dev`, on a fresh database.
    ///
    /// - Throws: `ProgramFailure` where it doesn't start.
    package static func startLocal() async throws -> ServerProcess {
        let folder = try TemporaryFolder()
        var environment = settings
        environment["POI_INDEX"] = ProcessInfo.processInfo.environment["POI_INDEX"]
        let server = try await ServerProcess.dev(in: folder, environment: environment)
        server.program.endAtExit(removing: folder)
        try await server.ready()
        return server
    }

    /// Starts `poi-mock`.
    ///
    /// - Throws: `ProgramFailure` where it doesn't start.
    package static func startMock() async throws -> MockServerProcess {
        let server = try await MockServerProcess(environment: settings)
        server.program.endAtExit()
        return server
    }

    /// Without reports, which a mock takes by default and a service doesn't; with sums, which both tell only where that is
    /// asked for.
    private static let settings = [
        "POI_CORS_ORIGINS": origin, "POI_REPORTS": "off", "POI_DIGEST_MAX_PLACES": "100000",
    ]
}

/// A service manager's end of the notification socket, as systemd's (sd_notify(3)). Its reading blocks.
package final class NotifySocket: Sendable {
    /// Neither a message nor, for so long that it hangs, anything else.
    package struct NoMessage: Error {}

    /// The socket's name as `NOTIFY_SOCKET` has it.
    package let name: String
    private let descriptor: Int32

    /// Binds it to a path, or with `@` to an abstract name.
    package init(name: String) throws {
        self.name = name
        #if canImport(Darwin)
            descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #else
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #endif
        // No deadline, only an end to hanging.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        if name.hasPrefix("@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length =
            MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path) + bytes.count
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(length))
            }
        }
        guard status == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    deinit { close(descriptor) }

    /// The next datagram.
    package func next() throws -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { throw NoMessage() }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// Reads up to the datagram that has this line; answers all of them.
    package func read(upTo line: String) throws -> [String] {
        var messages: [String] = []
        repeat {
            messages.append(try next())
        } while !(messages.last ?? "").split(separator: "\n").contains { $0 == line }
        return messages
    }
}
