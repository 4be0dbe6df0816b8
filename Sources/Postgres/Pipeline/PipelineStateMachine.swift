/// The order of what is in flight on a connection in pipeline mode, and what each of libpq's results means.
///
/// A query on the wire is Parse if its statement isn't prepared yet, then Bind, Execute and a Sync. It is over at its Sync
/// and not before, since the Sync is a commit, which a deferred constraint may fail.
///
/// A value without a socket (PostgreSQL manual, "Pipeline Mode").
struct PipelineStateMachine<Query> {
    /// What `PQgetResult` returned.
    enum Received: Hashable {
        /// Rows or a completed command.
        case success
        /// An error.
        case failure
        /// Not run, because an earlier command before the same Sync failed.
        case aborted
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
        case prepared(Query)
        /// The statement of this query is not on the server, and the result says why.
        case failPreparing(Query)
        case keepRows(Query)
        case keepError(Query)
        case finish(Query)
        /// Results and bookkeeping disagree: the connection cannot be trusted any more.
        case giveUp
    }

    private struct Entry {
        let query: Query
        var step: Step
    }

    private enum Step {
        case awaitsPrepare, awaitsRows, awaitsEnd, awaitsSync
    }

    private var entries = FirstInFirstOut<Entry>()
    private var consecutiveEnds = 0

    /// How many queries are in flight.
    var count: Int { entries.count }

    /// The queries in flight, oldest first.
    var queries: [Query] { entries.elements.map(\.query) }

    /// A query has been handed to libpq, and a Sync behind it.
    mutating func sent(_ query: Query, preparing: Bool) {
        entries.append(Entry(query: query, step: preparing ? .awaitsPrepare : .awaitsRows))
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
            advance(to: step == .awaitsRows ? .awaitsEnd : step)
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

    /// One command's results have ended.
    private mutating func receiveEnd(of entry: Entry) -> Action {
        consecutiveEnds += 1
        if entry.step == .awaitsEnd {
            advance(to: .awaitsSync)
            return .ignore
        }
        // One of these ends each command; a third in a row means that libpq expects no more results.
        return consecutiveEnds > 2 ? .giveUp : .ignore
    }

    /// Forgets everything, because the connection is gone, and returns what was in flight.
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

/// A queue in an array: appending and removing the first take constant time on average.
struct FirstInFirstOut<Element> {
    private var storage: [Element?] = []
    private var head = 0

    /// How many elements there are.
    var count: Int { storage.count - head }
    /// Whether there is none.
    var isEmpty: Bool { count == 0 }
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
