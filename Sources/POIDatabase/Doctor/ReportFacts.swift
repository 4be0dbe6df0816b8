import Postgres

/// What the database that reports are written to says of the role that writes them.
struct ReportFacts: Hashable, Sendable {
    var roleName = ""
    /// Nil where there is nothing to store them by.
    var mayStore: Bool?

    init() {}

    init(_ connection: PostgresConnection) async throws(PostgresError) {
        let row = try await connection.query(
            """
            SELECT current_user::text, has_function_privilege(to_regprocedure('store_place_report(uuid, bigint, \
            double precision, double precision, text, text, integer)')::oid, 'EXECUTE')
            """
        ).only()
        roleName = try row.decode(at: 0)
        mayStore = try row.decode(at: 1)
    }

    var finding: Finding {
        switch mayStore {
        case nil: Finding("reports", .fault, "there is no table of reports", advice: "run poi migrate up")
        case false?:
            Finding(
                "reports", .fault, "\(roleName) may not store what people report",
                advice: "store it as poi_edit (POI_EDIT_DATABASE_URL), which deploy/postgres/roles.sql makes")
        case true?: Finding("reports", good: "\(roleName) may store what people report")
        }
    }
}
