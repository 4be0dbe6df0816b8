import PointsOfInterestAPI
import PointsOfInterestServerAPI

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Keeps what people have reported.
///
/// A store belongs to one loop and is used on its thread only.
package protocol ReportStore: AnyObject {
    /// Stores a report, unless there is one with its id, and returns once that is durable.
    func store(_ report: PlaceReport) async throws(EditError)

    /// Reports of a status, the newest first.
    ///
    /// - Parameter position: where the page begins, of the page before; nil for the first.
    func reports(
        _ status: ReportStatus, from position: Int64?, count: Int
    ) async throws(EditError) -> ReportsPage

    /// Changes a report, and returns it as it is then; nil where there is none with the id.
    func change(
        _ id: UUID, _ change: ReportChange, editor: String
    ) async throws(EditError) -> ReceivedReport?

    /// Removes all that is known of a report. Returns whether there was one with the id.
    func remove(_ id: UUID) async throws(EditError) -> Bool
}

/// A report as editors see it.
package struct ReceivedReport: Hashable, Sendable {
    package let report: PlaceReport
    /// When it came, as text of RFC 3339.
    package let reportedAt: String
    package var status: ReportStatus
    package var note: String?
    /// The editor who changed it last, and when; nil where nobody has.
    package var lastChange: (editor: String, time: String)?

    package init(
        _ report: PlaceReport, reportedAt: String, status: ReportStatus = .open, note: String? = nil,
        lastChange: (editor: String, time: String)? = nil
    ) {
        self.report = report
        self.reportedAt = reportedAt
        self.status = status
        self.note = note
        self.lastChange = lastChange
    }

    package static func == (one: Self, other: Self) -> Bool { one.json == other.json }

    package func hash(into hasher: inout Hasher) { hasher.combine(report) }

    /// The report as an item of `GET /reports`.
    package var json: [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        writer.members(of: report)
        writer.member("reportedAt", reportedAt)
        writer.member("status", status.rawValue)
        writer.member("note", note)
        writer.member("changedBy", lastChange?.editor)
        writer.member("changedAt", lastChange?.time)
        writer.endObject()
        return writer.bytes
    }
}

/// Some of the reports.
package struct ReportsPage: Hashable, Sendable {
    package let reports: [ReceivedReport]
    /// Where the next page begins; nil where there is none.
    package let next: Int64?

    package init(_ reports: [ReceivedReport], next: Int64?) {
        self.reports = reports
        self.next = next
    }
}
