import Postgres

/// The SQL of an export.
struct EventExportStatements {
    let selection: EventExport.Selection
    let format: EventExport.Format

    /// How many events there are.
    var count: SQL { "SELECT count(*) FROM events WHERE " + condition }

    /// All of them, in the order in which the partitions have them: sorting would hold up the first until the last is
    /// read.
    var copy: SQL {
        switch format {
        case .ndjson:
            // The text format would escape backslashes once more; JSON has neither of these two characters.
            "COPY (SELECT " + Self.object + " FROM events WHERE " + condition
                + ") TO STDOUT WITH (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02')"
        case .csv:
            "COPY (SELECT id, user_id, time, received_at, name, value, is_test AS test FROM events WHERE "
                + condition + ") TO STDOUT WITH (FORMAT csv, HEADER)"
        }
    }

    /// The shape in which apps send events, with the time of receipt; made as text, since the functions that make JSON
    /// order members by their length or put blanks between them.
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
