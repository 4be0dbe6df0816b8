import EventLoop
import Postgres

/// Runs `poi datasets export`: streams a dataset's places out of the database, as `poi import` takes them back, with what people
/// have corrected and removed. It takes as little memory for a million as for one.
package struct DatasetExport: Sendable {
    /// How places are written.
    package enum Format: String, CaseIterable, Sendable {
        /// A header, and a line for each place (RFC 4180).
        case csv
        /// A FeatureCollection, with a line for each feature (RFC 7946).
        case geojson
    }

    private let configuration: PostgresConfiguration
    /// Nil for the places without a dataset.
    private let name: String?
    private let format: Format

    /// An export from the database that `database` leads to; its role only has to be allowed to read.
    package init(_ database: DatabaseConfiguration, dataset name: String?, format: Format) {
        var configuration = database.postgresWithoutTimeout
        // As many digits as a double needs, whatever the server's setting is.
        configuration.settings.append(PostgresConfiguration.Setting("extra_float_digits", "1"))
        self.configuration = configuration
        self.name = name
        self.format = format
    }

    /// Passes the file to `write`, a piece at a time, and returns the dataset, whose places are all of one moment. Blocks.
    ///
    /// - Parameter onProgress: gets the number of places so far and the number of all, before the first place and after each.
    /// - Throws: `CommandError` where there is no such dataset, and for an error of the database; what `write` throws.
    package func run(
        write: @escaping @Sendable ([UInt8]) throws -> Void,
        onProgress: (@Sendable (_ done: Int, _ total: Int) -> Void)? = nil
    ) throws -> DatasetSummary {
        try EventLoop.runToCompletion { loop in
            try await CommandError.withConnection(configuration, loop: loop) { connection in
                try await connection.withTransaction { connection in
                    _ = try await connection.query(
                        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                    let dataset = try await DatasetSummary.named(name, connection)
                    try await connection.choose(dataset: name ?? "")
                    let withRemoved = try await connection.query(Self.mayReadRemoved).only().decode(
                        Bool.self, at: 0)
                    onProgress?(0, dataset.places)
                    var lines = 0
                    if format == .geojson {
                        try write(Array("{\"type\":\"FeatureCollection\",\"features\":[".utf8))
                    }
                    try await connection.copy(statement(withRemoved: withRemoved)) { line in
                        switch format {
                        case .csv: try write(line)
                        case .geojson:
                            // The line feed goes before the line, since a comma may follow.
                            try write(Array((lines == 0 ? "\n" : ",\n").utf8) + line.dropLast())
                        }
                        lines += 1
                        onProgress?(format == .csv ? max(0, lines - 1) : lines, dataset.places)
                    }
                    if format == .geojson { try write(Array("\n]}\n".utf8)) }
                    return dataset
                }
            }
        }
    }

    /// A role that may only read places doesn't know what people have removed.
    private static let mayReadRemoved: PostgresQuery =
        "SELECT has_table_privilege(to_regclass('removed_locations'), 'SELECT')"

    private static let members: SQL = """
        name, category, latitude, longitude, featured, address, website, importance, names, other_names, properties, \
        operating_status
        """

    /// What the source says, and beside it what people have corrected and removed, in the order of the ids, so that exports can be
    /// compared. Places without a dataset are called by their own ids.
    private func places(withRemoved: Bool) -> SQL {
        let isOfDataset: SQL =
            name == nil ? "source_dataset IS NULL" : "source_dataset = " + .chosenDataset
        var sql: SQL =
            " FROM (SELECT coalesce(source_id, id::text) AS source_id, " + Self.members
            + ", NULL::jsonb AS corrections, false AS suppressed FROM locations WHERE " + isOfDataset
            + " AND source_values IS NULL UNION ALL SELECT place.source_id, "
            + "source.name, source.category, source.latitude, source.longitude, source.featured, source.address, "
            + "source.website, source.importance, source.names, source.other_names, source.properties, "
            + "source.operating_status, (SELECT jsonb_object_agg(key, coalesce(place_members(place) -> key, 'null')) "
            + "FROM jsonb_object_keys(place.source_values) AS key), false FROM locations AS place, "
            + "LATERAL with_members(place, place.source_values) AS source WHERE place." + isOfDataset
            + " AND place.source_values IS NOT NULL"
        if withRemoved {
            sql =
                sql
                + " UNION ALL SELECT source_id, name, category, latitude, longitude, false, NULL, NULL, 0, NULL, NULL, "
                + "NULL, NULL, NULL, true FROM removed_locations AS removed WHERE " + isOfDataset
                + " AND is_suppressed AND NOT EXISTS (SELECT FROM locations AS place WHERE "
                + "place.source_dataset = removed.source_dataset AND place.source_id = removed.source_id)"
        }
        return sql + ") AS exported ORDER BY source_id COLLATE \"C\""
    }

    private func statement(withRemoved: Bool) -> SQL {
        switch format {
        case .csv: .copyOut(csv: "SELECT " + Self.columns + places(withRemoved: withRemoved))
        case .geojson: .copyOut(json: "SELECT " + Self.feature + places(withRemoved: withRemoved))
        }
    }

    /// Names, other names and properties are JSON: no list of columns and no separator has room for all that there may be.
    private static let columns: SQL = """
        source_id AS id, name, category, latitude, longitude, featured::text AS featured, address, website, importance, \
        names, to_json(other_names) AS other_names, properties, operating_status, corrections, \
        CASE WHEN suppressed THEN 'true' END AS suppressed
        """

    /// Made as text, since the functions that make JSON order members by their length or put blanks between them.
    private static let feature: SQL = """
        '{"type":"Feature","id":' || to_json(source_id) || ',"geometry":{"type":"Point","coordinates":[' || longitude \
        || ',' || latitude || ']},"properties":{"name":' || to_json(name) || ',"category":' || to_json(category) \
        || CASE WHEN featured THEN ',"featured":true' ELSE '' END \
        || coalesce(',"address":' || to_json(address), '') || coalesce(',"website":' || to_json(website), '') \
        || CASE WHEN importance > 0 THEN ',"importance":' || importance ELSE '' END \
        || coalesce(',"names":' || names::text, '') || coalesce(',"other_names":' || to_json(other_names), '') \
        || coalesce(',"properties":' || properties::text, '') \
        || coalesce(',"operating_status":' || to_json(operating_status), '') \
        || coalesce(',"corrections":' || corrections::text, '') \
        || CASE WHEN suppressed THEN ',"suppressed":true' ELSE '' END || '}}'
        """
}
