import EventLoop
import Postgres
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite("Connecting", .timeLimit(.minutes(1)))
struct ConnectingTests {
    @Test("A host that accepts and never answers fails at the connect time-out, and the loop turns meanwhile")
    func silentHost() async throws {
        let listener = try SilentListener()
        let conninfo = "host=127.0.0.1 port=\(listener.port) user=u dbname=d connect_timeout=2"
        try await onLoop { loop in
            let configuration = try PostgresConfiguration(conninfo: conninfo)
            let clock = ContinuousClock()
            let start = clock.now
            let task = Task(executorPreference: loop) {
                await code { try await PostgresConnection.connect(configuration, loop: loop) }
            }
            #expect(try await loop.submit { 7 } == 7)
            #expect(clock.now - start < .seconds(1))
            #expect(await task.value == .connectionFailed)
            #expect(clock.now - start < .seconds(10))
        }
    }

    @Test("Nobody there is a typed error, whose description does not say what libpq does")
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

/// Listens on a free port of 127.0.0.1 and never accepts.
private final class SilentListener: Sendable {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        #if canImport(Darwin)
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) | listen(descriptor, 8)
                    | getsockname(descriptor, pointer, &length)
            }
        }
        try #require(descriptor >= 0 && status == 0)
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit {
        close(descriptor)
    }
}
