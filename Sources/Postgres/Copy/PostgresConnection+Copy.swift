import CLibPQ

extension PostgresConnection {
    /// Runs a `COPY … FROM STDIN` with the data of `chunks`, which may be cut anywhere, and returns the number of rows.
    ///
    /// Data is taken only as fast as the server reads it. No other query may be in flight or come in until it
    /// ends (``PostgresError/Code/connectionInUse``).
    ///
    /// - Throws: ``PostgresError``; what `chunks` throws, and then nothing is stored.
    @discardableResult
    package func copy<Chunks: AsyncSequence>(
        _ sql: SQL, from chunks: Chunks
    ) async throws -> Int where Chunks.Element == [UInt8] {
        try await unpipelined {
            try await startCopy(sql, PGRES_COPY_IN)
            var isTaken = true
            do {
                for try await chunk in chunks {
                    isTaken = try await putCopyData(chunk)
                    guard isTaken else { break }
                }
            } catch {
                if isOpen {
                    try? await endCopy(failure: "the source of the data failed")
                    _ = try? await finishCommand()
                }
                throw error
            }
            try await endCopy(failure: nil)
            let count = try await finishCommand()
            guard isTaken else { throw PostgresError(.connectionLost) }
            return count
        }
    }

    private func startCopy(_ sql: SQL, _ direction: ExecStatusType) async throws(PostgresError) {
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

    /// Sends a chunk; false where libpq has given the connection up, and the results may have the server's reason.
    private func putCopyData(_ chunk: [UInt8]) async throws(PostgresError) -> Bool {
        // The connection may have ended while the source made the chunk.
        try checkOpen()
        var rest = chunk[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.maximumCopyPart)
            let status = part.withUnsafeBytes { bytes in
                PQputCopyData(
                    raw, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
            }
            guard status >= 0 else {
                if PQstatus(raw) == CONNECTION_BAD { return false }
                throw clientError(.sendFailed)
            }
            if status == 1 { rest = rest.dropFirst(part.count) }
            // A fast source waits here for a slow server.
            try await drain()
        }
        return true
    }

    /// Ends the data; where libpq has given the connection up, the results say so.
    private func endCopy(failure: String?) async throws(PostgresError) {
        try checkOpen()
        while true {
            let status = PQputCopyEnd(raw, failure)
            guard status >= 0 else {
                if PQstatus(raw) == CONNECTION_BAD { return }
                throw clientError(.sendFailed)
            }
            try await drain()
            if status == 1 { return }
        }
    }

    private static let maximumCopyPart = 1 << 20

    // MARK: Out

    /// Runs a `COPY … TO STDOUT`, hands each row to `receive` as it comes, and returns the number of rows.
    /// A row is as the command's format writes it, its line feed included. Nothing is read ahead: while `receive` works, the server waits. No other query may be in flight or come in until it
    /// ends (``PostgresError/Code/connectionInUse``).
    ///
    /// - Throws: ``PostgresError``; what `receive` throws, and then the connection is closed, which ends the command in
    ///   the server.
    @discardableResult
    package func copy(
        _ sql: SQL, to receive: ([UInt8]) throws -> Void
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

    /// Hands over the next row, once it is there; false at the end of the data.
    private func receiveRow(_ receive: ([UInt8]) throws -> Void) async throws -> Bool {
        while true {
            var row: UnsafeMutablePointer<CChar>?
            let count = PQgetCopyData(raw, &row, 1)
            if let row, count > 0 {
                defer { PQfreemem(row) }
                try receive(Array(UnsafeRawBufferPointer(start: row, count: Int(count))))
                return true
            }
            switch count {
            case 0: try await moreData()
            // The data ended or the command failed; the results that follow say which.
            default: return false
            }
        }
    }
}

// MARK: - The binary format

/// Writes rows in the format of `COPY … WITH (FORMAT binary)` (PostgreSQL manual, "COPY", "Binary Format").
package struct BinaryCopyEncoder: Sendable {
    private var bytes: [UInt8]

    /// The signature, no flags, no extension.
    private static let header: [UInt8] =
        Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00] + [UInt8](repeating: 0, count: 8)

    package init() {
        bytes = Self.header
    }

    /// How many bytes are waiting to be taken.
    package var byteCount: Int { bytes.count }

    /// Adds a row. Each value must have exactly its column's type, since the server converts nothing.
    package mutating func append(_ row: [PostgresValue]) {
        bytes.appendBigEndian(Int16(clamping: row.count))
        for value in row {
            guard !value.isNull else {
                bytes.appendBigEndian(Int32(-1))
                continue
            }
            let lengthAt = bytes.count
            bytes.appendBigEndian(Int32(0))
            value.appendBinary(to: &bytes)
            bytes.writeLength(at: lengthAt)
        }
    }

    /// Removes what has been written so far, and returns it as one chunk.
    package mutating func takeBytes() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    /// Ends the data and returns the last chunk.
    package mutating func finish() -> [UInt8] {
        bytes.appendBigEndian(Int16(-1))
        return takeBytes()
    }
}

extension SQL {
    /// `COPY … TO STDOUT` of a query's rows as CSV, whose first line has the columns' names (RFC 4180).
    package static func copyOut(csv query: SQL) -> SQL {
        "COPY (" + query + ") TO STDOUT WITH (FORMAT csv, HEADER)"
    }

    /// `COPY … TO STDOUT` of a query's only column, which is JSON, a line for each row.
    ///
    /// PostgreSQL's text format would escape backslashes again. As CSV each line stays as it is, since JSON contains neither
    /// of the two control characters that are its quote and its delimiter here.
    package static func copyOut(json query: SQL) -> SQL {
        "COPY (" + query + ") TO STDOUT WITH (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02')"
    }
}
