import Foundation
import ServerProcess
import ServiceFixtures
import Testing

/// A way to call `poi` wrongly, and what its one line of output has to name.
struct WrongCall: Sendable, CustomTestStringConvertible {
    var arguments = ["serve"]
    var environment: [String: String] = [:]
    let named: String

    var testDescription: String {
        (environment.map { "\($0.key)=\($0.value)" } + ["poi"] + arguments).joined(separator: " ")
    }

    static let all = [
        WrongCall(environment: ["PORT": "abc"], named: "PORT=abc"),
        WrongCall(environment: ["PORT": "65536"], named: "PORT=65536"),
        WrongCall(arguments: ["dev", "--port", "abc"], named: "--port=abc"),
        WrongCall(environment: ["POI_LOOPS": "0"], named: "POI_LOOPS=0"),
        WrongCall(environment: ["POI_DB_STATEMENT_TIMEOUT": "soon"], named: "POI_DB_STATEMENT_TIMEOUT=soon"),
        WrongCall(environment: ["POI_SEEDS": "perhaps"], named: "POI_SEEDS=perhaps"),
        WrongCall(environment: ["POI_MIGRATIONS_DIR": "/nowhere"], named: "POI_MIGRATIONS_DIR=/nowhere"),
        WrongCall(environment: ["DATABASE_URL": "postgresql://u:hunter2@[h/db"], named: "DATABASE_URL"),
        WrongCall(environment: ["DATABASE_URL": "password=hunter2 garbage"], named: "DATABASE_URL"),
        WrongCall(
            environment: ["DATABASE_URL": "postgresql://u:hunter2@h/db?sslmode=hunter2"], named: "sslmode"),
        WrongCall(
            arguments: ["migrate", "up"],
            environment: ["DATABASE_URL": "postgresql://u@h/db?connect_timeout=soon"],
            named: "connect_timeout"),
        WrongCall(
            environment: ["DATABASE_URL": "postgresql://poi:left@hunter2@127.0.0.1/places"],
            named: "percent-encoded"),
        WrongCall(
            arguments: ["migrate", "status"],
            environment: ["DATABASE_URL": "postgres://poi:left@ho/hunter2@127.0.0.1/places"],
            named: "percent-encoded"),
        WrongCall(environment: ["HOST": "unix:relative"], named: "HOST=unix:relative"),
        WrongCall(
            environment: ["HOST": "unix:/" + String(repeating: "x", count: 120)], named: "HOST=unix:/x"),
        WrongCall(
            environment: ["HOST": "unix:/tmp/poi.sock", "POI_SOCKET_MODE": "rw"], named: "POI_SOCKET_MODE=rw"),
        WrongCall(
            environment: ["HOST": "unix:/tmp/poi.sock", "POI_SOCKET_MODE": "1777"],
            named: "POI_SOCKET_MODE=1777"),
        WrongCall(
            environment: ["HOST": "unix:/tmp/poi.sock", "POI_SOCKET_GROUP": "no such group"],
            named: "POI_SOCKET_GROUP=no such group"),
        WrongCall(
            environment: ["POI_SOCKET_GROUP": "0"], named: "POI_SOCKET_GROUP: expected HOST to be unix:"),
        WrongCall(environment: ["POI_PORT": "9000"], named: "POI_PORT is not known; did you mean PORT?"),
        WrongCall(
            environment: ["DATABASE_URI": "postgresql://u:hunter2@127.0.0.1/db"],
            named: "DATABASE_URI is not known; did you mean DATABASE_URL?"),
        WrongCall(
            environment: ["POI_RATE_LIMITS": "20/s"],
            named: "POI_RATE_LIMITS is not known; did you mean POI_RATE_LIMIT?"),
        WrongCall(
            arguments: ["migrate", "up"], environment: ["POI_TRUSTED_PROXY": "hunter2"],
            named: "POI_TRUSTED_PROXY is not known; did you mean POI_TRUSTED_PROXIES?"),
        WrongCall(
            arguments: ["events", "maintain"], environment: ["POI_EVENT_RETENTION": "13 months"],
            named: "did you mean POI_EVENTS_RETENTION?"),
        WrongCall(
            arguments: ["healthcheck"], environment: ["POI_APIKEYS": "hunter2"],
            named: "did you mean POI_API_KEYS?"),
        WrongCall(arguments: ["serve", "--colour", "red"], named: "--colour"),
        WrongCall(arguments: ["serve", "--port"], named: "--port"),
        WrongCall(arguments: ["serve", "--port", "1", "--port", "2"], named: "--port"),
        WrongCall(arguments: ["serve", "now"], named: "now"),
        WrongCall(arguments: ["swim"], named: "swim"),
        WrongCall(arguments: ["migrate"], named: "poi migrate up"),
        WrongCall(arguments: ["migrate", "sideways"], named: "sideways"),
        WrongCall(arguments: ["migrate", "up", "--to", "0202"], named: "--to"),
        WrongCall(environment: ["POI_EVENTS_KEYS": "hunter2"], named: "POI_EVENTS_KEYS"),
        WrongCall(environment: ["POI_EVENTS_HASH_KEY": "hunter2"], named: "POI_EVENTS_HASH_KEY"),
        WrongCall(
            environment: ["POI_EVENTS_HASH_KEY_FILE": "/nowhere"], named: "POI_EVENTS_HASH_KEY_FILE=/nowhere"),
        WrongCall(
            arguments: ["serve", "--database-url-file", "/nowhere"], named: "--database-url-file=/nowhere"),
        WrongCall(
            arguments: ["migrate", "status", "--database-url", "hunter2"],
            environment: ["DATABASE_URL_FILE": "/dev/null"], named: "DATABASE_URL and DATABASE_URL_FILE"),
        WrongCall(environment: ["POI_EVENTS_DIR": "/nowhere"], named: "POI_EVENTS_DIR=/nowhere"),
        WrongCall(
            environment: ["POI_EVENTS_DATABASE_URL": "password=hunter2 garbage"],
            named: "POI_EVENTS_DATABASE_URL"),
        WrongCall(arguments: ["events"], named: "poi events maintain"),
        WrongCall(arguments: ["events", "forget"], named: "forget"),
        WrongCall(
            arguments: ["events", "maintain"], environment: ["POI_EVENTS_RETENTION": "13"],
            named: "POI_EVENTS_RETENTION=13"),
        WrongCall(arguments: ["events", "export"], named: "--since"),
        WrongCall(arguments: ["events", "export", "--since", "yesterday"], named: "--since=yesterday"),
        WrongCall(arguments: ["events", "export", "--since", "2026-02-30"], named: "--since=2026-02-30"),
        WrongCall(
            arguments: ["events", "export", "--since", "2026-11-02", "--until", "2026-11-01"],
            named: "--until"),
        WrongCall(
            arguments: ["events", "export", "--since", "2026-11-01", "--format", "xml"], named: "--format=xml"
        ),
        WrongCall(
            arguments: ["events", "export", "--since", "2026-11-01", "--colour", "red"], named: "--colour"),
        WrongCall(arguments: ["datasets", "exprot", "a"], named: "did you mean poi datasets export?"),
        WrongCall(arguments: ["datasets", "fly"], named: "see poi datasets --help"),
        WrongCall(arguments: ["datasets", "export"], named: "expected the name of a dataset"),
        WrongCall(arguments: ["datasets", "remove"], named: "expected the name of a dataset"),
        WrongCall(arguments: ["datasets", "list", "a"], named: "unexpected a"),
        WrongCall(arguments: ["datasets", "remove", "a", "b"], named: "unexpected b"),
        WrongCall(arguments: ["datasets", "export", "a", "--format", "xml"], named: "--format=xml"),
        WrongCall(arguments: ["refresh"], named: "expected poi refresh DATASET"),
        WrongCall(arguments: ["refresh", "a", "--explain"], named: "poi refresh takes no --explain"),
        WrongCall(arguments: ["refresh", "a", "--max-time", "2d"], named: "--max-time=2d"),
        WrongCall(arguments: ["refresh", "a", "--stall-time", "0.5s"], named: "--stall-time=0.5s"),
        WrongCall(arguments: ["refresh", "a", "--max-size", "4GB"], named: "--max-size=4GB"),
        WrongCall(
            arguments: ["refresh", "a"], environment: ["POI_SOURCE": "ftp://hunter2@a.example/"],
            named: "POI_SOURCE=(redacted)"),
        WrongCall(arguments: ["doctor", "--servers=0"], named: "--servers"),
        WrongCall(arguments: ["doctor", "--servers=10001"], named: "--servers"),
        WrongCall(arguments: ["reindex", "now"], named: "now"),
        WrongCall(arguments: ["index"], named: "poi index forget"),
        WrongCall(arguments: ["import", "a.csv", "--clear", "address,"], named: "--clear=address,"),
        WrongCall(arguments: ["import", "a.csv", "--clear", "phone"], named: "properties.NAME"),
        WrongCall(arguments: ["index", "forget"], named: "POI_INDEX_DIR"),
        WrongCall(arguments: ["reindex", "--colour"], named: "--colour"),
    ]
}

@Suite("The command line", .timeLimit(.minutes(2)))
struct CommandLineTests {
    @Test("A wrong call is one line on standard error and exit code 64", arguments: WrongCall.all)
    func wrongCall(call: WrongCall) async throws {
        let result = try await PoiProgram.run(call.arguments, environment: call.environment)
        #expect(result.exitCode == 64)
        #expect(result.standardOutput == [])
        #expect(result.standardError.count == 1)
        let line = try #require(result.standardError.first)
        #expect(line.hasPrefix("poi: "))
        #expect(line.contains(call.named))
        #expect(!line.contains("hunter2"))
    }

    @Test("The settings in effect are shown with their origins, and no secret among them")
    func printConfig() async throws {
        let result = try await PoiProgram.run(
            ["serve", "--print-config", "--port=9000"],
            environment: ["DATABASE_URL": "postgresql://u:hunter2@h/db", "POI_LOOPS": "3"])
        #expect(result.exitCode == 0)
        #expect(result.standardError == [])
        #expect(result.standardOutput.contains("PORT=9000  # flag"))
        #expect(result.standardOutput.contains("POI_LOOPS=3  # environment"))
        #expect(result.standardOutput.contains("HOST=127.0.0.1  # default"))
        #expect(result.standardOutput.contains("DATABASE_URL=(redacted)  # environment"))
        #expect(!result.standardOutput.joined().contains("hunter2"))
    }

    @Test("Every secret may be in a file, which no other user can see, and the help names its option")
    func secretFiles() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "poi-\(UUID())")
        try Data("hunter2hunter2hunter2hunter2hunter2\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let shown = try await PoiProgram.run(["serve", "--print-config"], environment: [:]).standardOutput
        let files = shown.compactMap { $0.wholeMatch(of: /([A-Z_]+)_FILE=  # default/).map { String($0.1) } }
        // That file has hashes, and is a setting without another one.
        let names = files.filter { $0 != "POI_EDITORS" }
        #expect(names.count == 7)
        let help = try await PoiProgram.run(["--help"]).standardOutput.joined()
        for name in names {
            let own = name.hasPrefix("POI_") ? name.dropFirst(4) : name[...]
            let option = "--\(own.lowercased().replacing("_", with: "-"))-file"
            let result = try await PoiProgram.run(
                ["serve", "--print-config", "\(option)=\(file.path)"], environment: [:])
            // A URL of the database has no form; libpq refuses this text.
            #expect(result.exitCode == (name.hasSuffix("DATABASE_URL") ? 64 : 0), "\(name)")
            let text = (result.standardOutput + result.standardError).joined(separator: "\n")
            #expect(text.contains(result.exitCode == 0 ? "\(name)_FILE=\(file.path)  # flag" : name))
            #expect(!text.contains("hunter2"))
            #expect(help.contains("\(option) FILE"))
        }
    }

    @Test("The defaults on the page of settings are those in effect where nothing is set")
    func documentedDefaults() async throws {
        let page = PoiProgram.package.appending(path: "Documentation/settings.md")
        let rows = try String(contentsOf: page, encoding: .utf8).matches(
            of: /(?m)^\| (`[A-Z][^|]*`) \| ([^|]*)\|/
        ).map {
            (names: $0.1, defaults: $0.2)
        }
        let result = try await PoiProgram.run(["serve", "--print-config"], environment: [:])
        let settings = result.standardOutput.compactMap { $0.wholeMatch(of: /([A-Z_]+)=(.+)  # default/) }
        #expect(settings.count > 20)
        // By default as many as the machine has processors.
        for setting in settings where setting.1 != "POI_LOOPS" {
            let row = try #require(rows.first { $0.names.contains("`\(setting.1)`") }, "\(setting.1)")
            #expect(row.defaults.contains(setting.2), "\(setting.1)")
        }
    }

    @Test(
        "Help goes to standard output, exit code 0",
        arguments: [["--help"], ["serve", "--help"], ["--help", "swim"]])
    func help(arguments: [String]) async throws {
        let result = try await PoiProgram.run(arguments)
        #expect(result.exitCode == 0)
        #expect(result.standardError == [])
        let text = result.standardOutput.joined(separator: "\n")
        for command in ["poi serve", "poi dev", "poi migrate"] { #expect(text.contains(command)) }
    }

    @Test(
        "A command with options of its own has help of its own",
        arguments: [
            "import": "poi import FILE… --explain", "doctor": "poi doctor [--servers N]",
            "datasets": "poi datasets [list]", "refresh": "poi refresh DATASET --source-file FILE [OPTION…]",
        ])
    func ownHelp(command: String, line: String) async throws {
        let result = try await PoiProgram.run([command, "--help"], environment: [:])
        #expect(result.exitCode == 0 && result.standardError == [])
        #expect(result.standardOutput.first == line)
    }

    @Test(
        "A file of refusals that is wrong is one line which names its line, and exit code 64, without a database"
    )
    func wrongRefusals() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path + "/refused.jsonl"
        for (text, named) in [
            (
                #"{"import":{"dataset":"bars"}}"#,
                "line 1: it is of the dataset bars, and the import is of cafes"
            ),
            (#"{"import":{"dataset":"cafes"}}"# + "\n{", "line 2: there should be a member's name at byte 1"),
        ] {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            let result = try await PoiProgram.run(
                ["import", "a.csv", "--dataset", "cafes", "--except", path],
                environment: ["DATABASE_URL": "postgresql://127.0.0.1:1/none"])
            #expect(result.exitCode == 64 && result.standardOutput == [])
            #expect(result.standardError == ["poi: --except: \(path), \(named)"])
        }
    }

    @Test("An address that can't be had is one line with the setting that is wrong, and exit code 1")
    func addressInUse() async throws {
        let server = try await ServerProcess.serve(databaseURL: ServiceDatabase.migrated().connectionString)
        let adminPort = try await server.adminPort()
        for (arguments, named) in [
            (["--port", "\(server.port)", "--loops", "1"], "\(server.port)"),
            (["--port", "\(server.port)", "--loops", "2"], "\(server.port)"),
            (["--port", "0", "--admin-port", "\(adminPort)"], "127.0.0.1:\(adminPort) (POI_ADMIN_PORT)"),
            (
                ["--port", "0", "--admin-host", "127.0.0.1:9464"],
                "can't listen on 127.0.0.1:9464 (POI_ADMIN_HOST): "
            ),
            (["--host", "no-such-host.invalid"], "can't listen on no-such-host.invalid (HOST): "),
            (["--host", "unix:/nowhere/poi.sock"], "can't listen on unix:/nowhere/poi.sock (HOST): "),
        ] {
            let second = try await PoiProgram.run(
                ["serve"] + arguments, environment: ["DATABASE_URL": server.databaseURL])
            #expect(second.exitCode == 1 && second.standardOutput == [])
            #expect(second.standardError.count == 1)
            let line = try #require(second.standardError.first)
            #expect(line.hasPrefix("poi: ") && line.contains(named), "\(line)")
        }
        try await server.ready()
        try await server.finish()
    }

    @Test("A database that isn't there doesn't keep the service from serving, nor make it ready")
    func noDatabase() async throws {
        let server = try await ServerProcess.serve(databaseURL: "postgresql://u:hunter2@127.0.0.1:1/db")
        try await server.event("database-unreachable")
        #expect(try await get("/livez", port: server.port).status == 200)
        #expect(try await get("/readyz", port: server.port).problem?.code == .notReady)
        let response = try await get(secretTarget, port: server.port)
        #expect(response.status == 503)
        #expect(response.problem?.code == .notReady)
        #expect(response.headers["retry-after"] != nil)
        try await server.finish()
        #expect(!server.program.output.text.contains("hunter2"))
    }
}
