import Postgres

/// A row of `schema_migrations`.
public struct AppliedMigration: Sendable, Hashable {
    /// The number of the file.
    public let version: String
    /// The file's checksum when it was applied; nil where dbmate applied it.
    public let checksum: String?
    /// When it was applied, in PostgreSQL's notation; nil where the table didn't hold that yet.
    public let appliedAt: String?
    /// The file's name without its extension; nil where dbmate applied it.
    public let name: String?
    /// The oldest program that can live with it, as its file said; nil where it didn't.
    public let oldestProgram: String?

    /// A row with these columns.
    public init(
        version: String, checksum: String? = nil, appliedAt: String? = nil, name: String? = nil,
        oldestProgram: String? = nil
    ) {
        self.version = version
        self.checksum = checksum
        self.appliedAt = appliedAt
        self.name = name
        self.oldestProgram = oldestProgram
    }

    /// Reads a row of ``query``.
    public init(_ row: PostgresRow) throws(PostgresError) {
        self.init(
            version: try row.decode(at: 0), checksum: try row.decode(at: 1), appliedAt: try row.decode(at: 2),
            name: try row.decode(at: 3), oldestProgram: try row.decode(at: 4))
    }

    /// Reads all rows, lowest number first: through JSON, since a table that dbmate or an older release made lacks some
    /// of the columns.
    public static let query: SQL = """
        SELECT version::text, to_jsonb(m) ->> 'checksum', to_jsonb(m) ->> 'applied_at', to_jsonb(m) ->> 'name',
            to_jsonb(m) ->> 'oldest_program'
        FROM schema_migrations AS m ORDER BY version
        """

    /// The name, or where there is none the version.
    public var shownName: String { name ?? version }

    /// The oldest program that can live with it; nil where that isn't known.
    var oldestVersion: ProgramVersion? { oldestProgram.flatMap { ProgramVersion($0) } }
}
