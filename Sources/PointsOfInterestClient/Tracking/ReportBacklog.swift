import Foundation
import PointsOfInterestHTTP

/// The reports that wait in a queue, as a value. Its records are those of events: what is added, dropped and restarted.
struct ReportBacklog: JournaledBacklog, Sendable {
    /// A report that waits.
    struct Entry {
        let number: UInt64
        let id: UUID
        let json: [UInt8]
    }

    /// All that has to be known of a report besides its JSON: a later version of the app may have written it.
    private struct Envelope: Decodable {
        let id: UUID
    }

    /// None: a text that a person wrote doesn't stay in the file once it is sent.
    static let toleratedBytes = 0

    /// The maximum number of reports.
    let limit: Int
    /// Oldest first, so in the order of their numbers.
    private(set) var entries: [Entry] = []
    private var nextNumber: UInt64 = 1

    init(limit: Int) {
        self.limit = limit
    }

    var isEmpty: Bool { entries.isEmpty }
    var byteCount: Int { entries.reduce(0) { $0 + $1.json.count } }
    var records: [JournalRecord] { entries.map { .event(number: $0.number, json: $0.json) } }

    /// Appends a report, and drops the oldest one where the backlog is full. Returns the records of that.
    mutating func append(_ report: PlaceReport) -> [JournalRecord] {
        var records = [JournalRecord.event(number: nextNumber, json: report.json)]
        if entries.count >= limit, let oldest = entries.first {
            records.append(.dropped([oldest.number], .full))
        }
        for record in records { apply(record) }
        return records
    }

    mutating func apply(_ record: JournalRecord) {
        switch record {
        case .event(let number, let json):
            guard number >= nextNumber, number < .max,
                let report = try? JSONDecoder().decode(Envelope.self, from: Data(json))
            else { return }
            entries.append(Entry(number: number, id: report.id, json: json))
            nextNumber = number + 1
        case .dropped(let numbers, _): entries.removeAll { numbers.contains($0.number) }
        case .restarted: self = ReportBacklog(limit: limit)
        // Only events have these.
        case .report, .acknowledged, .counted: break
        }
    }

    /// Nobody is told: the report can't be read.
    mutating func addDamage() {}
}
