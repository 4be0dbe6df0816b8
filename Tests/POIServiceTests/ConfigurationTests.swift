import Foundation
import Testing

@testable import POIService
@testable import Program

@Suite("Configuration")
struct ConfigurationTests {
    private func configuration(
        flags: [String: String] = [:], environment: [String: String] = [:]
    ) throws -> ServiceConfiguration {
        var reader = SettingsReader(flags: flags, environment: environment)
        let configuration = try ServiceConfiguration(from: &reader, processorCount: 2)
        try reader.refuseUnknownFlags()
        return configuration
    }

    @Test("A development server has no drain delay, and the system chooses its admin port")
    func developmentDefaults() throws {
        var reader = SettingsReader(flags: [:], environment: [:])
        let configuration = try ServiceConfiguration(
            from: &reader, processorCount: 2, isDevelopment: true)
        #expect(configuration.lifecycle.drainDelay == .zero)
        #expect(configuration.admin.port == 0)
    }

    @Test("An option takes precedence over the environment, and that over the default")
    func precedence() throws {
        // An empty variable counts as absent.
        #expect(try configuration(environment: ["PORT": ""]).port == 8080)
        #expect(try configuration(environment: ["PORT": "9000"]).port == 9000)
        #expect(try configuration(flags: ["--port": "9001"], environment: ["PORT": "9000"]).port == 9001)
        #expect(try configuration(flags: ["--loops": "3"]).loops == 3)
    }

    @Test(
        "A bad value is an error of one line with the setting, the value and what is expected",
        arguments: [
            ("PORT", "65536", "a whole number from 0 to 65535"),
            ("PORT", "-1", "a whole number from 0 to 65535"),
            ("PORT", "80 ", "a whole number from 0 to 65535"),
            ("POI_LOOPS", "0", "a whole number from 1 to 256"),
            ("POI_LOOPS", "99999999999999999999", "a whole number from 1 to 256"),
            ("POI_ACCESS_LOG", "maybe", "true or false"),
            ("POI_LOG_FORMAT", "xml", "one of auto, json, text"),
            ("POI_SHUTDOWN_TIMEOUT", "2h", "a time such as 250ms or 2s, from 0s to 3600s"),
            ("POI_DRAIN_DELAY", "-1", "a time such as 250ms or 2s, from 0s to 3600s"),
            ("POI_ADMIN_PORT", "none", "a whole number from 0 to 65535, or off"),
            ("POI_LOG_COORDINATES", "1", "one of off, coarse, full"),
            ("POI_IGNORED_PARAMETERS", "a*b", "names, each with or without a * at its end"),
            ("POI_CACHE_PUBLIC_MAX_AGE", "-1s", "a time such as 250ms or 2s, from 0s to 31536000s"),
            (
                "POI_CORS_ORIGINS", "https://a.example/",
                "*, or origins such as https://example.com, "
                    + "without a path, in lower case"
            ),
            (
                "POI_API_KEYS", "0123456789abcdef,short",
                "keys of 16 to 256 letters, digits and -._~+/, "
                    + "separated by commas"
            ),
            (
                "POI_API_KEYS", ",",
                "keys of 16 to 256 letters, digits and -._~+/, "
                    + "separated by commas"
            ),
            ("POI_RATE_LIMIT", "20", "1 to 1000000 requests a second, minute or hour, such as 20/s"),
            ("POI_RATE_BURST", "5", "POI_RATE_LIMIT to be set too"),
            ("POI_RATE_BURST", "0", "a whole number from 1 to 1000000"),
            ("POI_TRUSTED_PROXIES", "10.0.0.0/33", "addresses, or ranges such as 10.0.0.0/8"),
            ("POI_LOOPS", "1\n2", "a whole number from 1 to 256"),
        ])
    func badValue(variable: String, value: String, expected: String) {
        let error = #expect(throws: ConfigurationError.self) {
            try configuration(environment: [variable: value])
        }
        let shown = variable == "POI_API_KEYS" ? "(redacted)" : value.replacing("\n", with: " ")
        #expect(error?.description == "\(variable)=\(shown): expected \(expected)")
    }

    @Test("Access is as configured, and open by default")
    func access() throws {
        let open = try configuration().access
        #expect(open.allowedOrigins.isEmpty && open.keys.isEmpty && open.trustedProxies.isEmpty)
        #expect(open.rateLimit == nil)
        let set = try configuration(environment: [
            "POI_CORS_ORIGINS": "https://a.example, capacitor://localhost",
            "POI_API_KEYS": "0123456789abcdef, fedcba9876543210==", "POI_RATE_LIMIT": "600/m",
            "POI_RATE_BURST": "5", "POI_TRUSTED_PROXIES": "10.0.0.0/8,::1",
        ]).access
        #expect(set.allowedOrigins == [.origin("https://a.example"), .origin("capacitor://localhost")])
        #expect(set.keys.count == 2)
        #expect(set.rateLimit?.intervalNanoseconds == 100_000_000)
        #expect(set.rateLimit?.burst == 5)
        #expect(set.trustedProxies.count == 2)
        #expect(RateLimit(settingText: "20/s")?.burst == 20)
    }

    @Test("Keys are never shown")
    func keysAreSecret() throws {
        let key = "0123456789abcdef"
        var reader = SettingsReader(flags: [:], environment: ["POI_API_KEYS": key])
        let configuration = try ServiceConfiguration(from: &reader, processorCount: 1)
        #expect(!reader.summary.contains(key))
        #expect(reader.summary.contains("POI_API_KEYS=(redacted)"))
        #expect(!"\(configuration)".contains(key))
    }

    @Test(
        "A text that isn't an origin is refused",
        arguments: [
            "", "null", "https://", "://a", "https:/a", "https://A.example", "https://a.example/x",
            "https://a.example?", "https://a b", "*.example", "https://*.example", "1http://a",
        ])
    func badOrigins(text: String) {
        #expect(AllowedOrigin(settingText: text) == nil)
    }

    @Test(
        "A text that isn't a rate is refused",
        arguments: ["", "/s", "0/s", "1000001/s", "-1/s", "1/d", "1/s/", "1.5/s"])
    func badRates(text: String) {
        #expect(RateLimit(settingText: text) == nil)
    }

    @Test("An unknown option is refused, with a list of the known ones")
    func unknownFlag() {
        let error = #expect(throws: ConfigurationError.self) {
            try configuration(flags: ["--prot": "80"])
        }
        #expect(error?.description.hasPrefix("unknown option --prot; known options: ") == true)
        #expect(error?.description.contains("--port") == true)
    }

    @Test(
        "Times are parsed with their units",
        arguments: [
            ("250ms", Duration.milliseconds(250)), ("2s", .seconds(2)), ("1.5s", .milliseconds(1500)),
            ("1m", .seconds(60)), ("3", .seconds(3)), ("0", .zero),
        ])
    func durations(text: String, duration: Duration) {
        #expect(Duration(settingText: text) == duration)
    }

    @Test(
        "A text that isn't a time is refused",
        arguments: ["", "s", "-1s", "1e3", "1..2", "nan", "inf", "99999999999m"])
    func badDurations(text: String) {
        #expect(Duration(settingText: text) == nil)
    }

    @Test("A command line is parsed into words, options and switches")
    func commandLine() throws {
        let line = try CommandLineArguments(
            ["migrate", "up", "--to", "0003", "--dry-run", "--port=80"], switches: ["--dry-run"])
        #expect(line.words == ["migrate", "up"])
        #expect(line.options == ["--to": "0003", "--port": "80"])
        #expect(line.switches == ["--dry-run"])
    }

    @Test(
        "A malformed command line is refused",
        arguments: [
            (["--port"], "--port needs a value; see --help"),
            (["--port", "--loops"], "--port needs a value; see --help"),
            (["--dry-rum"], "--dry-rum needs a value; did you mean --dry-run?"),
            (["--port=1", "--port=2"], "--port is given twice"),
            (["--dry-run=1"], "--dry-run takes no value"),
        ])
    func badCommandLine(arguments: [String], message: String) {
        #expect(throws: ConfigurationError(message)) {
            try CommandLineArguments(arguments, switches: ["--dry-run"])
        }
    }
}

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
            ("POI_PORT", "PORT"), ("POI_HOST", "HOST"), ("POI_DATABASE_URL", "DATABASE_URL"),
            ("POI_DATABASE_URI", "DATABASE_URL"), ("DATABASE_URI", "DATABASE_URL"),
        ])
    func slips(name: String, meant: String) {
        #expect(
            throws: ConfigurationError("\(name) is not known; did you mean \(meant)?")
        ) { try SettingName.refuseMisspelt(in: ["A": "1", name: "1", meant: "1"]) }
    }

    @Test(
        "Names of other programs, of newer releases and of empty variables are ignored",
        arguments: [
            "POI_SERVICE_HOST", "POI_SERVICE_PORT_HTTP", "POI_PORT_80_TCP_ADDR", "POI_", "POI_X", "URI",
            "HOSTS",
            "POI_MAX_CONNECTIONS_PER_PLANET", "POI_TOOLS", "POI_LOGS", "MY_POI_LOOP", "POSTGRES_PASSWORD",
            "POI_\(String(repeating: "LOOPS", count: 50))", "POI_ÜBER",
        ])
    func strangers(name: String) throws {
        try SettingName.refuseMisspelt(in: [name: "1", "POI_LOOP": ""])
    }

    @Test("The addresses that Kubernetes sets for a Service poi are ignored")
    func serviceLinks() throws {
        try SettingName.refuseMisspelt(in: [
            "POI_PORT": "tcp://10.0.0.1:8080", "POI_PORT_8080_TCP": "tcp://10.0.0.1:8080",
            "POI_PORT_8080_TCP_PORT": "8080", "POI_SERVICE_HOST": "10.0.0.1", "POI_SERVICE_PORT": "8080",
        ])
    }

    @Test("Of a removed setting it is said that it was removed, and not the name of a neighbour")
    func removed() {
        let fate = "was removed: there are no searches by text without an index"
        #expect(throws: ConfigurationError("POI_DB_TEXT_CONNECTIONS \(fate)")) {
            try SettingName.refuseMisspelt(in: ["POI_DB_TEXT_CONNECTIONS": "1"])
        }
        let reader = SettingsReader(flags: ["--db-text-connections": "1"], environment: [:])
        #expect(throws: ConfigurationError("--db-text-connections \(fate)")) {
            try reader.refuseUnknownFlags()
        }
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
        // The documentation's examples of misspelt ones.
        names.subtract(["POI_RATE_LIMITS", "POI_PORT", "POI_HOST", "POI_DATABASE_URL"])
        #expect(names.isSuperset(of: ["POI_PUBLISH", "POI_MIGRATE_PASSWORD", "POI_TEST_SEED", "POI_BINARY"]))
        for name in names.sorted() {
            #expect(SettingName.nearest(to: name) == nil, "\(name)")
        }
    }

    private static let package = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in
        url.deletingLastPathComponent()
    }

    @Test("The page of settings has one row for each setting, and for no other")
    func page() throws {
        let page = Self.package.appending(path: "Documentation/settings.md")
        let text = try String(contentsOf: page, encoding: .utf8)
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
