import Foundation
import POIDatabase
import Program

/// `poi reindex`: makes every server read all places again.
enum ReindexCommand {
    static func run(_ invocation: Invocation) throws {
        try invocation.refuseWords(after: 1)
        var reader = invocation.settings
        let database = try DatabaseConfiguration(from: &reader)
        if try invocation.printsConfiguration(reader) { return }
        try DatasetRenewal(database).run { Terminal.tell($0) }
    }
}

/// `poi index forget`: removes the files in which a server keeps its places.
enum IndexCommand {
    static func run(_ invocation: Invocation) throws {
        guard invocation.line.words.dropFirst().first == "forget" else {
            throw ConfigurationError("expected poi index forget")
        }
        try invocation.refuseWords(after: 2)
        var reader = invocation.settings
        let directory = try IndexDirectory(from: &reader)
        if try invocation.printsConfiguration(reader) { return }
        guard let directory else {
            throw ConfigurationError("POI_INDEX_DIR: expected the folder of the files")
        }
        let count = try directory.forget()
        Terminal.tell("files removed from \(directory.path): \(count)")
    }
}

/// `poi maintain`: what has to be done once a day, of all that is kept for a time.
enum MaintainCommand {
    static func run(_ invocation: Invocation) throws {
        try invocation.refuseWords(after: 1)
        var reader = invocation.settings
        let database = try DatabaseConfiguration(from: &reader)
        let events = try EventMaintenance(database, from: &reader)
        let days = try reader.read(.historyRetention)
        let reports = try ReportMaintenance(database, from: &reader)
        if try invocation.printsConfiguration(reader) { return }
        try events.run { Terminal.tell("events: \($0)") }
        for line in try PlaceHistory(database).maintain(keepingDays: days) {
            Terminal.tell("history: \(line)")
        }
        Terminal.tell("reports: \(try reports.run()) deleted")
    }
}

/// `poi events maintain|export`: makes and drops partitions of the table of events, and exports its events.
enum EventsCommand {
    private static let usage =
        "poi events maintain | poi events export --since DAY [--until DAY] [--format ndjson|csv] "
        + "[--output FILE] [--include-tests]"

    static func run(_ invocation: Invocation) throws {
        guard let action = invocation.line.words.dropFirst().first else {
            throw ConfigurationError("expected \(usage)")
        }
        try invocation.refuseWords(after: 2)
        switch action {
        case "maintain": try maintain(invocation)
        case "export": try export(invocation)
        default: throw ConfigurationError("unknown action \(action); expected \(usage)")
        }
    }

    private static func maintain(_ invocation: Invocation) throws {
        var reader = invocation.settings
        let database = try DatabaseConfiguration(from: &reader)
        let maintenance = try EventMaintenance(database, from: &reader)
        if try invocation.printsConfiguration(reader) { return }
        try maintenance.run { Terminal.tell($0) }
    }

    private static func export(_ invocation: Invocation) throws {
        var reader = invocation.settings
        let options = try EventExportOptions(
            from: &reader, includesTests: invocation.line.switches.contains("--include-tests"))
        let database = try DatabaseConfiguration(from: &reader)
        if try invocation.printsConfiguration(reader) { return }
        let export = EventExport(database, options.selection, format: options.format)
        let file = try OutputFile(path: options.outputPath)
        let progress = ProgressBar.onTerminal(unit: "events")
        try export.run(write: { try file.write($0) }, onProgress: progress?.update)
        try file.finish()
        progress?.finish()
    }
}

private struct EventExportOptions {
    let selection: EventExport.Selection
    let format: EventExport.Format
    /// The file to write; nil is standard output.
    let outputPath: String?

    init(from reader: inout SettingsReader, includesTests: Bool) throws(ConfigurationError) {
        guard let since = try Self.moment("--since", &reader) else {
            throw ConfigurationError("--since: expected a day or a time, such as 2026-11-01")
        }
        let until = try Self.moment("--until", &reader)
        if let until, until <= since {
            throw ConfigurationError("--until: expected a time after that of --since")
        }
        selection = EventExport.Selection(
            sinceMicroseconds: since, untilMicroseconds: until, includesTests: includesTests)
        let name = reader.takeOption("--format") ?? EventExport.Format.ndjson.rawValue
        guard let format = EventExport.Format(rawValue: name) else {
            throw ConfigurationError("--format=\(name): expected ndjson or csv")
        }
        self.format = format
        outputPath = reader.takeOption("--output")
        if outputPath?.isEmpty == true { throw ConfigurationError("--output: expected the path of a file") }
    }

    /// A day in UTC, or a time by RFC 3339, in microseconds since 1970.
    private static func moment(
        _ option: String, _ reader: inout SettingsReader
    ) throws(ConfigurationError) -> Int64? {
        guard let text = reader.takeOption(option) else { return nil }
        let clock = /T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(Z|[+-]([01]\d|2[0-3]):[0-5]\d)/
        let (day, time) = (text.prefix(10), text.dropFirst(10))
        guard time.isEmpty || time.wholeMatch(of: clock) != nil,
            // The parser would read the 30th of February as the 2nd of March.
            let midnight = try? Date(day + "T00:00:00Z", strategy: .iso8601),
            midnight.formatted(.iso8601.year().month().day()) == day,
            let date = try? Date(day + (time.isEmpty ? "T00:00:00Z" : time), strategy: .iso8601)
        else {
            throw ConfigurationError(
                "\(option)=\(text): expected a day or a time, such as 2026-11-01 or 2026-11-01T12:00:00Z")
        }
        // Years have four digits, so this is in range.
        return Int64(date.timeIntervalSince1970.rounded()) * 1_000_000
    }
}
