import Foundation
import Hashing

/// One migration: a file of plain SQL in two parts, up and down. It is checked when it is read.
package struct MigrationFile: Sendable, Hashable {
    /// What a migration is for.
    package enum Kind: Sendable, Hashable, CaseIterable {
        /// The schema: applied by every run.
        case schema
        /// Data: applied only on request.
        case seed
    }

    /// One direction of a migration.
    package struct Section: Sendable, Hashable {
        /// The SQL, without the marker's line.
        package let sql: String
        /// Whether the SQL and its record are one transaction; false for statements that PostgreSQL refuses in one.
        package let isTransactional: Bool
        /// The number of the line in the file on which `sql` begins, from 1.
        package let firstLine: Int
        /// Whether there is nothing to run: no lines but blank ones and `--` comments.
        package var isEmpty: Bool {
            sql.split(whereSeparator: \.isNewline).allSatisfy(MigrationFileParser.isBlank)
        }
    }

    /// The digits before the first underscore, as text: `0202`.
    package let version: String
    /// The file's name without its extension: `0202_create_locations`.
    package let name: String
    /// What it is for.
    package let kind: Kind
    /// SHA-256 over the file's bytes in hexadecimal: an applied file must never change.
    package let checksum: String
    package let up: Section
    /// The part that undoes it; empty where nothing can.
    package let down: Section

    /// Reads a migration from the bytes of the file `fileName`.
    ///
    /// - Throws: ``MigrationError`` that says what is wrong with the name, or with which line.
    package init(fileName: String, kind: Kind, bytes: [UInt8]) throws(MigrationError) {
        guard let (version, name) = Self.parse(fileName: fileName) else {
            throw .malformedName(fileName)
        }
        (self.version, self.name, self.kind) = (version, name, kind)
        checksum = SHA256.hexDigest(of: bytes)
        (up, down) = try MigrationFileParser.parse(fileName: fileName, bytes: bytes)
    }

    /// `NNNN_verb_object.sql`: four digits, an underscore, lower-case words.
    private static func parse(fileName: String) -> (version: String, name: String)? {
        guard fileName.hasSuffix(".sql") else { return nil }
        let name = String(fileName.dropLast(4))
        guard let match = name.wholeMatch(of: /([0-9]{4})_[a-z0-9][a-z0-9_]*/) else { return nil }
        return (String(match.1), name)
    }
}

// MARK: - Parsing

/// Reads the file format, which is dbmate's: `-- migrate:up`, then `-- migrate:down`, each perhaps with `transaction:false`.
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
        guard lines[..<up.line].allSatisfy(isBlank) else {
            throw .malformedFile(fileName, line: 1, "has statements before `-- migrate:up`")
        }
        let down = markers[1]
        let upSection = section(lines, up, until: down.line)
        guard !upSection.isEmpty else {
            throw .malformedFile(fileName, line: up.line + 1, "has nothing to apply")
        }
        return (upSection, section(lines, down, until: lines.count))
    }

    /// Whether a line has nothing to run.
    static func isBlank(_ line: some StringProtocol) -> Bool {
        let text = line.drop(while: \.isWhitespace)
        return text.isEmpty || text.hasPrefix("--")
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
                guard option == "transaction:false" else {
                    throw .malformedFile(fileName, line: line + 1, "has an unknown option `\(option)`")
                }
                marker.isTransactional = false
            }
            markers.append(marker)
        }
        return markers
    }

    private static func section(_ lines: [String], _ marker: Marker, until end: Int) -> MigrationFile.Section
    {
        MigrationFile.Section(
            sql: lines[(marker.line + 1)..<end].joined(separator: "\n"),
            isTransactional: marker.isTransactional,
            firstLine: marker.line + 2)
    }
}
