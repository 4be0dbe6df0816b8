import EventLoop
import Locking
import SpatialIndex
import Synchronization

/// The searches that take longer than a loop may spend on one: helper threads run them, in turn for each client and one of
/// a client at a time. So a single client, however much it asks for, leaves a thread to the others.
///
/// A search whose time is up, or whose client has gone, isn't begun, and ends if it has begun. Any thread.
final class SearchQueue: Sendable {
    /// A search that waits.
    private struct Search {
        let ticket: Ticket
        /// Runs it, or reports why it isn't run. Called once.
        let run: @Sendable (_ refusal: PlaceStoreError?) -> Void
    }

    private struct State {
        var searches = FairQueue<IPAddress, Search>(maximumOfClient: maximumOfClient, maximum: maximum)
        /// The clients whose searches run.
        var running: Set<IPAddress> = []
        /// The threads that take no searches out.
        var idle = (0..<threadCount).map { _ in BlockingThread(name: "poi-search", capacity: 1, yields: true)
        }

        /// A thread for a search that was added; nil where none is idle, or one will come to it by itself.
        mutating func threadForSearch(of client: IPAddress) -> BlockingThread? {
            running.contains(client) ? nil : idle.popLast()
        }

        /// Takes out the next search for a thread, which becomes idle where there is none.
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

    /// How many searches wait at most of one client, and of all together.
    static let (maximumOfClient, maximum) = (8, 256)
    /// Few, since loops need the processors, too.
    static let threadCount = 2

    private let state = Lock(State())

    /// Runs a search.
    ///
    /// - Parameters:
    ///   - client: who asked for it.
    ///   - deadline: when it must have ended, by `MonotonicClock`.
    ///   - search: finds the value; nil where its `SearchStop` has ended it.
    /// - Throws: `overloaded` where too many searches wait; `timeout` or `cancelled`.
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

    /// Adds a search, and has a thread run it; else returns why it can't be added.
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
    /// Who waits for a search, and for how long. Any thread.
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

        /// A thread takes the search; returns why nobody waits for it any more.
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
            // What has been found is shown, even if the time was up at the end.
            return search(stop).map { .success($0) } ?? .failure(endOfSearch ?? .timeout(.search))
        }
    }
}

/// What waits for its turn: one of each client's, then the next of each.
struct FairQueue<Client: Hashable, Element> {
    private let maximumOfClient, maximum: Int
    private var waiting: [Client: [Element]] = [:]
    /// The clients that wait, each once, in the order of their turns.
    private var turns: [Client] = []
    /// How many elements wait.
    private(set) var count = 0

    /// - Parameters:
    ///   - maximumOfClient: how many elements of one client wait at most.
    ///   - maximum: how many of all clients do.
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

    /// Takes out the first element of the client whose turn it is, of those that may have one.
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

    /// - Returns: whether more of the client's wait.
    private mutating func take(_ index: Int, of client: Client) -> Bool {
        waiting[client]?.remove(at: index)
        count -= 1
        if waiting[client]?.isEmpty == true { waiting[client] = nil }
        return waiting[client] != nil
    }
}
