/// The order of what is in flight on a connection in pipeline mode, and what each of libpq's results means.
///
/// A group on the wire ends with a Sync. Mostly it is one query: Parse if its statement isn't prepared yet,
/// then Bind and Execute. That query is over at its Sync and not before, since the Sync is a commit, which a deferred
/// constraint may fail. Queries that only read may share one: all but the last are over when their rows have
/// come, and where one fails, the server skips those behind it, which have to be sent again.
///
/// A value without a socket (PostgreSQL manual, "Pipeline Mode").
struct PipelineStateMachine<Query> {
    /// What `PQgetResult` returned.
    enum Received: Hashable {
        /// Rows or a completed command.
        case success
        /// An error.
        case failure
        /// Not run, because an earlier command of its group failed.
        case aborted
        /// No result: this was the end of one command's results.
        case endOfCommand
        /// A Sync has been reached.
        case sync
        /// Something that no command of a pipeline results in.
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
        /// The query was not run, because one before it in its group failed; it has to be sent again once it is
        /// over.
        case sendAgain(Query)
        /// The query is over.
        case finish(Query)
        /// Results and bookkeeping disagree: the connection cannot be trusted any more.
        case giveUp
    }

    private struct Entry {
        let query: Query
        var step: Step
        /// Whether a Sync comes behind it.
        var endsGroup: Bool
    }

    private enum Step {
        case awaitsPrepare, awaitsRows, awaitsEnd, awaitsSync
    }

    private var entries = FirstInFirstOut<Entry>()
    private var consecutiveEnds = 0
    /// Whether a query of the group whose results are coming has failed.
    private var hasFailed = false

    /// How many queries are in flight.
    var count: Int { entries.count }

    /// The queries in flight, oldest first.
    var queries: [Query] { entries.elements.map(\.query) }

    /// A query has been handed to libpq, and a Sync behind it if it ends its group.
    mutating func sent(_ query: Query, preparing: Bool, endsGroup: Bool = true) {
        entries.append(
            Entry(query: query, step: preparing ? .awaitsPrepare : .awaitsRows, endsGroup: endsGroup))
    }

    /// A Sync has been handed to libpq, behind the query that was sent last.
    mutating func sentSync() {
        entries.updateLast { $0.endsGroup = true }
    }

    /// Takes libpq's next result.
    mutating func receive(_ received: Received) -> Action {
        guard let entry = entries.first else { return received == .endOfCommand ? .ignore : .giveUp }
        if received == .endOfCommand { return receiveEnd(of: entry) }
        consecutiveEnds = 0
        switch (received, entry.step) {
        case (.success, .awaitsPrepare):
            advance(to: .awaitsRows)
            return .prepared(entry.query)
        case (.success, .awaitsRows):
            advance(to: .awaitsEnd)
            return .keepRows(entry.query)
        case (.failure, .awaitsPrepare):
            advance(to: .awaitsSync)
            return .failPreparing(entry.query)
        case (.failure, let step):
            hasFailed = true
            advance(to: step == .awaitsRows ? .awaitsEnd : step)
            return .keepError(entry.query)
        case (.aborted, .awaitsRows) where hasFailed:
            advance(to: .awaitsEnd)
            return .sendAgain(entry.query)
        case (.aborted, .awaitsSync):
            return .ignore
        case (.sync, .awaitsSync):
            hasFailed = false
            _ = entries.popFirst()
            return .finish(entry.query)
        default:
            return .giveUp
        }
    }

    /// One command's results have ended.
    private mutating func receiveEnd(of entry: Entry) -> Action {
        consecutiveEnds += 1
        if entry.step == .awaitsEnd {
            if entry.endsGroup {
                advance(to: .awaitsSync)
                return .ignore
            }
            _ = entries.popFirst()
            return .finish(entry.query)
        }
        // One of these ends each command; a third in a row means that libpq expects no more results.
        return consecutiveEnds > 2 ? .giveUp : .ignore
    }

    /// Forgets everything, because the connection is gone, and returns what was in flight.
    mutating func removeAll() -> [Query] {
        let queries = queries
        entries = FirstInFirstOut()
        consecutiveEnds = 0
        hasFailed = false
        return queries
    }

    private mutating func advance(to step: Step) {
        entries.updateFirst { $0.step = step }
    }
}

/// A queue in an array: appending and removing the first take constant time on average.
struct FirstInFirstOut<Element> {
    private var storage: [Element?] = []
    private var head = 0

    /// How many elements there are.
    var count: Int { storage.count - head }
    /// Whether there is none.
    var isEmpty: Bool { count == 0 }
    /// The oldest.
    var first: Element? { isEmpty ? nil : storage[head] }
    /// All of them, oldest first.
    var elements: [Element] { storage[head...].compactMap { $0 } }

    mutating func append(_ element: Element) {
        storage.append(element)
    }

    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = storage[head]
        storage[head] = nil
        head += 1
        if head == storage.count {
            storage.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 64 && head * 2 >= storage.count {
            storage.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Changes the oldest in place.
    mutating func updateFirst(_ change: (inout Element) -> Void) {
        guard var element = first else { return }
        change(&element)
        storage[head] = element
    }

    /// Changes the newest in place.
    mutating func updateLast(_ change: (inout Element) -> Void) {
        guard !isEmpty, var element = storage[storage.count - 1] else { return }
        change(&element)
        storage[storage.count - 1] = element
    }

    /// Removes every element that `isRemoved` picks, and returns them, oldest first.
    mutating func removeAll(where isRemoved: (Element) -> Bool) -> [Element] {
        var removed: [Element] = []
        var kept: [Element?] = []
        for element in elements {
            if isRemoved(element) { removed.append(element) } else { kept.append(element) }
        }
        storage = kept
        head = 0
        return removed
    }
}
