import Foundation
import POIDatabase
import POIService

/// `poi dev`: serves from a private PostgreSQL of its own, migrated and seeded.
enum DevCommand {
    static func run(_ invocation: Invocation) throws {
        try invocation.refuseWords(after: 1)
        var reader = invocation.settings
        let configuration = try ServiceConfiguration(
            from: &reader, processorCount: ProcessInfo.processInfo.activeProcessorCount,
            isDevelopment: true)
        let migrations = try MigrationSettings(from: &reader, seedsByDefault: true)
        let state = try DevelopmentState(from: &reader)
        var database = try DatabaseConfiguration(from: &reader)
        var events = try EventDatabaseConfiguration(from: &reader, database: database)
        try reader.refuseUnknownFlags()
        guard !invocation.line.switches.contains("--print-config") else {
            return try Terminal.print(reader.summary)
        }
        let url = try state.start()
        defer { state.stop() }
        try database.use(connectionString: url)
        try events.use(connectionString: url)
        try Migration(database, settings: migrations) { Terminal.printError("\($0)") }.run(.up(to: nil))
        Terminal.tell("DATABASE_URL=\(url)")
        try DatabaseService(
            configuration: configuration, database: database, events: events,
            migrations: try migrations.directory()
        ).run { address in
            Terminal.tell("serving \(address)")
            Terminal.tell("try: curl '\(address)/locations?lat=37.3293&long=-121.8893'")
        }
    }
}
