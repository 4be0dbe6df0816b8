import Foundation
import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Telemetry

/// A store of reports in memory, for the mock server and for tests. When it is full, the oldest reports are forgotten. Confined to
/// its loop.
package final class MemoryReportStore: ReportStore {
    /// In the order in which they came, with their numbers.
    private var received: [(number: Int64, report: ReceivedReport)] = []
    private var lastNumber: Int64 = 0
    private let limit: Int

    package init(limit: Int = 1000) {
        self.limit = max(1, limit)
    }

    /// The reports so far, in the order in which they came.
    package var reports: [PlaceReport] { received.map(\.report.report) }

    package func store(_ report: PlaceReport) async throws(EditError) {
        guard !received.contains(where: { $0.report.report.id == report.id }) else { return }
        lastNumber += 1
        received.append((lastNumber, ReceivedReport(report, reportedAt: Self.now)))
        if received.count > limit { received.removeFirst() }
    }

    package func reports(
        _ status: ReportStatus, from position: Int64?, count: Int
    ) async throws(EditError) -> ReportsPage {
        let found = received.reversed().filter { $0.report.status == status && $0.number < position ?? .max }
        let page = found.prefix(count)
        return ReportsPage(page.map(\.report), next: found.count > count ? page.last?.number : nil)
    }

    package func change(
        _ id: UUID, _ change: ReportChange, editor: String
    ) async throws(EditError) -> ReceivedReport? {
        guard let index = received.firstIndex(where: { $0.report.report.id == id }) else { return nil }
        if let status = change.status { received[index].report.status = status }
        if let note = change.note { received[index].report.note = note }
        received[index].report.lastChange = (editor, Self.now)
        return received[index].report
    }

    package func remove(_ id: UUID) async throws(EditError) -> Bool {
        let count = received.count
        received.removeAll { $0.report.report.id == id }
        return received.count < count
    }

    private static var now: String {
        Date(timeIntervalSince1970: Double(Timestamp.now.seconds)).formatted(.iso8601)
    }
}
