import EventLoop
import Foundation
import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Postgres
import Program

extension PostgresEditStore: ReportStore {
    package func store(_ report: PlaceReport) async throws(EditError) {
        do throws(PostgresError) {
            _ = try await pool.query(
                ReportStatements.store,
                [
                    .uuid(PostgresUUID(report.id)), report.place.map { .int8(Int64($0)) } ?? .null(.int8),
                    report.position.map { .float8($0.latitude) } ?? .null(.float8),
                    report.position.map { .float8($0.longitude) } ?? .null(.float8),
                    .text(report.reason.rawValue), .text(ifPresent: report.text),
                    .int8(Int64(reportRetentionDays)),
                ], isIdempotent: true)
        } catch {
            throw EditError(error)
        }
    }

    package func reports(
        _ status: ReportStatus, from position: Int64?, count: Int
    ) async throws(EditError) -> ReportsPage {
        do throws(PostgresError) {
            let rows = try await pool.query(
                ReportStatements.page,
                [
                    .text(status.rawValue), position.map { .int8($0) } ?? .null(.int8),
                    .int8(Int64(count + 1)),
                ], isIdempotent: true)
            let page = try rows.page(of: count) { row throws(PostgresError) in try ReceivedReport(row) }
            return ReportsPage(page.items, next: page.next)
        } catch {
            throw EditError(error)
        }
    }

    package func change(
        _ id: UUID, _ change: ReportChange, editor: String
    ) async throws(EditError) -> ReceivedReport? {
        do throws(PostgresError) {
            let rows = try await pool.query(
                ReportStatements.settle,
                [
                    .uuid(PostgresUUID(id)), .text(ifPresent: change.status?.rawValue),
                    .bool(change.note != nil), .text(ifPresent: change.note ?? nil), .text(editor),
                ], isIdempotent: true)
            for row in rows { return try ReceivedReport(row) }
            return nil
        } catch {
            throw EditError(error)
        }
    }

    package func remove(_ id: UUID) async throws(EditError) -> Bool {
        do throws(PostgresError) {
            let rows = try await pool.query(
                ReportStatements.delete, [.uuid(PostgresUUID(id))])
            return try rows.only().decode(at: 0)
        } catch {
            throw EditError(error)
        }
    }
}

/// Deletes reports that are kept no longer, where so few come that servers leave some.
package struct ReportMaintenance: Sendable {
    private let configuration: PostgresConfiguration
    private let retentionDays: Int

    package init(
        _ database: DatabaseConfiguration, from reader: inout SettingsReader
    ) throws(ConfigurationError) {
        configuration = database.postgresWithoutTimeout
        retentionDays = try reader.read(.reportsRetention)
    }

    /// Returns how many there were. Blocks.
    package func run() throws -> Int64 {
        try EventLoop.runToCompletion { [self] loop in
            try await CommandError.withConnection(configuration, loop: loop) { connection in
                try await connection.query(
                    PostgresQuery(ReportStatements.deleteOutdated, [.int8(Int64(retentionDays))])
                ).only().decode(at: 0)
            }
        }
    }
}

extension Setting where Value == Int {
    static let reportsRetention = days(
        .reportsRetention, "how long reports of people are kept", default: 180, in: 1...3650)
}

// MARK: - SQL

private enum ReportStatements {
    private static let columns: SQL = """
        SELECT number, id, place_id, latitude, longitude, \
        to_char(reported_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), reason, text, status, note, changed_by, \
        to_char(changed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')\u{20}
        """

    static let store = PreparedStatement(
        "SELECT store_place_report($1, $2, $3, $4, $5, $6, $7::integer)",
        parameters: [.uuid, .int8, .float8, .float8, .text, .text, .int8])

    static let page = PreparedStatement(
        columns + "FROM place_reports_page($1, $2, $3::integer)",
        parameters: [.text, .int8, .int8])

    static let settle = PreparedStatement(
        columns + "FROM settle_place_report($1, $2, $3, $4, $5)",
        parameters: [.uuid, .text, .bool, .text, .text])

    static let delete = PreparedStatement("SELECT delete_place_report($1)", parameters: [.uuid])

    static let deleteOutdated: SQL = "SELECT delete_outdated_place_reports($1::integer, NULL)"
}

extension ReceivedReport {
    /// Reads the columns of `place_reports` as the statements name them.
    fileprivate init(_ row: PostgresRow) throws(PostgresError) {
        var position: Coordinate?
        if let latitude = try row.decode(Double?.self, at: 3),
            let longitude = try row.decode(Double?.self, at: 4)
        {
            position = Coordinate(validLatitude: latitude, validLongitude: longitude)
        }
        var lastChange: (editor: String, time: String)?
        if let editor = try row.decode(String?.self, at: 10), let time = try row.decode(String?.self, at: 11)
        {
            lastChange = (editor, time)
        }
        self.init(
            PlaceReport(
                id: UUID(try row.decode(PostgresUUID.self, at: 1)),
                anyPlace: try row.decode(Int64?.self, at: 2).map { Int($0) }, position: position,
                // The table has no others.
                reason: PlaceReport.Reason(rawValue: try row.decode(String.self, at: 6)) ?? .other,
                text: try row.decode(String?.self, at: 7)),
            reportedAt: try row.decode(at: 5),
            status: ReportStatus(rawValue: try row.decode(String.self, at: 8)) ?? .open,
            note: try row.decode(String?.self, at: 9), lastChange: lastChange)
    }
}

extension PostgresValue {
    fileprivate static func text(ifPresent text: String?) -> PostgresValue {
        text.map { .text($0) } ?? .null(.text)
    }
}

extension UUID {
    /// The same 16 bytes.
    fileprivate init(_ id: PostgresUUID) {
        let bytes = [id.high, id.low].flatMap { half in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: half >> UInt64($0)) }
        }
        self.init(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
                bytes[8], bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
            ))
    }
}
