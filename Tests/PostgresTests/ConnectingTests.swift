import EventLoop
import Loopback
import Postgres
import Testing

@Suite("Connecting", .timeLimit(.minutes(1)))
struct ConnectingTests {
    @Test("Connecting to a host that accepts and never responds fails at the connect timeout")
    func silentHost() async throws {
        let listener = try SilentListener()
        let conninfo = "host=127.0.0.1 port=\(listener.port) user=u dbname=d connect_timeout=2"
        try await onLoop { loop in
            let configuration = try PostgresConfiguration(conninfo: conninfo)
            let error = await #expect(throws: PostgresError.self) {
                _ = try await PostgresConnection.connect(configuration, loop: loop)
            }
            #expect(error?.connectFailure == .timeout)
        }
    }

    @Test("The loop turns while a host doesn't answer")
    func loopTurns() async throws {
        let listener = try SilentListener()
        let conninfo = "host=127.0.0.1 port=\(listener.port) user=u dbname=d connect_timeout=3600"
        try await onLoop { loop in
            let configuration = try PostgresConfiguration(conninfo: conninfo)
            let task = Task(executorPreference: loop) {
                await code { try await PostgresConnection.connect(configuration, loop: loop) }
            }
            #expect(try await loop.submit { 7 } == 7)
            listener.resetConnections()
            #expect(await task.value == .connectionFailed)
        }
    }

    @Test("Connecting without a server is a typed error, whose description leaves out libpq's message")
    func nobody() async throws {
        try await onLoop { loop in
            let configuration = try PostgresConfiguration(conninfo: "host=/nonexistent user=hunter2")
            let error = await #expect(throws: PostgresError.self) {
                _ = try await PostgresConnection.connect(configuration, loop: loop)
            }
            #expect(error?.code == .connectionFailed)
            #expect(error?.serverMessage?.contains("/nonexistent") == true)
            #expect(error.map { "\($0)" } == "PostgreSQL: connectionFailed")
        }
    }
}
