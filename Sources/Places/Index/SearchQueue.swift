import EventLoop
import Locking
import SpatialIndex
import Synchronization

/// Runs the searches that take longer than a loop may spend on one, on helper threads.
///
/// The clients take turns, and only one search of each client runs at a time. So a single client, however much it asks
/// for, leaves a thread to the others.
///
/// If the time of a search is up, or its client has gone, the search isn't begun, or it ends early. Any thread.
final class SearchQueue: Sendable {
    private struct Search {
        let ticket: Ticket
        /// Runs it, or reports why it isn't run. Called once.
        let run: @Sendable (_ refusal: PlaceStoreError?) -> Void
    }

    private struct State {
        var searches = FairQueue<IPAddress, Search>(maximumOfClient: maximumOfClient, maximum: maximum)
        var running: Set<IPAddress> = []
        /// The threads that run no search.
        var idle = (0..<threadCount).map { _ in BlockingThread(name: "poi-search", capacity: 1, yields: true)
        }

        /// A thread for a search that was added; nil if no thread is idle, or if a search of the client is running,
        /// whose thread then goes on with those that wait.
        mutating func threadForSearch(of client: IPAddress) -> BlockingThread? {
            running.contains(client) ? nil : idle.popLast()
        }

        /// Takes out the next search for a thread. If there is none, the thread becomes idle.
        mutating func next(for thread: BlockingThread, after last: IPAddress?) -> (IPAddress, Search)? {
            if let last { running.remove(last) }
            guard let next = searches.next(where: { !running.contains($0) }) else {
                idle.append(thread)
                return nil
            }
            running.insert(next.client)
            return next
        }
    }

    static let (maximumOfClient, maximum) = (8, 256)
    /// Few, since loops need the processors, too.
    static let threadCount = 2

    private let state = Lock(State())

    /// Runs a search.
    ///
    /// - Parameters:
    ///   - deadline: when it must have ended, by `MonotonicClock`.
    ///   - search: finds the value; nil if its `SearchStop` has ended it.
    /// - Throws: `overloaded` if too many searches wait; `timeout` once the deadline has passed; `cancelled` if the
    ///   task is cancelled.
    func run<Value: Sendable>(
        for client: IPAddress, until deadline: Duration,
        _ search: @escaping @Sendable (SearchStop) -> Value?
    ) async throws(PlaceStoreError) -> Value {
        let ticket = Ticket(deadline: deadline)
        let result: Result<Value, PlaceStoreError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiting = Search(ticket: ticket) { refusal in
                    continuation.resume(returning: ticket.result(of: search, refusal: refusal))
                }
                if let refusal = add(waiting, of: client) { waiting.run(refusal) }
            }
        } onCancel: {
            ticket.cancel()
            remove(ticket, of: client)?.run(.cancelled)
        }
        TaskWaits.current?.value.addTurn(nanoseconds: ticket.waitedNanoseconds)
        return try result.get()
    }

    /// How many searches wait.
    var waitingCount: Int { state.withLock { $0.searches.count } }

    /// Adds a search, and starts a thread for it if one is needed. Returns nil, or why the search can't be added.
    private func add(_ search: Search, of client: IPAddress) -> PlaceStoreError? {
        let (isAdded, thread) = state.withLock { state -> (Bool, BlockingThread?) in
            guard !search.ticket.isCancelled, state.searches.append(search, of: client) else {
                return (false, nil)
            }
            return (true, state.threadForSearch(of: client))
        }
        guard isAdded else { return search.ticket.isCancelled ? .cancelled : .overloaded }
        guard let thread else { return nil }
        do {
            try thread.start { [self] in runSearches(on: thread) }
            return nil
        } catch {
            // The system has no thread: another request tries again.
            state.withLock { $0.idle.append(thread) }
            return remove(search.ticket, of: client) == nil ? nil : .overloaded
        }
    }

    private func runSearches(on thread: BlockingThread) {
        var last: IPAddress?
        while let (client, search) = state.withLock({ $0.next(for: thread, after: last) }) {
            search.run(search.ticket.begin())
            last = client
        }
    }

    private func remove(_ ticket: Ticket, of client: IPAddress) -> Search? {
        state.withLock { $0.searches.remove(of: client) { $0.ticket === ticket } }
    }
}

extension SearchQueue {
    /// A request's wait for its search: how long it may wait, and whether it still does. Any thread.
    private final class Ticket: Sendable {
        private let deadline: Duration
        private let cancelled = Atomic(false)
        private let addedAt = MonotonicClock.nanoseconds()
        /// When a thread took the search; 0 where none has.
        private let begunAt = Atomic<Int64>(0)

        init(deadline: Duration) {
            self.deadline = deadline
        }

        func cancel() { cancelled.store(true, ordering: .relaxed) }

        var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

        /// How long the search waited for its turn.
        var waitedNanoseconds: Int64 {
            let begunAt = begunAt.load(ordering: .relaxed)
            return (begunAt == 0 ? MonotonicClock.nanoseconds() : begunAt) - addedAt
        }

        /// Notes that a thread takes the search. Returns why nobody waits for it any more; nil if somebody does.
        func begin() -> PlaceStoreError? {
            let now = MonotonicClock.nanoseconds()
            begunAt.store(now, ordering: .relaxed)
            return end(at: now, .turn)
        }

        /// Why nobody waits any more; nil while somebody does.
        private func end(at now: Int64, _ awaited: PlaceStoreError.Awaited) -> PlaceStoreError? {
            if isCancelled { return .cancelled }
            return .nanoseconds(now) >= deadline ? .timeout(awaited) : nil
        }

        private var endOfSearch: PlaceStoreError? { end(at: MonotonicClock.nanoseconds(), .search) }

        func result<Value>(
            of search: (SearchStop) -> Value?, refusal: PlaceStoreError?
        ) -> Result<Value, PlaceStoreError> {
            if let refusal { return .failure(refusal) }
            let stop = SearchStop { [self] in endOfSearch != nil }
            // A search that has found something is a success, even if its time was up at the end.
            return search(stop).map { .success($0) } ?? .failure(endOfSearch ?? .timeout(.search))
        }
    }
}

/// A queue in which clients take turns: it gives out one element of each client, then the next one of each.
struct FairQueue<Client: Hashable, Element> {
    private let maximumOfClient, maximum: Int
    private var waiting: [Client: [Element]] = [:]
    /// The clients that wait, each once, in the order of their turns.
    private var turns: [Client] = []
    /// How many elements wait.
    private(set) var count = 0

    init(maximumOfClient: Int, maximum: Int) {
        self.maximumOfClient = maximumOfClient
        self.maximum = maximum
    }

    /// Appends an element to those of its client; false where too many wait.
    mutating func append(_ element: Element, of client: Client) -> Bool {
        guard count < maximum, waiting[client, default: []].count < maximumOfClient else { return false }
        if waiting[client] == nil { turns.append(client) }
        waiting[client, default: []].append(element)
        count += 1
        return true
    }

    /// Takes out the first element of the next client for which `mayHaveTurn` returns true; nil if there is no such
    /// client.
    mutating func next(where mayHaveTurn: (Client) -> Bool = { _ in true }) -> (client: Client, Element)? {
        guard let index = turns.firstIndex(where: mayHaveTurn), let element = waiting[turns[index]]?.first
        else { return nil }
        let client = turns.remove(at: index)
        if take(0, of: client) { turns.append(client) }
        return (client, element)
    }

    /// Takes out an element of a client; nil where it doesn't wait.
    mutating func remove(of client: Client, where isMeant: (Element) -> Bool) -> Element? {
        guard let index = waiting[client]?.firstIndex(where: isMeant), let element = waiting[client]?[index]
        else { return nil }
        if !take(index, of: client) { turns.removeAll { $0 == client } }
        return element
    }

    /// - Returns: whether more elements of the client wait.
    private mutating func take(_ index: Int, of client: Client) -> Bool {
        waiting[client]?.remove(at: index)
        count -= 1
        if waiting[client]?.isEmpty == true { waiting[client] = nil }
        return waiting[client] != nil
    }
}
