import Foundation
import Hashing

/// One migration: a file of plain SQL in dbmate's format, checked when it is read.
public struct MigrationFile: Sendable, Hashable {
    /// What a migration is for.
    public enum Kind: Sendable, Hashable {
        /// The schema: applied by every run.
        case schema
        /// Data: applied only where asked for.
        case seed
    }

    /// One direction of a migration.
    public struct Section: Sendable, Hashable {
        /// The SQL, without the marker's line.
        public let sql: String
        /// Whether the SQL and its record are one transaction; false for what PostgreSQL refuses in one.
        public let isTransactional: Bool
        /// The number of the line in the file on which `sql` begins, from 1.
        public let firstLine: Int
        /// Whether there is nothing to run, only comments perhaps.
        public let isEmpty: Bool
    }

    /// The digits before the first underscore, as text: `0003`.
    public let version: String
    /// The file's name without its extension: `0003_create_locations`.
    public let name: String
    /// What it is for.
    public let kind: Kind
    /// SHA-256 over the file's bytes in hexadecimal: an applied file must stay as it was.
    public let checksum: String
    /// The oldest program that can live with it, from the line `-- poi:oldest-program 1.4.0` above
    /// `-- migrate:up`; nil where there is none.
    public let oldestProgram: ProgramVersion?
    /// What applies it.
    public let up: Section
    /// What undoes it; empty where nothing can.
    public let down: Section

    /// Reads a migration from the bytes of the file `fileName`.
    /// - Throws: ``MigrationError`` that says what is wrong with the name or with which line.
    public init(fileName: String, kind: Kind, bytes: [UInt8]) throws(MigrationError) {
        guard let (version, name) = Self.parse(fileName: fileName) else {
            throw .malformedName(fileName)
        }
        (self.version, self.name, self.kind) = (version, name, kind)
        checksum = SHA256.hexDigest(of: bytes)
        (oldestProgram, up, down) = try MigrationFileParser.parse(fileName: fileName, bytes: bytes)
    }

    /// `NNNN_verb_object.sql`: digits, an underscore, lower-case words.
    private static func parse(fileName: String) -> (version: String, name: String)? {
        guard fileName.hasSuffix(".sql") else { return nil }
        let name = String(fileName.dropLast(4))
        guard let match = name.wholeMatch(of: /([0-9]+)_[a-z0-9][a-z0-9_]*/) else { return nil }
        return (String(match.1), name)
    }
}
