/// A row of `schema_migrations`.
public struct AppliedMigration: Sendable, Hashable {
    /// The number of the file.
    public let version: String
    /// The file's checksum when it was applied; nil where dbmate applied it.
    public let checksum: String?
    /// When it was applied, in PostgreSQL's notation; nil where the table didn't hold that yet.
    public let appliedAt: String?

    /// A row with these columns.
    public init(version: String, checksum: String? = nil, appliedAt: String? = nil) {
        self.version = version
        self.checksum = checksum
        self.appliedAt = appliedAt
    }
}
