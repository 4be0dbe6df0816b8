/// The order of what is in flight on a connection in pipeline mode, and what each of libpq's results means.
///
/// A query is one group on the wire: Parse if its statement isn't prepared yet, then Bind and Execute, then
/// Sync. It is over at its Sync and not before: a deferred constraint may fail the commit that Sync is.
/// A value without a socket (PostgreSQL manual, "Pipeline Mode").
struct PipelineStateMachine<Query> {
    /// What `PQgetResult` answered.
    enum Answer: Hashable {
        /// Rows or a completed command.
        case success
        /// An error.
        case failure
        /// Not run, because an earlier command of its group failed.
        case aborted
        /// No result: one command's results have ended.
        case endOfCommand
        /// A Sync has been reached.
        case sync
        /// Something that no command of a pipeline answers.
        case unknown
    }

    /// What the connection has to do about it.
    enum Action {
        /// Nothing.
        case ignore
        /// The statement of this query is on the server now.
        case prepared(Query)
        /// The statement of this query is not on the server, and the result says why.
        case failPreparing(Query)
        /// The result holds this query's rows.
        case keepRows(Query)
        /// The result holds this query's error.
        case keepError(Query)
        /// The query is over.
        case finish(Query)
        /// Results and bookkeeping disagree: the connection cannot be trusted any more.
        case giveUp
    }

    private struct Entry {
        let query: Query
        var step: Step
    }

    private enum Step {
        case awaitsPrepare, awaitsRows, awaitsSync
    }

    private var entries = FirstInFirstOut<Entry>()
    private var consecutiveEnds = 0

    /// How many queries are in flight.
    var count: Int { entries.count }

    /// The queries in flight, oldest first.
    var queries: [Query] { entries.elements.map(\.query) }

    /// A query's group has been handed to libpq.
    mutating func sent(_ query: Query, preparing: Bool) {
        entries.append(Entry(query: query, step: preparing ? .awaitsPrepare : .awaitsRows))
    }

    /// Takes libpq's next result.
    mutating func receive(_ answer: Answer) -> Action {
        guard let entry = entries.first else { return answer == .endOfCommand ? .ignore : .giveUp }
        if answer == .endOfCommand {
            // One ends each command; a third in a row means that libpq waits for nothing.
            consecutiveEnds += 1
            return consecutiveEnds > 2 ? .giveUp : .ignore
        }
        consecutiveEnds = 0
        switch (answer, entry.step) {
        case (.success, .awaitsPrepare):
            advance(to: .awaitsRows)
            return .prepared(entry.query)
        case (.success, .awaitsRows):
            advance(to: .awaitsSync)
            return .keepRows(entry.query)
        case (.failure, .awaitsPrepare):
            advance(to: .awaitsSync)
            return .failPreparing(entry.query)
        case (.failure, _):
            advance(to: .awaitsSync)
            return .keepError(entry.query)
        case (.aborted, .awaitsSync):
            return .ignore
        case (.sync, .awaitsSync):
            _ = entries.popFirst()
            return .finish(entry.query)
        default:
            return .giveUp
        }
    }

    /// Forgets everything, because the connection is gone, and answers what was in flight.
    mutating func removeAll() -> [Query] {
        let queries = queries
        entries = FirstInFirstOut()
        consecutiveEnds = 0
        return queries
    }

    private mutating func advance(to step: Step) {
        entries.updateFirst { $0.step = step }
    }
}
