import EventLoop
import Postgres
import PrivateCluster
import Testing

@Suite("Queries of one turn that only read", .timeLimit(.minutes(2)))
struct SharedSyncTests {
    private static let database = Result { try TestDatabase() }
    private static let quotient = PreparedStatement("SELECT 720720 / $1", parameters: [.int8])
    private static let transactionTime = PreparedStatement("SELECT now()")

    @Test("Queries of one turn that only read share a transaction")
    func shareTransaction() async throws {
        try await withPool(Self.database.get().connectionString, { $0.fastConnections = 1 }) { pool in
            // The first use prepares the statement, in a group of its own.
            _ = try await pool.query(Self.transactionTime, isIdempotent: true)
            let shared = try await times(pool, count: 8, isIdempotent: true)
            #expect(Set(shared).count == 1)
            let own = try await times(pool, count: 8, isIdempotent: false)
            #expect(Set(own).count == 8)
        }
    }

    @Test("Each query gets its own result, however many of the others fail")
    func failuresAmongOthers() async throws {
        try await withPool(Self.database.get().connectionString) { pool in
            let bound = LoopBound(pool, loop: pool.loop)
            let wrong = await withTaskGroup(of: Int.self) { group in
                for task in 0..<50 {
                    group.addTask(executorPreference: bound.loop) {
                        var wrong = 0
                        for index in 0..<100 {
                            let divisor = (task + index) % 4 == 0 ? 0 : 1 + index % 15
                            let result = await Self.quotient(bound.value, divisor)
                            if result
                                != (divisor == 0 ? .failure(.divisionByZero) : .success(720720 / divisor))
                            {
                                wrong += 1
                            }
                        }
                        return wrong
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(wrong == 0)
            #expect(pool.statistics.fast.inFlight == 0 && pool.statistics.fast.waiting == 0)
        }
    }

    private enum Failure: Error {
        case divisionByZero, other
    }

    private static func quotient(_ pool: ConnectionPool, _ divisor: Int) async -> Result<Int, Failure> {
        do throws(PostgresError) {
            let rows = try await pool.query(quotient, [.int8(Int64(divisor))], isIdempotent: true)
            return .success(try rows.only().decode(at: 0))
        } catch {
            return .failure(error.sqlState?.rawValue == "22012" ? .divisionByZero : .other)
        }
    }

    /// The transactions' times of queries that are sent in one turn.
    private func times(
        _ pool: ConnectionPool, count: Int, isIdempotent: Bool
    ) async throws -> [PostgresTimestamp] {
        let bound = LoopBound(pool, loop: pool.loop)
        return try await withThrowingTaskGroup(of: PostgresTimestamp.self) { group in
            for _ in 0..<count {
                group.addTask(executorPreference: bound.loop) {
                    try await bound.value.query(Self.transactionTime, isIdempotent: isIdempotent)
                        .only().decode(at: 0)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
