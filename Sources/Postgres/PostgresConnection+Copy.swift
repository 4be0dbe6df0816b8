import CLibPQ

extension PostgresConnection {
    /// Runs a `COPY … FROM STDIN` with the data of `chunks`, cut anywhere, and answers the number of rows.
    ///
    /// Data is taken only as fast as the server reads it. No other query may be in flight or come in until it
    /// ends (``PostgresError/Code/connectionInUse``). If `chunks` throws, nothing is stored and its error is
    /// thrown on.
    @discardableResult
    public func copy<Chunks: AsyncSequence>(
        _ sql: SQL, from chunks: Chunks
    ) async throws -> Int where Chunks.Element == [UInt8] {
        try await unpipelined {
            try await startCopy(sql, PGRES_COPY_IN)
            do {
                for try await chunk in chunks { try await putCopyData(chunk) }
            } catch let error as PostgresError where !isOpen {
                throw error
            } catch {
                try await endCopy(failure: "the source of the data failed")
                _ = try? await finishCommand()
                throw error
            }
            try await endCopy(failure: nil)
            return try await finishCommand()
        }
    }

    /// Sends the command, which has to begin a copy in that direction.
    func startCopy(_ sql: SQL, _ direction: ExecStatusType) async throws(PostgresError) {
        try await sendSimple(sql)
        guard let result = try await nextResult() else { throw PostgresError(.unexpectedResult) }
        defer { PQclear(result) }
        switch PQresultStatus(result) {
        case direction:
            return
        case PGRES_FATAL_ERROR:
            let error = PostgresError(report: PostgresServerReport(result: result))
            _ = try await finishCommand()
            throw error
        case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
            end(PostgresError(.unexpectedResult))
        default:
            _ = try await finishCommand()
        }
        throw PostgresError(.unexpectedResult)
    }

    private func putCopyData(_ chunk: [UInt8]) async throws(PostgresError) {
        var rest = chunk[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.largestCopyPart)
            let status = part.withUnsafeBytes { bytes in
                PQputCopyData(
                    raw, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
            }
            guard status >= 0 else { throw clientError(.sendFailed) }
            if status == 1 { rest = rest.dropFirst(part.count) }
            // Waiting for the socket here is what makes a fast source wait for a slow server.
            try await drain()
        }
    }

    private func endCopy(failure: String?) async throws(PostgresError) {
        while true {
            let status = PQputCopyEnd(raw, failure)
            guard status >= 0 else { throw clientError(.sendFailed) }
            try await drain()
            if status == 1 { return }
        }
    }

    private static let largestCopyPart = 1 << 20
}
