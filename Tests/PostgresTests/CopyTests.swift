import EventLoop
import Locking
import Postgres
import PrivateCluster
import Randomness
import Testing

@Suite("COPY", .timeLimit(.minutes(2)))
struct CopyTests {
    private static let database = Result { try TestDatabase() }

    @Test("Ten thousand rows arrive whole, by text cut anywhere and in binary")
    func manyRows() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("CopyTests seed: \(seed)")
        try await withConnection(Self.database.get()) { connection in
            _ = try await connection.query("CREATE TEMP TABLE copied (n int8, t text, d float8)")
            var generator = SeededGenerator(seed: seed)
            var text: [UInt8] = []
            var binary = BinaryCopyEncoder()
            var binaryChunks: [[UInt8]] = []
            for row in 0..<5000 {
                text += Array("\(row)\tgrün \(row)\t\\N\n".utf8)
                binary.append([
                    .int8(Int64(5000 + row)), .text("grün \(5000 + row)"),
                    row == 0 ? .null(.float8) : .float8(0.5),
                ])
                if row % 700 == 0 { binaryChunks.append(binary.takeBytes()) }
            }
            binaryChunks.append(binary.finish())
            var textChunks: [[UInt8]] = []
            while !text.isEmpty {
                let length = min(text.count, Int.random(in: 1..<5000, using: &generator))
                textChunks.append(Array(text.prefix(length)))
                text.removeFirst(length)
            }
            #expect(try await connection.copy("COPY copied FROM STDIN", from: stream(textChunks)) == 5000)
            #expect(
                try await connection.copy(
                    "COPY copied FROM STDIN (FORMAT binary)", from: stream(binaryChunks))
                    == 5000)
            let row = try await connection.query(
                """
                SELECT count(DISTINCT n), min(n), max(n), bool_and(t = 'grün ' || n), count(d) FROM copied
                """
            ).only()
            #expect(try (0..<3).map { try row.decode(Int.self, at: $0) } == [10_000, 0, 9999])
            #expect(try row.decode(Bool.self, at: 3))
            #expect(try row.decode(Int.self, at: 4) == 4999)
        }
    }

    @Test("A source of many megabytes is taken as fast as the server reads")
    func bigData() async throws {
        try await withConnection(Self.database.get(), { $0.statementTimeout = .seconds(60) }) { connection in
            _ = try await connection.query("CREATE TEMP TABLE big (t text)")
            let line = [UInt8](repeating: UInt8(ascii: "x"), count: 3 << 20) + [UInt8(ascii: "\n")]
            let chunks = [[UInt8]](repeating: line, count: 10)
            #expect(try await connection.copy("COPY big FROM STDIN", from: stream(chunks)) == 10)
            try await expectAnswer(connection)
        }
    }

    @Test("A row that the table refuses is a typed error, nothing is stored, and the connection goes on")
    func refusedRow() async throws {
        try await withConnection(Self.database.get()) { connection in
            _ = try await connection.query("CREATE TEMP TABLE checked (n int CHECK (n > 0))")
            let chunks = ["1\n2\n", "0\n", "3\n"].map { Array($0.utf8) }
            let error = await #expect(throws: PostgresError.self) {
                try await connection.copy("COPY checked FROM STDIN", from: stream(chunks))
            }
            #expect(
                error?.sqlState?.rawValue == "23514" && error?.server?.constraintName == "checked_n_check")
            #expect(try await connection.query("SELECT * FROM checked").isEmpty)
            for sql: SQL in ["COPY nowhere FROM STDIN", "SELECT 1", "", "COPY"] {
                #expect(await code { try await connection.copy(sql, from: stream([])) } != nil)
                try await expectAnswer(connection)
            }
        }
    }

    @Test("A source that fails stores nothing, and its error is the caller's")
    func failingSource() async throws {
        struct Broken: Error {}
        try await withConnection(Self.database.get()) { connection in
            _ = try await connection.query("CREATE TEMP TABLE partial (n int)")
            let source = AsyncThrowingStream<[UInt8], any Error> { continuation in
                continuation.yield(Array("1\n".utf8))
                continuation.finish(throwing: Broken())
            }
            await #expect(throws: Broken.self) {
                try await connection.copy("COPY partial FROM STDIN", from: source)
            }
            #expect(try await connection.query("SELECT * FROM partial").isEmpty)
        }
    }

    /// What a source of data does after the connection has ended.
    enum Continuation: CaseIterable {
        case chunk, end, failure
    }

    @Test(
        "A connection that is closed while the source makes its next data fails the COPY, whatever comes next",
        arguments: Continuation.allCases)
    func closedMeanwhile(next: Continuation) async throws {
        struct Broken: Error {}
        try await withConnection(Self.database.get()) { connection in
            _ = try await connection.query("CREATE TEMP TABLE ended (n int)")
            let source = MadeChunks { turn in
                guard turn > 1 else { return Array("1\n".utf8) }
                // When this returns, libpq's memory is freed.
                await connection.close()
                switch next {
                case .chunk: return turn == 2 ? Array("2\n".utf8) : nil
                case .end: return nil
                case .failure: throw Broken()
                }
            }
            let error = await #expect(throws: (any Error).self) {
                try await connection.copy("COPY ended FROM STDIN", from: source)
            }
            #expect(next == .failure ? error is Broken : (error as? PostgresError)?.code == .closed)
        }
    }

    private func stream(_ chunks: [[UInt8]]) -> AsyncStream<[UInt8]> {
        AsyncStream { continuation in
            for chunk in chunks { continuation.yield(chunk) }
            continuation.finish()
        }
    }
}

/// A source of data that a function makes, by how often it is asked.
private struct MadeChunks: AsyncSequence, AsyncIteratorProtocol {
    let make: (Int) async throws -> [UInt8]?
    private var turn = 0

    init(_ make: @escaping (Int) async throws -> [UInt8]?) {
        self.make = make
    }

    mutating func next() async throws -> [UInt8]? {
        turn += 1
        return try await make(turn)
    }

    func makeAsyncIterator() -> Self { self }
}

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

    @Test("A COPY that waits for its next row fails when the connection is closed")
    func closed() async throws {
        let database = try Self.database.get()
        try await withConnection(database, { $0.statementTimeout = nil }) { connection in
            try await withBlocker(database, connection.loop, lock: 1) { _ in
                let other = LoopBound(connection, loop: connection.loop)
                let rowCount = Lock(0)
                let failure = Lock<PostgresError.Code?>(nil)
                // The server sends 8 KiB at a time, so that the second row makes it send the first.
                _ = Task(executorPreference: connection.loop) {
                    let code = await code {
                        try await other.value.copy(
                            """
                            COPY (SELECT repeat('a', 6000) FROM generate_series(1, 2)
                                UNION ALL SELECT pg_advisory_lock(1)::text) TO STDOUT
                            """
                        ) { _ in rowCount.withLock { $0 += 1 } }
                    }
                    failure.withLock { $0 = code }
                }
                try await waitUntil { rowCount.withLock { $0 > 0 } || failure.withLock { $0 != nil } }
                #expect(rowCount.withLock { $0 } == 1)
                await connection.close()
                try await waitUntil { failure.withLock { $0 != nil } }
                #expect(failure.withLock { $0 } == .closed)
            }
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
