import Foundation
import POIDatabase
import POIService

/// `poi events maintain|export`: cares for the table of events, and hands out what is in it.
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
        try reader.refuseUnknownFlags()
        guard !invocation.line.switches.contains("--print-config") else {
            return try Terminal.print(reader.summary)
        }
        try maintenance.run { Terminal.tell($0) }
    }

    private static func export(_ invocation: Invocation) throws {
        var reader = invocation.settings
        let options = try EventExportOptions(
            from: &reader, includesTests: invocation.line.switches.contains("--include-tests"))
        let database = try DatabaseConfiguration(from: &reader)
        try reader.refuseUnknownFlags()
        guard !invocation.line.switches.contains("--print-config") else {
            return try Terminal.print(reader.summary)
        }
        let export = EventExport(database, options.selection, format: options.format)
        let file = try OutputFile(path: options.outputPath)
        let progress = isatty(STDERR_FILENO) == 1 ? ProgressBar(unit: "events") : nil
        var onProgress: (@Sendable (Int, Int) -> Void)?
        if let progress { onProgress = { done, total in progress.show(done, of: total) } }
        try export.run(write: { try file.write($0) }, onProgress: onProgress)
        try file.finish()
        progress?.finish()
    }
}
