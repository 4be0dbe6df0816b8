import Migrator
import POIDatabase
import POIService

/// `poi migrate up|down|status|new|validate`: changes and checks the database's schema.
enum MigrateCommand {
    private static let usage =
        "poi migrate up|down|status|new TITLE|validate [--to VERSION] [--dry-run] [--seeds]"

    static func run(_ invocation: Invocation) throws {
        guard let action = invocation.line.words.dropFirst().first else {
            throw ConfigurationError("expected \(usage)")
        }
        try invocation.refuseWords(after: action == "new" ? 3 : 2)
        var reader = invocation.settings
        let target = reader.takeOption("--to")
        let database = try DatabaseConfiguration(from: &reader)
        let settings = try MigrationSettings(
            from: &reader, seedsByDefault: invocation.line.switches.contains("--seeds"))
        try reader.refuseUnknownFlags()
        guard !invocation.line.switches.contains("--print-config") else {
            return Terminal.print(reader.summary)
        }
        if action == "new" { return try makeFile(invocation, settings) }

        let migration = try Migration(database, settings: settings) { Terminal.print("\($0)") }
        let isDryRun = invocation.line.switches.contains("--dry-run")
        switch action {
        case "up": try migration.run(.up(to: target), isDryRun: isDryRun)
        case "down": try migration.run(.down(to: target), isDryRun: isDryRun)
        case "status": Terminal.print("\(try migration.status())")
        case "validate": try migration.validate()
        default: throw ConfigurationError("unknown action \(action); expected \(usage)")
        }
    }

    private static func makeFile(_ invocation: Invocation, _ settings: MigrationSettings) throws {
        guard let title = invocation.line.words.dropFirst(2).first else {
            throw ConfigurationError("expected poi migrate new 'verb object'")
        }
        let path = try MigrationDirectory.makeFile(
            title: title, path: settings.path, kind: settings.includesSeeds ? .seed : .schema)
        Terminal.print(path)
    }
}
