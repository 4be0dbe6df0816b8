import Foundation
import Testing

@testable import POIService

@Suite("Names of variables")
struct KnownVariablesTests {
    @Test("A configuration's error is one line, whatever breaks its lines")
    func oneLine() {
        #expect(ConfigurationError("a\nb\r\nc\rd").description == "a b  c d")
    }

    @Test(
        "A misspelt setting is refused, with the setting that is meant",
        arguments: [
            ("POI_LOOP", "POI_LOOPS"), ("POI_EVENTS_KEY", "POI_EVENTS_KEYS"),
            ("POI_EVENT_KEYS", "POI_EVENTS_KEYS"),
            ("POI_LOGFORMAT", "POI_LOG_FORMAT"), ("POI_TRUSTED_PROXY", "POI_TRUSTED_PROXIES"),
            ("POI_MAX_CONECTIONS", "POI_MAX_CONNECTIONS"), ("POI_DRIAN_DELAY", "POI_DRAIN_DELAY"),
            ("POI_DB_PREPARE", "POI_DB_PREPARED"), ("POI_SEED", "POI_SEEDS"),
        ])
    func slips(name: String, meant: String) {
        #expect(
            throws: ConfigurationError("\(name) is not known; did you mean \(meant)?")
        ) { try KnownVariables.refuseMisspelt(in: ["A": "1", name: "1", meant: "1"]) }
    }

    @Test(
        "Names of other programs, of newer releases and of empty variables are ignored",
        arguments: [
            "POI_PORT", "POI_SERVICE_HOST", "POI_SERVICE_PORT_HTTP", "POI_PORT_80_TCP_ADDR", "POI_", "POI_X",
            "POI_MAX_CONNECTIONS_PER_PLANET", "POI_TOOLS", "POI_LOGS", "MY_POI_LOOP", "POSTGRES_PASSWORD",
            "POI_\(String(repeating: "LOOPS", count: 50))", "POI_ÜBER",
        ])
    func strangers(name: String) throws {
        try KnownVariables.refuseMisspelt(in: [name: "1", "POI_LOOP": ""])
    }

    @Test("The name of a setting is never taken for a misspelt name of another one")
    func settings() throws {
        #expect(Set(KnownVariables.all).count == KnownVariables.all.count)
        try KnownVariables.refuseMisspelt(
            in: Dictionary(uniqueKeysWithValues: KnownVariables.all.map { ($0, "1") }))
    }

    @Test("No variable of the shipped files, scripts and tests is refused")
    func shipped() throws {
        let package = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        var names: Set<String> = []
        for path in [
            "docker-compose.yml", "Dockerfile", "Makefile", "Package.swift", "README.md", ".ci", "deploy",
            "scripts",
            "Documentation", "Benchmarks", "Tests/Support", "Sources/PointsOfInterestContract",
            "Tests/DeploymentTests",
        ] {
            let root = package.appending(path: path)
            let inside =
                FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)?
                .compactMap { $0 as? URL } ?? []
            for file in [root] + inside {
                guard let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
                names.formUnion(text.matches(of: /\bPOI_[A-Z0-9_]+\b/).map { String($0.0) })
            }
        }
        // The documentation's example of a misspelt one.
        names.remove("POI_RATE_LIMITS")
        #expect(names.isSuperset(of: ["POI_PUBLISH", "POI_MIGRATE_PASSWORD", "POI_TEST_SEED", "POI_BINARY"]))
        for name in names.sorted() {
            #expect(KnownVariables.nearest(to: name) == nil, "\(name)")
        }
    }
}
