import CLibPQ

extension PostgresConnection {
    /// Runs `body` in a transaction: committed if it returns, rolled back if it throws.
    ///
    /// Transactions don't nest. A commit of a transaction in which a statement has failed is an error
    /// (``PostgresError/Code/transactionRolledBack``), though the server calls it a success.
    public func withTransaction<Value>(
        _ body: (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        _ = try await query(PostgresQuery("BEGIN"))
        isInTransaction = true
        defer { isInTransaction = false }
        do {
            let value = try await body(self)
            let answer = try await query(PostgresQuery("COMMIT"))
            guard answer.commandTag == "COMMIT" else { throw PostgresError(.transactionRolledBack) }
            return value
        } catch {
            // Also in a cancelled task, and where the transaction has ended already: then it is a warning.
            await rollBack()
            throw error
        }
    }

    private func rollBack() async {
        await runOrEnd("ROLLBACK")
    }

    /// Runs what must not be left out; if it fails, nobody knows the session's state, and it ends.
    func runOrEnd(_ sql: SQL) async {
        guard isOpen else { return }
        do {
            _ = try await runShielded(sql)
        } catch {
            end(error)
        }
    }
}
