import EventLoop
import Foundation
import Locking
import Loopback
import Postgres
import PrivateCluster
import Testing

@Suite("A database that goes and comes back", .timeLimit(.minutes(3)), .serialized)
struct RecoveryTests {
    private static let statement = PreparedStatement("SELECT $1", parameters: [.int8])

    /// What the askers have seen.
    private struct Tally {
        var answers = 0
        var failures: [PostgresError.Code: Int] = [:]
        var wrongAnswers = 0
        var isOver = false
    }

    @Test("A server that stops and starts again is in use again within two seconds, with other errors typed")
    func restart() async throws {
        let cluster = PrivateCluster(ephemeralWith: [:])
        try cluster.start()
        defer { cluster.stop() }
        try await withPool(cluster.connectionString(), { $0.acquireTimeout = .milliseconds(300) }) { pool in
            let tally = try await underLoad(pool) { tally in
                for mode in [PrivateCluster.ShutdownMode.fast, .immediate] {
                    try await progress(tally)
                    try cluster.stopServer(mode)
                    // Long enough that the back-off has reached its longest step.
                    let failures = tally.withLock { $0.failures[.unavailable] ?? 0 }
                    try await waitUntil {
                        tally.withLock { ($0.failures[.unavailable] ?? 0) >= failures + 100 }
                    }
                    try cluster.startServer()
                    let clock = ContinuousClock()
                    let start = clock.now
                    try await progress(tally)
                    #expect(clock.now - start < .seconds(2))
                }
            }
            #expect(tally.wrongAnswers == 0)
            #expect(
                Set(tally.failures.keys).isSubset(of: [.connectionLost, .unavailable, .busy]),
                "\(tally.failures)")
        }
    }

    /// Runs 20 askers on the pool while `body` runs beside the loop.
    private func underLoad(
        _ pool: ConnectionPool, _ body: @escaping @Sendable (Lock<Tally>) async throws -> Void
    ) async throws -> Tally {
        let bound = LoopBound(pool, loop: pool.loop)
        let tally = Lock(Tally())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for asker in 0..<20 {
                group.addTask(executorPreference: bound.loop) {
                    var value = Int64(asker) << 32
                    while !tally.withLock({ $0.isOver }) {
                        value += 1
                        await ask(bound.value, value, tally)
                    }
                }
            }
            defer { tally.withLock { $0.isOver = true } }
            // Not on the loop: the cluster's functions block.
            try await Task.detached { try await body(tally) }.value
        }
        return tally.withLock { $0 }
    }

    private func ask(_ pool: ConnectionPool, _ value: Int64, _ tally: Lock<Tally>) async {
        do throws(PostgresError) {
            let rows = try await pool.query(Self.statement, [.int8(value)])
            let answer = try rows.only().decode(Int64.self, at: 0)
            tally.withLock { $0.answers += 1 }
            if answer != value { tally.withLock { $0.wrongAnswers += 1 } }
        } catch {
            tally.withLock { $0.failures[error.code, default: 0] += 1 }
            // A pool without connections refuses at once, and the loop has to turn.
            await pool.loop.sleep(for: .milliseconds(300))
        }
    }

    /// Waits for another 200 answers.
    private func progress(_ tally: Lock<Tally>) async throws {
        let goal = tally.withLock { $0.answers } + 200
        try await waitUntil { tally.withLock { $0.answers >= goal } }
    }
}

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
