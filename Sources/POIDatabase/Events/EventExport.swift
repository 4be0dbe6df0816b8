import EventLoop
import POIService
import Postgres

/// What `poi events export` does: streams events out of the database, with as little memory for a billion as for one.
public struct EventExport: Sendable {
    /// How events are written.
    public enum Format: String, CaseIterable, Sendable {
        /// A JSON object a line.
        case ndjson
        /// A header, and a line for each event (RFC 4180).
        case csv
    }

    /// Which events, by the server's time of receipt.
    public struct Selection: Sendable {
        /// From this moment on, in microseconds since 1970.
        public var sinceMicroseconds: Int64
        /// Before this one; nil takes all that have come.
        public var untilMicroseconds: Int64?
        /// Whether the events of tests count.
        public var includesTests: Bool

        /// Makes a selection.
        public init(sinceMicroseconds: Int64, untilMicroseconds: Int64? = nil, includesTests: Bool = false) {
            self.sinceMicroseconds = sinceMicroseconds
            self.untilMicroseconds = untilMicroseconds
            self.includesTests = includesTests
        }
    }

    private let configuration: PostgresConfiguration
    private let selection: Selection
    private let format: Format

    /// An export from the database that `database` leads to; reading the table is all that the role has to be allowed.
    public init(_ database: DatabaseConfiguration, _ selection: Selection, format: Format) {
        var configuration = database.postgres
        configuration.statementTimeout = nil
        configuration.settings.append(PostgresConfiguration.Setting("TimeZone", "UTC"))
        self.configuration = configuration
        self.selection = selection
        self.format = format
    }

    /// Hands every line to `write`, its line feed included, and answers how many events there were. Blocks.
    ///
    /// - Parameter onProgress: told of the events so far and of all that there will be, before the first and after
    ///   each; nil spares counting them first. Events that come meanwhile may make them more.
    /// - Throws: `CommandError`; what `write` throws.
    @discardableResult
    public func run(
        write: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void,
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
