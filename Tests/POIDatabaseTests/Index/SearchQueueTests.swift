import EventLoop
import HTTPServer
import Locking
import Loopback
import POIService
import PointsOfInterestAPI
import PrivateCluster
import Testing

@testable import POIDatabase

/// Searches that wait for the thread that runs them.
@Suite("The searches of a helper thread", .timeLimit(.minutes(2)))
struct SearchQueueTests {
    private static let (one, other) = (IPAddress(high: 1, low: 0), IPAddress(high: 2, low: 0))
    private static let later = Duration.nanoseconds(MonotonicClock.nanoseconds()) + .seconds(3600)

    @Test("are taken out one of each client, then the next of each")
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
        let (isAdded, taken) = (queue.append(11, of: "b"), (0..<6).map { _ in queue.next() })
        #expect(isAdded && taken == [0, 10, 1, 11, 2, nil])
        let (isAddedLater, last) = (queue.append(4, of: "a"), queue.next())
        #expect(isAddedLater && last == 4 && queue.count == 0)
    }

    /// Runs `body` while the thread is busy with a search that looks at its stop, and ends where that says so.
    private static func whileBusy(
        _ body: (SearchQueue, _ end: @escaping @Sendable () -> Void) async throws -> Void
    ) async throws {
        let (queue, isOver) = (SearchQueue(), Lock(false))
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let end: @Sendable () -> Void = { isOver.withLock { $0 = true } }
        async let busy: Int = queue.run(for: IPAddress(high: 9, low: 0), until: later) { _ in
            beginning.finish()
            while !isOver.withLock({ $0 }) {}
            return 0
        }
        for await _ in begun {}
        do {
            try await body(queue, end)
        } catch {
            end()
            throw error
        }
        end()
        #expect(try await busy == 0)
    }

    private static func wait(for count: Int, in queue: SearchQueue) async throws {
        while queue.waitingCount < count {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test("of a client are refused where it has many, and those of others are run between them")
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

    @Test("are given up at once when their client goes, and never run")
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

    @Test("end in their midst when their client goes")
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

    @Test("aren't begun when their time is up, and end in their midst when it is")
    func overdue() async throws {
        let (queue, hasRun) = (SearchQueue(), Lock(false))
        await #expect(throws: PlaceStoreError.timeout) {
            try await queue.run(for: Self.one, until: .zero) { _ in hasRun.withLock { $0 = true } }
        }
        #expect(!hasRun.withLock { $0 })
        let soon = Duration.nanoseconds(MonotonicClock.nanoseconds()) + .milliseconds(1)
        await #expect(throws: PlaceStoreError.timeout) {
            _ = try await queue.run(for: Self.one, until: soon) { stop -> Int? in
                while !stop.isDue() {}
                return nil
            }
        }
    }

    @Test("of places in memory end after the time of a request, instead of being found late")
    func requestTimeout() async throws {
        try await MigratedDatabase.seeded().withFollower { followed in
            try await followed.waitForNewest()
            let database = followed.store.database
            let request = NearbyPlacesRequest(center: try Coordinate(latitude: 1, longitude: 1))
            #expect(try await followed.store.places(for: request).places.count > 0)
            database.requestTimeout = .zero
            await #expect(throws: PlaceStoreError.timeout) {
                _ = try await followed.store.places(for: request)
            }
            let earth = try #require(BoundingBox(west: -180, south: -90, east: 180, north: 90))
            await #expect(throws: PlaceStoreError.timeout) {
                _ = try await followed.store.clusters(for: ClustersRequest(box: earth, zoom: 0))
            }
        }
    }
}
