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

    @Test(
        "A value that libpq refuses when it connects is refused at once, by its keyword",
        arguments: [
            ("postgresql://u:hunter2@h/db?sslmode=hunter2", "sslmode"), ("sslmode=verify", "sslmode"),
            ("channel_binding=hunter2", "channel_binding"), ("gssencmode=hunter2", "gssencmode"),
            ("host=a,b target_session_attrs=primary-only", "target_session_attrs"),
            ("ssl_min_protocol_version=1.3", "ssl_min_protocol_version"),
            ("connect_timeout=soon", "connect_timeout"),
            ("keepalives_idle=1s", "keepalives_idle"), ("host=a,b,c port=1,2", "port"),
            ("host=a,b hostaddr=127.0.0.1", "hostaddr"), ("service=hunter2", "service"),
        ])
    func refusedValue(conninfo: String, keyword: String) throws {
        let error = try #require(throws: PostgresError.self) {
            _ = try PostgresConfiguration(conninfo: conninfo)
        }
        #expect(error.code == .invalidConfiguration)
        #expect(error.clientMessage == "libpq doesn't take its \(keyword)")
    }

    @Test(
        "What libpq takes is taken, whether or not a server is there",
        arguments: [
            "postgresql://u:p@h1:1,h2:2/db?sslmode=verify-full&sslrootcert=/none&target_session_attrs=prefer-standby",
            "host=h sslmode=require channel_binding=require connect_timeout=2 keepalives_idle=30",
            "host=a,b hostaddr=127.0.0.1,::1 port=5432", "host=/var/run/postgresql", "dbname=x", "port=1",
            "hostaddr=127.0.0.1,127.0.0.2 port=1,2", "postgresql:///db?host=/tmp/x&port=6432",
        ])
    func takenValues(conninfo: String) throws {
        _ = try PostgresConfiguration(conninfo: conninfo)
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
}
