/// How long a task has waited for others, and for whom.
public struct WaitTimes: Sendable, Hashable {
    /// Time waited for a turn: for a place in a queue, a connection or a helper thread; nil if it needed none.
    public fileprivate(set) var turnNanoseconds: Int64?
    /// Time waited for a database, once it had a connection: 0 if it got none, nil if it needed none.
    public fileprivate(set) var databaseNanoseconds: Int64?
    /// The database server that was asked last, by host and port; nil where there was no connection.
    public fileprivate(set) var server: String?
}

/// Adds up what a task waits for, for the log. Code that makes a task wait adds to the times of the current task, so
/// that no function in between has to pass them on.
///
/// Confined to its loop.
public final class TaskWaits {
    /// The waits of the current task and of tasks that it starts; nil if nobody reads them.
    @TaskLocal public static var current: LoopBound<TaskWaits>?

    /// What has been added up so far.
    public private(set) var times = WaitTimes()

    /// Nothing so far.
    public init() {}

    /// The task has waited for its turn.
    public func addTurn(nanoseconds: Int64) {
        times.turnNanoseconds = (times.turnNanoseconds ?? 0) + nanoseconds
    }

    /// The task has waited for a connection to a database.
    public func addConnection(nanoseconds: Int64) {
        addTurn(nanoseconds: nanoseconds)
        times.databaseNanoseconds = times.databaseNanoseconds ?? 0
    }

    /// The task has waited for a database.
    ///
    /// - Parameter server: where the query was; nil where others have asked, for this task too.
    public func addQuery(nanoseconds: Int64, server: String?) {
        times.databaseNanoseconds = (times.databaseNanoseconds ?? 0) + nanoseconds
        times.server = server ?? times.server
    }

    /// The task has waited for work that others waited for, too.
    public func add(_ shared: WaitTimes) {
        if let time = shared.turnNanoseconds { addTurn(nanoseconds: time) }
        if let time = shared.databaseNanoseconds { addQuery(nanoseconds: time, server: shared.server) }
    }
}
