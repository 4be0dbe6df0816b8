import EventLoop

extension PostgresConnection {
    /// Runs `body` in a transaction: committed if it returns, rolled back if it throws.
    ///
    /// Transactions don't nest. A commit of a transaction in which a statement has failed is an error
    /// (``PostgresError/Code/transactionRolledBack``), though the server calls it a success.
    ///
    /// - Throws: what `body` throws; ``PostgresError`` where the transaction can't begin or be committed.
    package func withTransaction<Value>(
        _ body: (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        _ = try await query(PostgresQuery("BEGIN"))
        isInTransaction = true
        defer { isInTransaction = false }
        do {
            let value = try await body(self)
            try await commit()
            return value
        } catch {
            // Also in a cancelled task, and where the transaction has ended already, which is only a warning.
            await runOrEnd("ROLLBACK")
            throw error
        }
    }

    /// Commits. Where the task is cancelled meanwhile, the server is asked to cancel that, and its answer counts: a commit
    /// that waited for a lock is rolled back then, and one that waited for a standby is done.
    private func commit() async throws(PostgresError) {
        guard !Task.isCancelled else { throw PostgresError(.cancelled) }
        let query = PendingQuery(.unnamed("COMMIT"), [], timeout: nil)
        query.connection = self
        let bound = LoopBound((self, query), loop: loop)
        let outcome = await withTaskCancellationHandler {
            await query.outcome { submit(query) }
        } onCancel: {
            bound.loop.execute {
                let (connection, query) = bound.value
                if query.isWaitedFor { connection.sendCancelRequest() }
            }
        }
        guard try outcome.get().commandTag == "COMMIT" else { throw PostgresError(.transactionRolledBack) }
    }

    /// Runs a statement that must not be left out, and closes the connection if it fails, since the session's state is
    /// unknown then.
    func runOrEnd(_ sql: SQL) async {
        guard isOpen else { return }
        do {
            _ = try await runShielded(sql)
        } catch {
            end(error)
        }
    }
}

// MARK: - Locks of tables

/// A lock that one transaction at a time has, until it ends: `SHARE UPDATE EXCLUSIVE` of a table (PostgreSQL manual,
/// "Explicit Locking").
///
/// Neither readers nor writers of the table wait for it, only who vacuums or alters the table. Only a role that may change or
/// remove the table's rows gets it, while every role may take advisory locks, and hold up who waits for them.
extension PostgresConnection {
    /// Takes the lock if nobody has it, and returns whether that is so. In a transaction.
    package func tryLock(_ table: SQL) async throws(PostgresError) -> Bool {
        _ = try await query("SAVEPOINT before_lock")
        do throws(PostgresError) {
            _ = try await query(PostgresQuery(Self.lock(table) + " NOWAIT"))
            return true
        } catch {
            guard error.sqlState == .lockNotAvailable else { throw error }
            _ = try await query("ROLLBACK TO SAVEPOINT before_lock")
            return false
        }
    }

    /// Waits for the lock, for as long as `lock_timeout` and `statement_timeout` allow. In a transaction.
    ///
    /// The session has no snapshot while it waits, unless the transaction has one already: so whoever has the lock may run
    /// `CREATE INDEX CONCURRENTLY`, which waits for snapshots.
    package func lock(_ table: SQL) async throws(PostgresError) {
        _ = try await query(PostgresQuery(Self.lock(table)))
    }

    private static func lock(_ table: SQL) -> SQL {
        "LOCK TABLE " + table + " IN SHARE UPDATE EXCLUSIVE MODE"
    }
}
