import Foundation
import Loopback
import ServerProcess
import ServiceFixtures

/// A balancer with the configuration that is shipped, in front of servers.
struct Balancer: Sendable {
    /// Which program.
    enum Kind: String, CaseIterable, Sendable {
        case haproxy = "HAProxy"
        case nginx
    }

    /// A change of the configuration, to show what a line of it is for.
    struct Change: Sendable {
        let from: String
        let to: String
    }

    /// A change that finds nothing to change.
    struct UnknownText: Error {
        let text: String
    }

    let kind: Kind
    /// Where it takes requests, on 127.0.0.1.
    let port: Int
    let program: ChildProgram
    private let folder: TemporaryFolder
    private let names: NameServer?

    /// Starts it, and waits until it responds.
    ///
    /// - Parameters:
    ///   - names: the DNS from which HAProxy gets the servers' addresses; without it, one that has all of them.
    ///   - takesIPv6: whether it listens as it is shipped, on every address of both kinds, instead of 127.0.0.1.
    init(
        _ kind: Kind, for fleet: ServerFleet, names: NameServer? = nil, changes: [Change] = [],
        takesIPv6: Bool = false
    ) async throws {
        self.kind = kind
        port = try FreePort.choose()
        folder = try TemporaryFolder()
        switch kind {
        case .haproxy:
            let names = if let names { names } else { try await NameServer(addresses: fleet.hosts) }
            self.names = names
            try Self.copy(kind, to: folder, changes: changes)
            program = try SystemProgram.start(
                "haproxy", ["-W", "-db", "-f", folder.path + "/haproxy.cfg"],
                environment: [
                    "POI_LISTEN": (takesIPv6 ? "[::]" : "127.0.0.1") + ":\(port)",
                    "POI_BACKEND": "\(NameServer.name):\(fleet.port)",
                    "POI_RESOLVER": "127.0.0.1:\(names.port)", "POI_BACKEND_SLOTS": "8",
                ], folder: folder)
        case .nginx:
            self.names = nil
            let addresses = fleet.hosts.enumerated().map { index, host in
                Change(from: "127.0.0.1:808\(index + 1)", to: "\(host):\(fleet.port)")
            }
            let listeners = [
                Change(from: "listen 8080;", to: "listen \(takesIPv6 ? "" : "127.0.0.1:")\(port);"),
                Change(from: "listen [::]:8080;", to: takesIPv6 ? "listen [::]:\(port);" : ""),
            ]
            // It can't open a socket that way, which the standard output of a test's program is.
            let log = Change(from: "access_log /dev/stdout", to: "access_log \(folder.path)/access.log")
            try Self.copy(kind, to: folder, changes: addresses + listeners + [log] + changes)
            program = try SystemProgram.start(
                "nginx",
                [
                    "-p", folder.path, "-c", "nginx.conf", "-e", "stderr", "-g",
                    "daemon off; pid \(folder.path)/nginx.pid;",
                ], folder: folder)
        }
        let sign = kind == .haproxy ? "changed its IP from (none) to" : "start worker process"
        _ = try await program.output.line { $0.text.contains(sign) }
        while try await get(secretTarget, port: port).status != 200 { try Task.checkCancellation() }
        try await takesSignals()
    }

    /// Has it read its configuration again, and waits until the new process takes requests.
    func reload() async throws {
        let count = program.output.lines.count
        program.send(signal: kind == .haproxy ? SIGUSR2 : SIGHUP)
        let sign = kind == .haproxy ? "Loading success" : "start worker process"
        _ = try await program.output.line(after: count) { $0.text.contains(sign) }
        try await takesSignals()
    }

    /// Waits until HAProxy's first process acts on signals. After it has started a worker it executes itself once more,
    /// and loses a signal that comes before it waits for them; only then does it catch the ends of its children.
    private func takesSignals() async throws {
        guard kind == .haproxy else { return }
        // Where there is no /proc, nothing tells.
        while let status = FileManager.default.contents(atPath: "/proc/\(program.processID)/status"),
            let caught = String(decoding: status, as: UTF8.self).firstMatch(of: /SigCgt:\s*([0-9a-f]+)/),
            let signals = UInt64(caught.1, radix: 16), signals & (1 << (SIGCHLD - 1)) == 0
        {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Waits until so many processes that a reload has replaced have ended in order.
    func endsFormerProcesses(_ count: Int) async throws {
        let sign = kind == .haproxy ? "Former worker" : "worker process"
        try await program.output.lines(count) {
            $0.text.contains(sign) && $0.text.contains("exited with code 0")
        }
    }

    /// Ends it in order, and returns all that it has written.
    @discardableResult
    func stop() async throws -> [String] {
        // Both finish what they have in hand: HAProxy calls that a soft stop, and nginx a graceful shutdown.
        program.send(signal: kind == .haproxy ? SIGUSR1 : SIGQUIT)
        _ = try await program.exitCode()
        defer { folder.remove() }
        let lines = program.output.lines.map(\.text)
        guard kind == .nginx else { return lines }
        let access = try String(contentsOfFile: folder.path + "/access.log", encoding: .utf8)
        return lines + access.split(separator: "\n").map(String.init)
    }

    /// Where the shipped configuration is.
    static func shipped(_ kind: Kind) -> URL {
        PoiProgram.migrations.deletingLastPathComponent()
            .appending(path: "deploy/\(kind.rawValue.lowercased())", directoryHint: .isDirectory)
    }

    /// Copies the shipped configuration, in whose files every change has to find its text.
    private static func copy(_ kind: Kind, to folder: TemporaryFolder, changes: [Change]) throws {
        let files = FileManager.default
        let source = shipped(kind).path(percentEncoded: false)
        for name in try files.contentsOfDirectory(atPath: source) {
            try files.copyItem(atPath: source + "/" + name, toPath: folder.path + "/" + name)
        }
        for change in changes { try change.make(in: folder) }
    }
}

extension Balancer.Change {
    fileprivate func make(in folder: TemporaryFolder) throws {
        var isMade = false
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let file = folder.path + "/" + name
            guard let text = try? String(contentsOfFile: file, encoding: .utf8), text.contains(from) else {
                continue
            }
            let changed = text.replacingOccurrences(of: from, with: to)
            try changed.write(toFile: file, atomically: true, encoding: .utf8)
            isMade = true
        }
        guard isMade else { throw Balancer.UnknownText(text: from) }
    }
}

/// A DNS server on loopback, dnsmasq, whose addresses for one name change as the test goes.
final class NameServer: Sendable {
    /// The name that it has addresses for.
    static let name = "api.test"

    /// Its port, on 127.0.0.1.
    let port: Int
    private let folder: TemporaryFolder
    private let program: ChildProgram

    init(addresses: [String]) async throws {
        folder = try TemporaryFolder()
        port = try FreePort.choose()
        let hosts = folder.path + "/hosts"
        try Self.write(addresses, to: hosts)
        program = try SystemProgram.start(
            "dnsmasq",
            [
                "--keep-in-foreground", "--log-facility=-", "--conf-file=/dev/null", "--no-resolv",
                "--no-hosts",
                "--pid-file=", "--user=", "--listen-address=127.0.0.1", "--bind-interfaces", "--port=\(port)",
                "--local=/test/", "--addn-hosts=\(hosts)",
            ], folder: folder)
        _ = try await program.output.line { $0.text.contains("read \(hosts)") }
    }

    /// Has other addresses for its name from now on.
    func change(addresses: [String]) async throws {
        let hosts = folder.path + "/hosts"
        let count = program.output.lines.count
        try Self.write(addresses, to: hosts)
        program.send(signal: SIGHUP)
        _ = try await program.output.line(after: count) { $0.text.contains("read \(hosts)") }
    }

    /// Ends it.
    func stop() async throws {
        program.send(signal: SIGTERM)
        _ = try await program.exitCode()
        folder.remove()
    }

    private static func write(_ addresses: [String], to hosts: String) throws {
        let lines = addresses.map { "\($0) \(name)\n" }
        try lines.joined().write(toFile: hosts, atomically: true, encoding: .utf8)
    }
}
