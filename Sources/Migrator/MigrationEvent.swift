/// What happens during a run, for whoever shows it; `description` is one line for a terminal.
public enum MigrationEvent: Sendable, Hashable, CustomStringConvertible {
    /// Another run holds the lock.
    case waitingForLock
    /// A step begins; in a dry run it would.
    case started(MigrationPlan.Step, isDryRun: Bool)
    /// A step is done and recorded.
    case finished(MigrationPlan.Step)
    /// The server sent a notice while a file ran.
    case notice(String)
    /// A newer release has applied these, and this program can live with them.
    case schemaIsNewer([AppliedMigration])
    /// There was nothing to do.
    case nothingToDo

    /// One line for a terminal.
    public var description: String {
        switch self {
        case .waitingForLock: "another run is at work: waiting for it"
        case .started(let step, let isDryRun): (isDryRun ? "would " : "") + "\(step)"
        case .finished(let step): "\(step): done"
        case .notice(let message): "  \(message)"
        case .schemaIsNewer(let migrations):
            "the schema is newer than this program, which can live with it: "
                + migrations.map(\.shownName).joined(separator: ", ")
        case .nothingToDo: "nothing to do"
        }
    }
}

extension MigrationPlan.Step: CustomStringConvertible {
    /// `apply 0003_create_locations` or `undo 0003_create_locations`.
    public var description: String { (direction == .up ? "apply " : "undo ") + file.name }
}
