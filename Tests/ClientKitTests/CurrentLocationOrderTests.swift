import Foundation
import PointsOfInterestTesting
import Testing

@Suite("Checks of the current location, in any order of events", .timeLimit(.minutes(1)))
@MainActor
struct CurrentLocationOrderTests {
    private let fetcher = MockLocationFetcher { .nothing }
    private let scheduler = MockTimerScheduler(firesAtOnce: false)

    private func provider(_ finder: MockPlaceFinder = MockPlaceFinder([.fixture()]))
        -> CurrentLocationProvider
    {
        CurrentLocationProvider(
            locationFetcher: fetcher, notificationCenter: NotificationCenter(), placeFinder: finder,
            timerScheduler: scheduler)
    }

    /// Starts a check and returns when it waits: a task of the main actor runs until then in one go.
    private func startCheck(of provider: CurrentLocationProvider) async -> Task<
        CurrentLocationProvider.Status, Never
    > {
        let (started, continuation) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            continuation.finish()
            return await provider.checkCurrentLocation()
        }
        for await _ in started {}
        return task
    }

    @Test("Checks that wait at the same time share one fix")
    func shareAFix() async {
        let provider = provider()
        let first = await startCheck(of: provider)
        let second = await startCheck(of: provider)
        #expect(fetcher.events == [.requestedLocation])
        fetcher.send(.fix(.fixture()))
        #expect(await first.value == .atPointOfInterest(.fixture()))
        #expect(await second.value == .atPointOfInterest(.fixture()))
        #expect(fetcher.events == [.requestedLocation])
    }

    @Test("A check never uses a fix from before it began")
    func useNoEarlierFix() async {
        let gate = Gate()
        let finder = MockPlaceFinder { request in
            if request.center?.latitude == 1 { await gate.pass() }
            return [.fixture(latitude: request.center?.latitude ?? 0)]
        }
        let provider = provider(finder)
        let first = await startCheck(of: provider)
        fetcher.send(.fix(.fixture(latitude: 1)))
        await gate.arrival()
        let second = await startCheck(of: provider)
        #expect(fetcher.events == [.requestedLocation, .requestedLocation])
        fetcher.send(.fix(.fixture(latitude: 2)))
        #expect(await second.value == .atPointOfInterest(.fixture(latitude: 2)))
        gate.open()
        #expect(await first.value == .atPointOfInterest(.fixture(latitude: 1)))
    }

    @Test("A check gets its fix when another check is cancelled")
    func outliveACancellation() async {
        let provider = provider()
        let first = await startCheck(of: provider)
        let second = await startCheck(of: provider)
        first.cancel()
        #expect(await first.value == .cancelled)
        #expect(fetcher.events == [.requestedLocation])
        fetcher.send(.fix(.fixture()))
        #expect(await second.value == .atPointOfInterest(.fixture()))
    }

    @Test("The device is stopped when no check waits any more, and started again later")
    func stopTheDevice() async {
        let finder = MockPlaceFinder([.fixture()])
        let provider = provider(finder)
        let first = await startCheck(of: provider)
        first.cancel()
        #expect(await first.value == .cancelled)
        #expect(fetcher.events == [.requestedLocation, .stopped])
        #expect(scheduler.timers.allSatisfy { !$0.isValid })
        // Late: nobody asks the service for it.
        fetcher.send(.fix(.fixture()))
        fetcher.send(.failure(.fixture()))
        #expect(finder.requests.isEmpty)
        let second = await startCheck(of: provider)
        fetcher.send(.fix(.fixture()))
        #expect(await second.value == .atPointOfInterest(.fixture()))
    }

    @Test("A check whose task is cancelled already doesn't begin")
    func respectEarlyCancellation() async {
        let provider = provider()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await provider.checkCurrentLocation()
        }
        #expect(await task.value == .cancelled)
        #expect(fetcher.events.isEmpty)
    }

    @Test("A check is cancelled while it asks the service")
    func cancelTheRequest() async {
        let gate = Gate()
        let provider = provider(
            MockPlaceFinder { _ in
                await gate.pass()
                try Task.checkCancellation()
                return []
            })
        let check = await startCheck(of: provider)
        fetcher.send(.fix(.fixture()))
        await gate.arrival()
        check.cancel()
        gate.open()
        #expect(await check.value == .cancelled)
    }

    @Test("A check without a fix times out after 30 s")
    func timeOut() async throws {
        let provider = provider()
        let before = Date()
        let check = await startCheck(of: provider)
        let after = Date()
        let timer = try #require(scheduler.timers.first)
        #expect((before + 30...after + 30).contains(timer.fireDate))
        scheduler.fire()
        #expect(await check.value == .locationTimedOut)
        #expect(fetcher.events == [.requestedLocation, .stopped])
        #expect(scheduler.timers.count == 1)
    }

    @Test("A check doesn't time out once it has its fix")
    func disarmTheTimeLimit() async {
        let provider = provider()
        let check = await startCheck(of: provider)
        #expect(scheduler.timers.map(\.isValid) == [true])
        fetcher.send(.fix(.fixture()))
        #expect(scheduler.timers.map(\.isValid) == [false])
        #expect(await check.value == .atPointOfInterest(.fixture()))
    }

    @Test("A fix that comes at once leaves no time limit behind")
    func armNoTimeLimit() async {
        fetcher.handleRequestLocation = { .fix(.fixture()) }
        #expect(await provider().checkCurrentLocation() == .atPointOfInterest(.fixture()))
        #expect(scheduler.timers.isEmpty)
    }

    @Test("The last valid location is kept, also a late one")
    func keepTheLastLocation() async throws {
        let provider = provider()
        #expect(provider.lastLocation == nil)
        fetcher.send(.fix(.fixture(latitude: 3)))
        #expect(provider.lastLocation?.latitude == 3)
        fetcher.send(.fix(.fixture(latitude: 4, horizontalAccuracy: -1)))
        fetcher.send(.failure(.fixture()))
        #expect(provider.lastLocation?.latitude == 3)
    }

    @Test("A provider is released after its checks")
    func releaseTheProvider() async {
        weak var released: CurrentLocationProvider?
        do {
            let provider = provider()
            released = provider
            let check = await startCheck(of: provider)
            fetcher.send(.fix(.fixture()))
            _ = await check.value
        }
        #expect(released == nil)
        #expect(fetcher.locationFetcherDelegate == nil)
    }
}
