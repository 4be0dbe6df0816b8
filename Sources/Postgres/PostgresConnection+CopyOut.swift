import CLibPQ

extension PostgresConnection {
    /// Runs a `COPY … TO STDOUT`, hands each row to `receive` as it comes, and answers the number of rows.
    ///
    /// A row is as the command's format writes it, its line feed included. Nothing is read ahead of `receive`, whose
    /// memory is lent for the call; while it works, the server waits. No other query may be in flight or come in
    /// until it ends (``PostgresError/Code/connectionInUse``). If `receive` throws, the connection is closed, which
    /// ends the command in the server, and the error is thrown on.
    @discardableResult
    public func copy(
        _ sql: SQL, to receive: (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> Int {
        try await unpipelined {
            try await startCopy(sql, PGRES_COPY_OUT)
            do {
                while try await receiveRow(receive) {}
            } catch let error as PostgresError {
                throw error
            } catch {
                end(PostgresError(.closed))
                throw error
            }
            return try await finishCommand()
        }
    }

    /// Hands on the next row, once it is there; false at the end of the data.
    private func receiveRow(_ receive: (UnsafeRawBufferPointer) throws -> Void) async throws -> Bool {
        while true {
            var row: UnsafeMutablePointer<CChar>?
            let count = PQgetCopyData(raw, &row, 1)
            if let row, count > 0 {
                defer { PQfreemem(row) }
                try receive(UnsafeRawBufferPointer(start: row, count: Int(count)))
                return true
            }
            switch count {
            case 0: try await moreData()
            // The end, or a failure: what follows tells which.
            default: return false
            }
        }
    }
}
