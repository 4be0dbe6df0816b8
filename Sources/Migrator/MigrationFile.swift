import Foundation
import Hashing

/// One migration: a file of plain SQL in dbmate's format. It is checked when it is read.
public struct MigrationFile: Sendable, Hashable {
    /// What a migration is for.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// The schema: applied by every run.
        case schema
        /// Data: applied only on request.
        case seed
    }

    /// One direction of a migration.
    public struct Section: Sendable, Hashable {
        /// The SQL, without the marker's line.
        public let sql: String
        /// Whether the SQL and its record are one transaction; false for statements that PostgreSQL refuses in one.
        public let isTransactional: Bool
        /// The number of the line in the file on which `sql` begins, from 1.
        public let firstLine: Int
        /// Whether there is nothing to run; there may be comments.
        public let isEmpty: Bool
    }

    /// The digits before the first underscore, as text: `0202`.
    public let version: String
    /// The file's name without its extension: `0202_create_locations`.
    public let name: String
    /// What it is for.
    public let kind: Kind
    /// SHA-256 over the file's bytes in hexadecimal: an applied file must never change.
    public let checksum: String
    /// The part that applies it.
    public let up: Section
    /// The part that undoes it; empty where nothing can.
    public let down: Section

    /// Reads a migration from the bytes of the file `fileName`.
    ///
    /// - Throws: ``MigrationError`` that says what is wrong with the name, or with which line.
    public init(fileName: String, kind: Kind, bytes: [UInt8]) throws(MigrationError) {
        guard let (version, name) = Self.parse(fileName: fileName) else {
            throw .malformedName(fileName)
        }
        (self.version, self.name, self.kind) = (version, name, kind)
        checksum = SHA256.hexDigest(of: bytes)
        (up, down) = try MigrationFileParser.parse(fileName: fileName, bytes: bytes)
    }

    /// `NNNN_verb_object.sql`: digits, an underscore, lower-case words.
    private static func parse(fileName: String) -> (version: String, name: String)? {
        guard fileName.hasSuffix(".sql") else { return nil }
        let name = String(fileName.dropLast(4))
        guard let match = name.wholeMatch(of: /([0-9]+)_[a-z0-9][a-z0-9_]*/) else { return nil }
        return (String(match.1), name)
    }
}

// MARK: - Parsing

/// Reads dbmate's file format: `-- migrate:up`, then `-- migrate:down`, each perhaps with `transaction:false`.
private enum MigrationFileParser {
    private struct Marker {
        var direction: String
        var isTransactional: Bool
        /// The marker's line, from 0.
        var line: Int
    }

    static func parse(
        fileName: String, bytes: [UInt8]
    ) throws(MigrationError) -> (up: MigrationFile.Section, down: MigrationFile.Section) {
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            throw .malformedFile(fileName, line: 1, "is not UTF-8 text")
        }
        // Splits scalars, because "\r\n" is one Character.
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map {
            String($0)
        }
        let markers = try markers(in: lines, fileName: fileName)
        guard let up = markers.first, up.direction == "up" else {
            throw .malformedFile(fileName, line: 1, "does not begin with `-- migrate:up`")
        }
        guard markers.count > 1, markers[1].direction == "down" else {
            throw .malformedFile(fileName, line: lines.count, "has no `-- migrate:down` after its up part")
        }
        guard markers.count == 2 else {
            throw .malformedFile(fileName, line: markers[2].line + 1, "has a third `-- migrate:` marker")
        }
        let preamble = lines[..<up.line].joined(separator: "\n")
        guard SQLStatementScanner(preamble).statements.isEmpty else {
            throw .malformedFile(fileName, line: 1, "has statements before `-- migrate:up`")
        }
        let down = markers[1]
        let upSection = try section(lines, up, until: down.line, fileName: fileName)
        guard !upSection.isEmpty else {
            throw .malformedFile(fileName, line: up.line + 1, "has nothing to apply")
        }
        return (upSection, try section(lines, down, until: lines.count, fileName: fileName))
    }

    private static func markers(
        in lines: [String], fileName: String
    ) throws(MigrationError) -> [Marker] {
        let comment = /--[ \t]*migrate:(\S*)/
        var markers: [Marker] = []
        for (line, text) in lines.enumerated() {
            guard let match = text.prefixMatch(of: comment) else { continue }
            var marker = Marker(direction: String(match.1), isTransactional: true, line: line)
            guard marker.direction == "up" || marker.direction == "down" else {
                throw .malformedFile(
                    fileName, line: line + 1, "has an unknown marker `migrate:\(marker.direction)`")
            }
            for option in text[match.range.upperBound...].split(whereSeparator: \.isWhitespace) {
                switch option {
                case "transaction:false": marker.isTransactional = false
                case "transaction:true": marker.isTransactional = true
                default:
                    throw .malformedFile(fileName, line: line + 1, "has an unknown option `\(option)`")
                }
            }
            markers.append(marker)
        }
        return markers
    }

    private static func section(
        _ lines: [String], _ marker: Marker, until end: Int, fileName: String
    ) throws(MigrationError) -> MigrationFile.Section {
        let sql = lines[(marker.line + 1)..<end].joined(separator: "\n")
        let statements = SQLStatementScanner(sql).statements
        if marker.isTransactional {
            if let words = statements.first(where: endsTransaction) {
                throw .malformedFile(
                    fileName, line: marker.line + 1,
                    "controls the transaction itself (\(words[0])): its record could not commit with it")
            }
        } else if statements.count > 1 {
            throw .malformedFile(
                fileName, line: marker.line + 1,
                "has \(statements.count) statements under transaction:false, which takes one: PostgreSQL would "
                    + "make them one transaction, and what failed half-way could not be repeated")
        }
        return MigrationFile.Section(
            sql: sql, isTransactional: marker.isTransactional, firstLine: marker.line + 2,
            isEmpty: statements.isEmpty)
    }

    /// Whether the statement begins or ends a transaction; savepoints do neither.
    private static func endsTransaction(_ words: [String]) -> Bool {
        switch words.first {
        case "BEGIN", "START", "COMMIT", "END", "ABORT": true
        case "ROLLBACK": !words.contains("TO")
        case "PREPARE": words.dropFirst().first == "TRANSACTION"
        default: false
        }
    }
}
