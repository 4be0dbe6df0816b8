import Foundation
import PointsOfInterestAPI
import Postgres

/// What an import does to each place, as lines of JSON: added, changed, removed and suppressed ones, and corrections that are
/// kept, and what a reviewer has refused. Before them is a line about the import. Made before anything changes.
struct ImportChangeLines {
    let connection: PostgresConnection
    let options: ImportOptions
    /// The files that are read.
    let files: [String]
    let counts: ImportCounts
    let selection: ImportStatements.Selection

    /// Passes a line after the other to `write`, with its line feed.
    func write(to write: ([UInt8]) throws -> Void) async throws {
        try write(header)
        try await connection.choose(dataset: options.dataset.name)
        if counts.added + counts.suppressed > 0 {
            try await connection.copy(.copyOut(json: Self.added), to: write)
        }
        if counts.changed > 0 { try await connection.copy(.copyOut(json: ImportChanges.lines), to: write) }
        if counts.corrected > 0 {
            try await connection.copy(.copyOut(json: ImportChanges.keptLines), to: write)
        }
        if options.removesVanished, counts.vanished > 0 {
            _ = try await connection.query(selection.listVanished)
            try await connection.copy(.copyOut(json: Self.removed), to: write)
        }
        if counts.newlySuppressed > 0 {
            try await connection.copy(.copyOut(json: Self.removedByFile), to: write)
        }
        if !options.refused.isEmpty {
            try await connection.copy(.copyOut(json: RefusedStatements.lines), to: write)
        }
    }

    private var header: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("import")
        writer.beginObject()
        writer.name("dataset")
        writer.value(options.dataset.name)
        writer.name("files")
        writer.beginArray()
        for file in files { writer.value(file) }
        writer.endArray()
        writer.name("isDryRun")
        writer.value(options.isDryRun)
        writer.name("isSync")
        writer.value(options.removesVanished)
        writer.endObject()
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    private static let added: SQL =
        """
        SELECT jsonb_strip_nulls(jsonb_build_object('change', CASE WHEN removed.is_suppressed THEN 'suppressed' ELSE 'added' END, \
        'id', removed.id, 'sourceId', staged.source_id, 'name', staged.name, 'category', staged.category, \
        'position', jsonb_build_array(staged.latitude, staged.longitude), \
        'latitude', staged.latitude, 'longitude', staged.longitude)) \
        FROM pg_temp.import_rows AS staged LEFT JOIN 
        """ + ImportStatements.removed(from: .chosenDataset) + " WHERE "
        + ImportStatements.isNew(in: .chosenDataset) + " ORDER BY staged.number"

    private static let removed = removed(where: "id IN (SELECT id FROM pg_temp.import_vanished)")
    private static let removedByFile = removed(
        where: "EXISTS (SELECT FROM pg_temp.import_rows AS staged WHERE staged.suppressed AND "
            + ImportStatements.isSame(in: .chosenDataset) + ")")

    private static func removed(where condition: SQL) -> SQL {
        """
        SELECT jsonb_build_object('change', 'removed', 'id', id, 'sourceId', source_id, 'name', name, 'category', category, \
        'position', jsonb_build_array(latitude, longitude), 'latitude', latitude, 'longitude', longitude) \
        FROM locations AS place WHERE 
        """ + condition + " ORDER BY id"
    }
}

/// A place that an import changes, as a line for people.
struct ImportExample: CustomStringConvertible {
    let id: Int64
    let name: String
    /// JSON of an object: of each member, an object of `before` and `after`.
    let members: String

    private static let maximumLength = 60

    var description: String {
        let object = try? JSONDecoder().decode([String: [String: JSONValue]].self, from: Data(members.utf8))
        let changes = (object ?? [:]).sorted { $0.key < $1.key }.map { member, values in
            "\(member) \(Self.text(values["before"])) → \(Self.text(values["after"]))"
        }
        return "place \(id) (\(name.printable)): " + changes.joined(separator: ", ")
    }

    private static func text(_ value: JSONValue?) -> String {
        guard let value, value != .null else { return "none" }
        let text = value.jsonText.printable
        return text.count > maximumLength ? text.prefix(maximumLength) + "…" : text
    }
}
