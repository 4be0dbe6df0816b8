import EventLoop
import Postgres
import Program

/// What `poi events export` does: streams events out of the database. It takes as little memory for a billion as for one.
package struct EventExport: Sendable {
    /// How events are written.
    package enum Format: String, CaseIterable, Sendable {
        /// A JSON object on each line.
        case ndjson
        /// A header, and a line for each event (RFC 4180).
        case csv
    }

    /// Which events are exported, by the server's time of receipt.
    package struct Selection: Sendable {
        /// From this moment on, in microseconds since 1970.
        package var sinceMicroseconds: Int64
        /// Before this one; nil takes all.
        package var untilMicroseconds: Int64?
        /// Whether events of tests are exported too.
        package var includesTests: Bool

        package init(sinceMicroseconds: Int64, untilMicroseconds: Int64? = nil, includesTests: Bool = false) {
            self.sinceMicroseconds = sinceMicroseconds
            self.untilMicroseconds = untilMicroseconds
            self.includesTests = includesTests
        }
    }

    private let configuration: PostgresConfiguration
    private let selection: Selection
    private let format: Format

    /// An export from the database that `database` leads to; its role only has to be allowed to read the table.
    package init(_ database: DatabaseConfiguration, _ selection: Selection, format: Format) {
        var configuration = database.postgresWithoutTimeout
        configuration.settings.append(PostgresConfiguration.Setting("TimeZone", "UTC"))
        self.configuration = configuration
        self.selection = selection
        self.format = format
    }

    /// Passes every line to `write`, its line feed included, and returns the number of events. Blocks.
    ///
    /// - Parameter onProgress: gets the number of events so far and the number of all, before the first event and after each;
    ///   nil saves counting them first. If events arrive meanwhile, `done` may become larger than `total`.
    /// - Throws: `CommandError` for an error of the database; what `write` throws.
    @discardableResult
    package func run(
        write: @escaping @Sendable ([UInt8]) throws -> Void,
        onProgress: (@Sendable (_ done: Int, _ total: Int) -> Void)? = nil
    ) throws -> Int {
        let statements = EventExportStatements(selection: selection, format: format)
        return try EventLoop.runToCompletion { loop in
            try await CommandError.withConnection(configuration, loop: loop) { connection in
                var total = 0
                if onProgress != nil {
                    total = try await connection.query(PostgresQuery(statements.count)).only()
                        .decode(at: 0)
                }
                onProgress?(0, total)
                var done = format == .csv ? -1 : 0
                return try await connection.copy(statements.copy) { line in
                    try write(line)
                    done += 1
                    onProgress?(max(0, done), total)
                }
            }
        }
    }
}

private struct EventExportStatements {
    let selection: EventExport.Selection
    let format: EventExport.Format

    /// How many events there are.
    var count: SQL { "SELECT count(*) FROM events WHERE " + condition }

    /// Copies all events in the order of the partitions. Sorting would delay the first event until the last one is read.
    var copy: SQL {
        switch format {
        case .ndjson: .copyOut(json: "SELECT " + Self.object + " FROM events WHERE " + condition)
        case .csv:
            .copyOut(
                csv: "SELECT id, user_id, time, received_at, name, value, is_test AS test FROM events WHERE "
                    + condition)
        }
    }

    /// The form in which apps send events, with the time of receipt. Made as text, since the functions that make JSON order
    /// members by their length or put blanks between them.
    private static let object: SQL = """
        '{"id":"' || id || '","user_id":' || to_json(user_id) \
        || ',"time":' || extract(epoch FROM time)::double precision \
        || ',"event":{"name":' || to_json(name) \
        || CASE value WHEN '{}' THEN '' ELSE ',"value":' || value::text END \
        || '},"received_at":' || extract(epoch FROM received_at)::double precision \
        || CASE WHEN is_test THEN ',"test":true' ELSE '' END || '}'
        """

    private var condition: SQL {
        var condition = "received_at >= " + Self.moment(selection.sinceMicroseconds)
        if let until = selection.untilMicroseconds {
            condition = condition + " AND received_at < " + Self.moment(until)
        }
        return selection.includesTests ? condition : condition + " AND NOT is_test"
    }

    /// A moment as a constant: COPY takes no parameters.
    private static func moment(_ microseconds: Int64) -> SQL {
        "timestamptz 'epoch' + " + SQL(integer: Int(microseconds)) + " * interval '1 microsecond'"
    }
}
