import Foundation
@testable import Program
import Testing

@testable import POIService

@Suite("Names of variables")
struct SettingNameTests {
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
        ) { try SettingName.refuseMisspelt(in: ["A": "1", name: "1", meant: "1"]) }
    }

    @Test(
        "Names of other programs, of newer releases and of empty variables are ignored",
        arguments: [
            "POI_PORT", "POI_SERVICE_HOST", "POI_SERVICE_PORT_HTTP", "POI_PORT_80_TCP_ADDR", "POI_", "POI_X",
            "POI_MAX_CONNECTIONS_PER_PLANET", "POI_TOOLS", "POI_LOGS", "MY_POI_LOOP", "POSTGRES_PASSWORD",
            "POI_\(String(repeating: "LOOPS", count: 50))", "POI_ÜBER",
        ])
    func strangers(name: String) throws {
        try SettingName.refuseMisspelt(in: [name: "1", "POI_LOOP": ""])
    }

    @Test("The name of a setting is never taken for a misspelt name of another one")
    func settings() throws {
        try SettingName.refuseMisspelt(
            in: Dictionary(uniqueKeysWithValues: SettingName.allCases.map { ($0.rawValue, "1") }))
    }

    @Test("No variable of the shipped files, scripts and tests is refused")
    func shipped() throws {
        var names: Set<String> = []
        for path in [
            "docker-compose.yml", "Dockerfile", "Makefile", "Package.swift", "README.md", ".ci", "deploy",
            "scripts",
            "Documentation", "Benchmarks", "Tests/Support", "Sources/PointsOfInterestContract",
            "Tests/DeploymentTests",
        ] {
            let root = Self.package.appending(path: path)
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
            #expect(SettingName.nearest(to: name) == nil, "\(name)")
        }
    }

    private static let package = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in
        url.deletingLastPathComponent()
    }

    @Test("The README has one row for each setting, and for no other")
    func readme() throws {
        let text = try String(contentsOf: Self.package.appending(path: "README.md"), encoding: .utf8)
        let cells = text.matches(of: /(?m)^\| (`[A-Z][^|]*`) \|/).map(\.1)
        let names = cells.flatMap { $0.matches(of: /`([A-Z_]+)`/).map { String($0.1) } }
        #expect(names.sorted() == SettingName.allCases.map(\.rawValue).sorted())
    }

    @Test(
        "What is shipped sets only variables of the program, and those of its surroundings",
        arguments: ["docker-compose.yml", "Dockerfile", "deploy/systemd", "deploy/kubernetes"])
    func shippedSettings(path: String) throws {
        let surroundings =
            /POI_(LISTEN|LISTEN_TLS|CERTIFICATES|BACKEND|BACKEND_SLOTS|RESOLVER|PUBLISH|VERSION|EDGE_[A-Z]+|TARGETS|[A-Z]+_PASSWORD)/
        let root = Self.package.appending(path: path)
        let inside = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)?.compactMap {
            $0 as? URL
        }
        var names: Set<String> = []
        for file in [root] + (inside ?? []) {
            guard let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
            names.formUnion(text.matches(of: /\bPOI_[A-Z0-9_]+/).map { String($0.0) })
        }
        #expect(!names.isEmpty)
        for name in names.sorted() where name.wholeMatch(of: surroundings) == nil {
            #expect(SettingName(rawValue: name) != nil, "\(name)")
        }
    }
}
