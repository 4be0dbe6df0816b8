import Foundation
import Loopback
import ServerProcess
import ServiceFixtures

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
