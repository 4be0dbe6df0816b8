import EventLoop
import Postgres
import PrivateCluster
import Testing

@Suite("COPY TO STDOUT", .timeLimit(.minutes(2)))
struct CopyOutTests {
    private static let database = Result { try TestDatabase() }

    private struct Refusal: Error {}

    @Test("A hundred thousand rows arrive whole and in order, and the connection works afterwards")
    func manyRows() async throws {
        try await withConnection(Self.database.get()) { connection in
            var count = 0
            var wrong = 0
            let answered = try await connection.copy(
                "COPY (SELECT n, 'grün ' || n FROM generate_series(1, 100000) AS n) TO STDOUT"
            ) { row in
                count += 1
                if String(decoding: row, as: UTF8.self) != "\(count)\tgrün \(count)\n" { wrong += 1 }
            }
            #expect((answered, count, wrong) == (100_000, 100_000, 0))
            try await expectAnswer(connection)
        }
    }

    @Test("A row that fails ends the COPY with the server's error, after the rows before it")
    func failure() async throws {
        try await withConnection(Self.database.get()) { connection in
            var count = 0
            let error = await #expect(throws: PostgresError.self) {
                try await connection.copy(
                    "COPY (SELECT 1 / (5000 - n) FROM generate_series(1, 9000) AS n) TO STDOUT"
                ) { _ in count += 1 }
            }
            #expect(error?.sqlState?.rawValue == "22012")
            #expect(count <= 4999)
            try await expectAnswer(connection)
        }
    }

    @Test("A receiver that fails ends the connection, and its error comes through")
    func refusal() async throws {
        try await withConnection(Self.database.get()) { connection in
            await #expect(throws: Refusal.self) {
                try await connection.copy("COPY (SELECT generate_series(1, 100000)) TO STDOUT") { _ in
                    throw Refusal()
                }
            }
            #expect(!connection.isOpen)
        }
    }

    @Test("A statement that isn't COPY TO STDOUT is refused")
    func otherCommand() async throws {
        try await withConnection(Self.database.get()) { connection in
            let error = await #expect(throws: PostgresError.self) {
                try await connection.copy("SELECT 1") { _ in }
            }
            #expect(error?.code == .unexpectedResult)
            try await expectAnswer(connection)
        }
    }
}
