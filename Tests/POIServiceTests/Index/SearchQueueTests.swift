import PointsOfInterestServerAPI
import EventLoop
import HTTPServer
import Locking
import Loopback
import PointsOfInterestAPI
import Testing

@testable import POIService
@testable import Places

/// Searches that wait for the thread that runs them.
@Suite("The searches of a helper thread", .timeLimit(.minutes(2)))
struct SearchQueueTests {
    private static let (one, other) = (IPAddress(high: 1, low: 0), IPAddress(high: 2, low: 0))
    private static let later = MonotonicClock.now + .seconds(3600)

    @Test("Searches are taken in turns, one of each client")
    func turns() {
        var queue = FairQueue<String, Int>(maximumOfClient: 3, maximum: 5)
        // No more than three of a client, and five of all.
        let added = [(0, "a"), (1, "a"), (2, "a"), (3, "a"), (10, "b"), (20, "c"), (30, "d")].map {
            number, client in
            queue.append(number, of: client)
        }
        #expect(added == [true, true, true, false, true, true, false])
        let removed = [21, 20].map { number in queue.remove(of: "c") { $0 == number } }
        #expect(removed == [nil, 20])
        let (isAdded, taken) = (queue.append(11, of: "b"), (0..<6).map { _ in queue.next()?.1 })
        #expect(isAdded && taken == [0, 10, 1, 11, 2, nil])
        let (isAddedLater, last) = (queue.append(4, of: "a"), queue.next()?.1)
        #expect(isAddedLater && last == 4 && queue.count == 0)
    }

    /// A search that goes on until it is told to end.
    private struct Endless {
        private let isOver = Lock(false)
        private let begun = AsyncStream.makeStream(of: Void.self)

        func end() { isOver.withLock { $0 = true } }

        func hasBegun() async { for await _ in begun.stream {} }

        func run(in queue: SearchQueue, for client: IPAddress) async throws {
            let (isOver, beginning) = (isOver, begun.continuation)
            try await queue.run(for: client, until: later) { _ in
                beginning.finish()
                while !isOver.withLock({ $0 }) {}
            }
        }
    }

    /// Runs `body` while all threads are busy; `end` lets one of them go on with what waits.
    private static func whileBusy(
        _ body: (SearchQueue, _ end: @escaping @Sendable () -> Void) async throws -> Void
    ) async throws {
        let queue = SearchQueue()
        let searches = (0..<SearchQueue.threadCount).map { _ in Endless() }
        try await withThrowingTaskGroup { group in
            for (number, search) in searches.enumerated() {
                group.addTask {
                    try await search.run(in: queue, for: IPAddress(high: 9, low: UInt64(number)))
                }
                await search.hasBegun()
            }
            let first = searches[0]
            defer { for search in searches { search.end() } }
            try await body(queue) { first.end() }
        }
    }

    private static func wait(for count: Int, in queue: SearchQueue) async throws {
        while queue.waitingCount < count {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test("A client with too many searches is refused, and those of others run between its own")
    func shares() async throws {
        try await Self.whileBusy { queue, end in
            let order = Lock<[String]>([])
            try await withThrowingTaskGroup { group in
                for number in 0..<SearchQueue.maximumOfClient {
                    group.addTask {
                        try await queue.run(for: Self.one, until: Self.later) { _ in
                            order.withLock { $0.append("one") }
                        }
                    }
                    try await Self.wait(for: number + 1, in: queue)
                }
                await #expect(throws: PlaceStoreError.overloaded) {
                    try await queue.run(for: Self.one, until: Self.later) { _ in () }
                }
                group.addTask {
                    try await queue.run(for: Self.other, until: Self.later) { _ in
                        order.withLock { $0.append("other") }
                    }
                }
                try await Self.wait(for: SearchQueue.maximumOfClient + 1, in: queue)
                end()
                try await group.waitForAll()
            }
            #expect(order.withLock { $0 }.prefix(2) == ["one", "other"])
        }
    }

    @Test("One search of a client runs at a time, so that those of others can run beside it")
    func oneOfAClient() async throws {
        let (queue, endless, second) = (SearchQueue(), Endless(), Endless())
        try await withThrowingTaskGroup { group in
            group.addTask { try await endless.run(in: queue, for: Self.one) }
            await endless.hasBegun()
            group.addTask { try await second.run(in: queue, for: Self.one) }
            try await Self.wait(for: 1, in: queue)
            defer { for search in [endless, second] { search.end() } }
            for _ in 0..<3 {
                try await queue.run(for: Self.other, until: Self.later) { _ in () }
                #expect(queue.waitingCount == 1)
            }
        }
    }

    @Test("A waiting search ends at once when its client goes, and never runs")
    func cancelledWhileWaiting() async throws {
        try await Self.whileBusy { queue, _ in
            let hasRun = Lock(false)
            let search = Task {
                try await queue.run(for: Self.one, until: Self.later) { _ in hasRun.withLock { $0 = true } }
            }
            try await Self.wait(for: 1, in: queue)
            search.cancel()
            // The thread is still busy.
            await #expect(throws: PlaceStoreError.cancelled) { try await search.value }
            #expect(queue.waitingCount == 0)
            #expect(!hasRun.withLock { $0 })
            // One whose client has gone before it was added.
            let late = Task {
                while !Task.isCancelled { await Task.yield() }
                try await queue.run(for: Self.one, until: Self.later) { _ in () }
            }
            late.cancel()
            await #expect(throws: PlaceStoreError.cancelled) { try await late.value }
        }
    }

    @Test("A running search ends when its client goes")
    func cancelledWhileRunning() async throws {
        let queue = SearchQueue()
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let search = Task {
            try await queue.run(for: Self.one, until: Self.later) { stop -> Int? in
                beginning.finish()
                while !stop.isDue() {}
                return nil
            }
        }
        for await _ in begun {}
        search.cancel()
        await #expect(throws: PlaceStoreError.cancelled) { _ = try await search.value }
    }

    @Test("A search's waiting time is how long it waited for its turn, not how long it ran")
    func waits() async throws {
        let thread = try EventLoopThread.start(name: "search-queue")
        try await Task(executorPreference: thread.loop) { [loop = thread.loop] in
            let (queue, endless, spin) = (SearchQueue(), Endless(), Int64(1_000_000))
            let (first, second) = (TaskWaits(), TaskWaits())
            let start = MonotonicClock.nanoseconds()
            let running = TaskWaits.$current.withValue(LoopBound(first, loop: loop)) {
                Task(executorPreference: loop) { try await endless.run(in: queue, for: Self.one) }
            }
            await endless.hasBegun()
            let waiting = TaskWaits.$current.withValue(LoopBound(second, loop: loop)) {
                Task(executorPreference: loop) {
                    try await queue.run(for: Self.one, until: Self.later) { _ in }
                }
            }
            while queue.waitingCount == 0 { await Task.yield() }
            let end = MonotonicClock.nanoseconds() + spin
            while MonotonicClock.nanoseconds() < end {}
            endless.end()
            try await running.value
            try await waiting.value
            #expect(try #require(second.times.turnNanoseconds) >= spin)
            #expect(try #require(first.times.turnNanoseconds) <= MonotonicClock.nanoseconds() - start - spin)
            #expect(first.times.databaseNanoseconds == nil)
        }.value
        #expect(thread.stopAndJoin() == 0)
    }

    @Test("A search whose time is up isn't begun, or ends while it runs")
    func overdue() async throws {
        let (queue, hasRun) = (SearchQueue(), Lock(false))
        await #expect(throws: PlaceStoreError.timeout(.turn)) {
            try await queue.run(for: Self.one, until: .zero) { _ in hasRun.withLock { $0 = true } }
        }
        #expect(!hasRun.withLock { $0 })
        // On a machine that is busy, even a search with time left may begin too late.
        var time = Duration.milliseconds(100)
        while !hasRun.withLock({ $0 }) {
            let error = await #expect(throws: PlaceStoreError.self) {
                _ = try await queue.run(
                    for: Self.one, until: MonotonicClock.now + time
                ) { stop -> Int? in
                    hasRun.withLock { $0 = true }
                    while !stop.isDue() {}
                    return nil
                }
            }
            #expect(error == .timeout(hasRun.withLock { $0 } ? .search : .turn))
            time *= 4
        }
    }

    @Test("A search in memory ends after the time of a request")
    func requestTimeout() async throws {
        try await onLoop { loop in
            let index = try #require(ServedIndex([], categories: NameVocabulary([])))
            let request = NearbyPlacesRequest(center: try Coordinate(latitude: 1, longitude: 1))
            let earth = try #require(BoundingBox(west: -180, south: -90, east: 180, north: 90))
            for timeout in [Duration.seconds(3600), .zero] {
                let store = IndexedPlaceStore(
                    index, requestTimeout: timeout, loop: loop)
                func find() async throws {
                    let page = try await store.searchedPlaces(for: request, from: .unknown)
                    #expect(page.datasetID == store.currentDatasetID)
                }
                func count() async throws {
                    _ = try await store.countedClusters(
                        for: ClustersRequest(box: earth, zoom: 0), from: .unknown)
                }
                if timeout == .zero {
                    await #expect(throws: PlaceStoreError.timeout(.turn)) { try await find() }
                    await #expect(throws: PlaceStoreError.timeout(.turn)) { try await count() }
                } else {
                    try await find()
                    try await count()
                }
            }
        }
    }
}
