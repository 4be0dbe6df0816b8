import Foundation
import Testing

@testable import POIService
@testable import Telemetry

/// `Documentation/observability.md` against the code.
@Suite("The document about logs and metrics")
struct ObservabilityDocumentTests {
    private static let package = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in
        url.deletingLastPathComponent()
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: package.appending(path: path), encoding: .utf8)
    }

    /// The first cells of a section's table, without their quotes, each with its row.
    private static func rows(of section: String) throws -> [String: String] {
        let sections = try text("Documentation/observability.md").components(separatedBy: "\n## ")
        let body = try #require(sections.first { $0.hasPrefix(section + "\n") })
        let rows = body.split(separator: "\n").compactMap { line in
            line.firstMatch(of: /^\| `([a-z_-]+)` \|/).map { (String($0.1), String(line)) }
        }
        return Dictionary(rows) { first, _ in first }
    }

    @Test("The document explains exactly the metrics that exist, with their kinds and labels")
    func metrics() throws {
        let rows = try Self.rows(of: "Metrics")
        #expect(Set(rows.keys) == Set(MetricDefinition.all.map(\.name)))
        for metric in MetricDefinition.all {
            let row = try #require(rows[metric.name], "\(metric.name)")
            #expect(row.contains("| \(metric.kind.rawValue) |"), "\(row)")
            for label in metric.labels { #expect(row.contains("`\(label)`"), "\(row)") }
        }
    }

    @Test("The document explains exactly the events of the log that exist")
    func events() throws {
        let events = try ["Observation", "IndexObservation"].flatMap { file in
            let source = try Self.text("Sources/Telemetry/Log/\(file).swift")
            let names = try #require(
                source.components(separatedBy: "var name: String").dropFirst().first?
                    .components(separatedBy: "var message: String").first)
            return names.matches(of: /case \.\w+: "([a-z-]+)"/).map { String($0.1) }
        }
        #expect(events.contains("listening"))
        #expect(Set(try Self.rows(of: "Events").keys) == Set(events + ["request"]))
    }
}
