import Locking
import Migrator
import POIDatabase
import Program

/// `poi migrate up|down|status|new|validate`: changes and checks the database's schema.
enum MigrateCommand {
    private static let usage =
        "poi migrate up|down|status|new TITLE|validate [--to VERSION] [--dry-run] [--yes] [--seeds]"

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
        if try invocation.printsConfiguration(reader) { return }
        if action == "new" { return try makeFile(invocation, settings) }

        // A run goes on where nobody reads its output: its result is in the database.
        let migration = try Migration(database, settings: settings) { Terminal.tell("\($0)") }
        let isDryRun = invocation.line.switches.contains("--dry-run")
        let up = MigrationPlan.Command.up(to: target)
        switch action {
        case "up" where isDryRun: try dryRun(up, database, settings)
        case "up": try migration.run(up)
        case "down" where isDryRun: try dryRun(.down(to: target), database, settings)
        case "down":
            if !invocation.line.switches.contains("--yes") {
                try refuseLoss(.down(to: target), database, settings)
            }
            try migration.run(.down(to: target))
        case "status": try Terminal.print("\(try migration.status())")
        case "validate": try migration.validate()
        default: throw ConfigurationError("unknown action \(action); expected \(usage)")
        }
    }

    /// Shows what a run would do. The output is the only result, so it is an error where it can't be written.
    private static func dryRun(
        _ command: MigrationPlan.Command, _ database: DatabaseConfiguration, _ settings: MigrationSettings
    ) throws {
        let lines = Lock<[String]>([])
        let migration = try Migration(database, settings: settings) { event in
            lines.withLock { $0.append("\(event)") }
        }
        try migration.run(command, isDryRun: true)
        try Terminal.print(lines.withLock { $0 }.joined(separator: "\n"))
    }

    /// Refuses to undo anything without confirmation: only the files' SQL knows which of them drop data.
    private static func refuseLoss(
        _ command: MigrationPlan.Command, _ database: DatabaseConfiguration, _ settings: MigrationSettings
    ) throws {
        let plan = try Migration(database, settings: settings) { _ in }.run(command, isDryRun: true)
        guard !plan.steps.isEmpty else { return }
        let names = plan.steps.map(\.file.name).joined(separator: ", ")
        throw ConfigurationError(
            "migrate down would undo \(names) and drop what was made by it, with all data in it; "
                + "confirm with --yes")
    }

    private static func makeFile(_ invocation: Invocation, _ settings: MigrationSettings) throws {
        guard let title = invocation.line.words.dropFirst(2).first else {
            throw ConfigurationError("expected poi migrate new 'verb object'")
        }
        let kind: MigrationFile.Kind = settings.includesSeeds ? .seed : .schema
        let path = try MigrationDirectory.makeFile(title: title, path: settings.path, kind: kind)
        try Terminal.print(path)
    }
}
