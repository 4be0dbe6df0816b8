import Foundation
import Locking
import PointsOfInterestTesting
import Testing

@Suite("A pager", .timeLimit(.minutes(1)))
@MainActor
struct PlacePagerTests {
    private nonisolated static let pages: [[PointOfInterest]] = [
        Array([PointOfInterest].fixtures(45)[..<20]), Array([PointOfInterest].fixtures(45)[20..<40]),
        Array([PointOfInterest].fixtures(45)[40...]),
    ]
    private nonisolated static let request = NearbyPlacesRequest(center: nil, limit: 20)

    /// Starts a call, and returns when it waits for its page.
    private func start(_ pager: PlacePager) async -> Task<PlacesPage?, any Error> {
        let (started, continuation) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            continuation.finish()
            return try await pager.loadNext()
        }
        for await _ in started {}
        // The call is on its way to the pager, which takes calls in their order.
        _ = await pager.hasMore
        return task
    }

    @Test("A pager asks for the first page again if that failed")
    func repeatsTheFirstPage() async throws {
        let isFirst = Lock(false)
        let finder = MockPlaceFinder(pages: Self.pages) { _ in
            if isFirst.claim() { throw RequestError.notHTTP }
        }
        let pager = finder.pager(for: Self.request)
        await #expect(throws: RequestError.notHTTP) { try await pager.loadNext() }
        #expect(await pager.hasMore)
        #expect(try await pager.loadNext()?.places == Self.pages[0])
        #expect(finder.calls == [.nearbyPlaces(Self.request), .nearbyPlaces(Self.request)])
    }

    @Test("A pager has more until the last page, asks for nothing after it, and begins anew after reset()")
    func ends() async throws {
        let finder = MockPlaceFinder(pages: Self.pages)
        let pager = finder.pager(for: Self.request)
        #expect(await pager.hasMore)
        #expect(finder.calls.isEmpty)
        for page in Self.pages {
            #expect(await pager.hasMore)
            #expect(try await pager.loadNext()?.places == page)
        }
        #expect(await !pager.hasMore)
        #expect(try await pager.loadNext() == nil)
        #expect(finder.calls.count == 3)
        await pager.reset()
        #expect(await pager.hasMore)
        #expect(try await pager.loadNext()?.places == Self.pages[0])
        #expect(finder.calls.last == .nearbyPlaces(Self.request))
    }

    @Test("Two calls at the same time share one request and get the same page")
    func sharesRequests() async throws {
        let gate = Gate()
        let finder = MockPlaceFinder(pages: Self.pages) { _ in await gate.pass() }
        let pager = finder.pager(for: Self.request)
        let first = await start(pager)
        await gate.arrival()
        let second = await start(pager)
        gate.open()
        #expect(try await first.value?.places == Self.pages[0])
        #expect(try await second.value?.places == Self.pages[0])
        #expect(finder.calls.count == 1)
        #expect(try await pager.loadNext()?.places == Self.pages[1])
    }

    @Test("A cancelled call ends at once, and the other one gets the page")
    func keepsOtherCalls() async throws {
        let gate = Gate()
        let wasCancelled = Lock(false)
        let finder = MockPlaceFinder(pages: Self.pages) { _ in
            await gate.pass()
            wasCancelled.withLock { $0 = Task.isCancelled }
        }
        let pager = finder.pager(for: Self.request)
        let cancelled = await start(pager)
        await gate.arrival()
        let other = await start(pager)
        cancelled.cancel()
        await #expect(throws: RequestError.cancelled) { try await cancelled.value }
        gate.open()
        #expect(try await other.value?.places == Self.pages[0])
        #expect(!wasCancelled.withLock { $0 })
        #expect(finder.calls.count == 1)
    }

    @Test(
        "A call that is cancelled alone cancels the request; its page is the next one, and a late one is dropped"
    )
    func losesNoPage() async throws {
        let late = Gate()
        let lateEnd = Gate()
        let isFirst = Lock(false)
        let wasCancelled = Lock(false)
        let finder = MockPlaceFinder(pages: Self.pages) { _ in
            guard isFirst.claim() else { return }
            // Goes on when it is cancelled: its page comes all the same.
            await Task { await late.pass() }.value
            wasCancelled.withLock { $0 = Task.isCancelled }
            lateEnd.open()
        }
        let pager = finder.pager(for: Self.request)
        let cancelled = await start(pager)
        await late.arrival()
        cancelled.cancel()
        await #expect(throws: RequestError.cancelled) { try await cancelled.value }
        #expect(try await pager.loadNext()?.places == Self.pages[0])
        late.open()
        await lateEnd.pass()
        #expect(wasCancelled.withLock { $0 })
        #expect(try await pager.loadNext()?.places == Self.pages[1])
        #expect(
            finder.calls == [
                .nearbyPlaces(Self.request), .nearbyPlaces(Self.request), .nextPage(number: 2),
            ])
    }

    @Test("A task that is cancelled already asks for nothing")
    func respectsEarlyCancellation() async throws {
        let finder = MockPlaceFinder(pages: Self.pages)
        let pager = finder.pager(for: Self.request)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await pager.loadNext()
        }
        await #expect(throws: RequestError.cancelled) { try await task.value }
        #expect(finder.calls.isEmpty)
    }

    @Test("reset() ends the calls that wait, and the first page is next")
    func resetsWhileLoading() async throws {
        let gate = Gate()
        let finder = MockPlaceFinder(pages: Self.pages) { call in
            if call == .nextPage(number: 2) { await gate.pass() }
        }
        let pager = finder.pager(for: Self.request)
        _ = try await pager.loadNext()
        let waiting = await start(pager)
        await gate.arrival()
        await pager.reset()
        await #expect(throws: RequestError.cancelled) { try await waiting.value }
        gate.open()
        #expect(try await pager.loadNext()?.places == Self.pages[0])
    }

    @Test("A failure fails all calls that wait for the page")
    func failsAllCalls() async throws {
        let gate = Gate()
        let finder = MockPlaceFinder(pages: Self.pages) { _ in
            await gate.pass()
            throw RequestError.unexpectedStatus(502)
        }
        let pager = finder.pager(for: Self.request)
        let first = await start(pager)
        await gate.arrival()
        let second = await start(pager)
        gate.open()
        await #expect(throws: RequestError.unexpectedStatus(502)) { try await first.value }
        await #expect(throws: RequestError.unexpectedStatus(502)) { try await second.value }
    }

    @Test("The sequence of all places goes on after a failure, too, and its copies go on independently")
    func sequenceGoesOn() async throws {
        let isFirst = Lock(false)
        let finder = MockPlaceFinder(pages: Self.pages) { call in
            if call == .nextPage(number: 2), isFirst.claim() { throw RequestError.notHTTP }
        }
        var places = finder.allNearbyPlaces(Self.request)
        for id in 1...20 { #expect(try await places.next()?.id == id) }
        var copy = places
        await #expect(throws: RequestError.notHTTP) { try await places.next() }
        #expect(try await places.next()?.id == 21)
        #expect(try await copy.next()?.id == 21)
        var rest: [Int] = []
        for try await place in places { rest.append(place.id) }
        #expect(rest == Array(22...45))
    }
}
