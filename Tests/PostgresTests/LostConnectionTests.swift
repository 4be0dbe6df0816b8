import EventLoop
import Foundation
import Loopback
import Postgres
import Testing

@Suite("A connection that is reset", .timeLimit(.minutes(1)))
struct LostConnectionTests {
    /// A server that lets one client in, reads what it asks, responds with these bytes and resets the connection.
    private static func resetting(
        after response: [UInt8]
    ) throws -> (port: Int, isOver: Task<Void, any Error>) {
        let listener = try SilentListener()
        let isOver = Task.detached {
            try await offPool {
                let peer = listener.accept()
                defer { close(peer) }
                var bytes = [UInt8](repeating: 0, count: 4096)
                _ = read(peer, &bytes, bytes.count)
                // AuthenticationOk, BackendKeyData, ReadyForQuery (PostgreSQL manual, "Message Formats").
                let welcome: [UInt8] =
                    message("R", [0, 0, 0, 0]) + message("K", [0, 0, 0, 7, 0, 0, 0, 8])
                    + message("Z", Array("I".utf8))
                _ = write(peer, welcome, welcome.count)
                _ = read(peer, &bytes, bytes.count)
                _ = write(peer, response, response.count)
                var linger = linger(l_onoff: 1, l_linger: 0)
                let size = socklen_t(MemoryLayout.size(ofValue: linger))
                setsockopt(peer, SOL_SOCKET, SO_LINGER, &linger, size)
            }
        }
        return (listener.port, isOver)
    }

    private static func message(_ type: String, _ content: [UInt8]) -> [UInt8] {
        Array(type.utf8) + withUnsafeBytes(of: UInt32(content.count + 4).bigEndian) { Array($0) } + content
    }

    /// The error of a query that such a server gets.
    private static func error(after response: [UInt8]) async throws -> PostgresError? {
        let (port, isOver) = try resetting(after: response)
        // No deadline: on a busy machine, the server's thread may begin late.
        let conninfo =
            "host=127.0.0.1 port=\(port) user=u dbname=d sslmode=disable gssencmode=disable connect_timeout=0"
        let error = try await onLoop { loop -> PostgresError? in
            var configuration = try PostgresConfiguration(conninfo: conninfo)
            configuration.preparedStatements = .off
            let connection = try await PostgresConnection.connect(configuration, loop: loop)
            let error = await #expect(throws: PostgresError.self) { try await connection.query("SELECT 1") }
            await connection.close()
            return error
        }
        try await isOver.value
        return error
    }

    @Test(
        "The queries of a connection that is reset fail with the message of libpq",
        arguments: [[], Array("E\0".utf8)])
    func reset(response: [UInt8]) async throws {
        let error = try await Self.error(after: response)
        #expect(error?.code == .connectionLost)
        #expect(error?.serverMessage?.hasPrefix("server closed the connection unexpectedly") == true)
    }

    @Test("The queries fail with the error that the server sent before the reset")
    func lastWords() async throws {
        let fields = ["SFATAL", "VFATAL", "C57P01", "Mterminating connection", ""]
        let response = Self.message("E", fields.flatMap { Array($0.utf8) + [0] })
        let error = try await Self.error(after: response)
        #expect(error?.code == .connectionLost)
        #expect(error?.sqlState?.rawValue == "57P01")
    }
}
