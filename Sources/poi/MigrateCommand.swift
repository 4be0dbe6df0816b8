import Migrator
import POIDatabase
import Program

/// `poi migrate up|down|status|validate`: changes and checks the database's schema.
enum MigrateCommand {
    private static let usage = "poi migrate up [--seeds]|down [--yes]|status|validate"

    static func run(_ invocation: Invocation) throws {
        guard let action = invocation.line.words.dropFirst().first else {
            throw ConfigurationError("expected \(usage)")
        }
        try invocation.refuseWords(after: 2)
        let switches = invocation.line.switches
        // A switch of other commands, and whoever gives it here wants nothing changed.
        guard !switches.contains("--dry-run") else {
            throw ConfigurationError("migrate has no --dry-run: poi migrate status shows what is pending")
        }
        var reader = invocation.settings
        let database = try DatabaseConfiguration(from: &reader)
        let settings = try MigrationSettings(from: &reader, seedsByDefault: switches.contains("--seeds"))
        if try invocation.printsConfiguration(reader) { return }

        // A run goes on where nobody reads its output: its result is in the database.
        let migration = try Migration(database, settings: settings) { Terminal.tell("\($0)") }
        switch action {
        case "up": try migration.run(.up)
        case "down":
            if !switches.contains("--yes") { try refuseLoss(by: migration.plan(.down)) }
            try migration.run(.down)
        case "status": try Terminal.print("\(try migration.status())")
        case "validate": try migration.validate()
        default: throw ConfigurationError("unknown action \(action); expected \(usage)")
        }
    }

    /// Refuses to undo anything without confirmation: only the file's SQL knows whether it drops data.
    private static func refuseLoss(by plan: MigrationPlan) throws {
        guard let step = plan.steps.first else { return }
        throw ConfigurationError(
            "migrate down would undo \(step.file.name) and drop what was made by it, with all data in it; confirm with --yes"
        )
    }
}
