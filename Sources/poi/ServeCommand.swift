import Foundation
import POIDatabase
import POIService

/// `poi serve`: serves from a database that somebody else runs.
enum ServeCommand {
    static func run(_ invocation: Invocation) throws {
        try invocation.refuseWords(after: 1)
        var reader = invocation.settings
        let configuration = try ServiceConfiguration(
            from: &reader, processorCount: ProcessInfo.processInfo.activeProcessorCount)
        let database = try DatabaseConfiguration(from: &reader)
        let events = try EventDatabaseConfiguration(from: &reader, database: database)
        let migrations = try MigrationSettings(from: &reader)
        try reader.refuseUnknownFlags()
        guard !invocation.line.switches.contains("--print-config") else {
            return try Terminal.print(reader.summary)
        }
        StopSignals.ignoreHangup()
        try DatabaseService(
            configuration: configuration, database: database, events: events,
            migrations: try migrations.directory()
        ).run { Terminal.tell("serving \($0)") }
    }
}
