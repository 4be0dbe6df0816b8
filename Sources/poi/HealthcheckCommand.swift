import EventLoop
import Foundation
import POIService
import Program

/// `poi healthcheck`: asks the server of HOST and PORT, or of `--url`, whether it is alive or ready.
enum HealthcheckCommand {
    private static let timeout = Duration.seconds(2)

    static func run(_ invocation: Invocation) throws {
        try invocation.refuseWords(after: 1)
        var reader = invocation.settings
        let path = invocation.line.switches.contains("--ready") ? "/readyz" : "/livez"
        let url = reader.takeOption("--url")
        let (host, port) = try (reader.read(.host), reader.read(.port))
        try reader.refuseUnknownFlags()
        let probe = try url.map { try Self.probe(url: $0, path: path) } ?? Self.probe(host, port, path)
        try startTimeout(naming: probe.url)
        try probe.run()
    }

    private static func probe(_ host: String, _ port: Int, _ path: String) throws -> HealthProbe {
        guard port != 0 || host.hasPrefix("unix:") else {
            throw ConfigurationError("PORT=0: expected the port that the server listens on")
        }
        return HealthProbe(host: host, port: port, path: path)
    }

    private static func probe(url text: String, path: String) throws -> HealthProbe {
        guard let url = URLComponents(string: text), url.scheme == "http",
            let host = url.host?.trimmingCharacters(in: ["[", "]"]), !host.isEmpty, url.query == nil,
            url.user == nil, (1...65535).contains(url.port ?? 80)
        else { throw ConfigurationError("--url=\(text): expected a URL such as http://127.0.0.1:8080") }
        let base = url.percentEncodedPath
        return HealthProbe(
            host: host, port: url.port ?? 80,
            path: (base.hasSuffix("/") ? String(base.dropLast()) : base) + path)
    }

    /// Ends the process in time whatever it waits for: DNS, or a server that is silent.
    private static func startTimeout(naming url: String) throws {
        let loop = try EventLoopThread.start(name: "poi-end").loop
        loop.execute {
            LoopTimer(loop: loop) {
                Terminal.printError("poi: \(url): no response within 2 s")
                _exit(1)
            }.start(after: timeout)
        }
    }
}
