import Testing

@testable import Postgres

@Suite("The configuration")
struct PostgresConfigurationTests {
    private func parameters(
        _ conninfo: String?, _ change: (inout PostgresConfiguration) -> Void = { _ in }
    ) throws -> [String: String] {
        var configuration = try PostgresConfiguration(conninfo: conninfo)
        change(&configuration)
        // Where a keyword comes twice, libpq takes the later one.
        return Dictionary(
            try configuration.connectionParameters().map { ($0.keyword, $0.value) }, uniquingKeysWith: { $1 })
    }

    @Test("The conninfo goes to libpq as it is")
    func conninfo() throws {
        let uri = "postgresql://u@h1,h2/db?target_session_attrs=any"
        #expect(try parameters(uri)["dbname"] == uri)
        #expect(try parameters(nil)["dbname"] == nil)
        #expect(try parameters("")["dbname"] == nil)
    }

    @Test(
        "A conninfo that libpq can't parse is refused, without quoting it",
        arguments: [
            "hunter2 secret", "postgresql://u:hunter2@[::1/db", "host=a\0password=hunter2",
            "postgresql://u:hunter2@host:port/db", "port=1,65536",
        ])
    func invalid(conninfo: String) throws {
        let error = try #require(throws: PostgresError.self) {
            _ = try PostgresConfiguration(conninfo: conninfo)
        }
        #expect(error.code == .invalidConfiguration)
        #expect(!"\(error) \(error.serverMessage ?? "")".contains("hunter2"))
    }

    @Test("Neither a configuration's description nor its dump shows the password")
    func secrets() throws {
        let configuration = try PostgresConfiguration(conninfo: "postgresql://u:hunter2@h/db")
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!"\(configuration) \(String(reflecting: configuration)) \(dumped)".contains("hunter2"))
        #expect("\(configuration)".contains("host=h"))
    }

    @Test("A connect timeout in the conninfo is kept")
    func connectTimeout() throws {
        #expect(try parameters("host=h")["connect_timeout"] == "5")
        #expect(try parameters("host=h connect_timeout=9")["connect_timeout"] == nil)
    }

    @Test("Settings become start-up options before the user's own, and can be left out")
    func settings() throws {
        let options = try parameters("host=h options='-c jit=on'")["options"]
        #expect(
            options == "-c jit=off -c max_parallel_workers_per_gather=0 -c statement_timeout=2000ms -c jit=on"
        )
    }

    @Test("A setting's value cannot smuggle in another setting")
    func escaping() throws {
        let options = try parameters("host=h") {
            $0.settings = [.init("search_path", "a b\\ -c jit=on")]
            $0.statementTimeout = nil
        }["options"]
        #expect(options == "-c search_path=a\\ b\\\\\\ -c\\ jit=on")
        #expect(throws: PostgresError.self) {
            try parameters("host=h") { $0.settings = [.init("jit=on -c x", "1")] }
        }
    }

    @Test(
        "A statement timeout is at least a millisecond, as 0 means none, and at most what the server can count",
        arguments: [
            (Duration.zero, "1ms"), (.microseconds(1500), "2ms"), (.seconds(-5), "1ms"),
            (.seconds(Int64.max), "2147483647ms"),
        ])
    func statementTimeout(timeout: Duration, text: String) throws {
        let options = try parameters("host=h") {
            $0.settings = []
            $0.statementTimeout = timeout
        }["options"]
        #expect(options == "-c statement_timeout=\(text)")
    }

    @Test(
        "The servers of a connection string are its hosts, addresses and ports side by side",
        arguments: [
            ("postgresql://u@a:1,b:2/db", ["a:1", "b:2"]),
            ("host=a,b port=7", ["a:7", "b:7"]),
            ("host=/run/x,::1", ["/run/x", "[::1]"]),
            ("hostaddr=127.0.0.1,::1 port=1,2", ["127.0.0.1:1", "[::1]:2"]),
            ("host=a,,c port=1,2,3", ["a:1", "the default host:2", "c:3"]),
            ("dbname=db", []),
        ])
    func endpoints(conninfo: String, expected: [String]) throws {
        let endpoints = try PostgresConfiguration(conninfo: conninfo).endpoints
        #expect(endpoints.map(\.description) == expected)
    }

    @Test("Narrowed to some of its servers, a configuration keeps everything else")
    func narrowing() throws {
        let uri =
            "postgresql://u@a:1,b,c:3/db?hostaddr=10.0.0.1,,10.0.0.3&target_session_attrs=prefer-standby"
        let configuration = try PostgresConfiguration(conninfo: uri)
        #expect(configuration.prefersStandbys)
        let endpoints = configuration.endpoints
        let narrowed = configuration.narrowed(to: [endpoints[2], endpoints[1]])
        let parameters = Dictionary(
            try narrowed.connectionParameters().map { ($0.keyword, $0.value) }, uniquingKeysWith: { $1 })
        #expect(parameters["dbname"] == uri)
        #expect(parameters["host"] == "c,b")
        #expect(parameters["hostaddr"] == "10.0.0.3,")
        #expect(parameters["port"] == "3,")
        for port in ["", "5432"] { #expect(endpoints[1].isReached(at: ("b", port))) }
        #expect(!endpoints[1].isReached(at: ("b", "5433")) && !endpoints[1].isReached(at: ("a", "5432")))
    }
}
