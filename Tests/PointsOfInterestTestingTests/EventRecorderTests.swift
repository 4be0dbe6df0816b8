import PointsOfInterestTesting
import Testing
import XCTest

@Suite("An event recorder", .timeLimit(.minutes(1)))
struct EventRecorderTests {
    private let model = TrackingModel.mock()

    @Test("A recorder waits for a later event, and passes over others")
    func waits() async throws {
        let recorder = EventRecorder(model)
        async let found = recorder.next(.search(query: "cafe", page: 1))
        model.sendTrackingEvent(.launch)
        model.sendTrackingEvent(.search(query: "cafe", page: 1))
        #expect(try await found.event == .search(query: "cafe", page: 1))
        model.sendTrackingEvent(.background)
        #expect(try await recorder.next { $0.event != .launch }.event == .background)
    }

    @Test("A missing event fails with the events that came, when the scenario ends")
    func failsWithList() async throws {
        let recorder = EventRecorder(model)
        model.sendTrackingEvent(.launch)
        model.sendTrackingEvent(.pageView(page: .locationsMap))
        recorder.endScenario()
        let error = await #expect(throws: EventRecorder.MissingEvent.self) {
            try await recorder.next(.featuredShown)
        }
        #expect(error?.came == [.launch, .pageView(page: .locationsMap)])
        let description = "\(try #require(error))"
        #expect(
            description == """
                the event didn't come: featured-shown; what came:
                  launch
                  page-view {"page":"locations-map"}
                """)
    }

    @Test("Waiting ends when the test is cancelled")
    func endsWithItsTask() async throws {
        let recorder = EventRecorder(model)
        let waiting = Task { try await recorder.next(.launch) }
        waiting.cancel()
        let error = await #expect(throws: EventRecorder.MissingEvent.self) { try await waiting.value }
        #expect(error?.description == "the event didn't come: launch; nothing came")
    }

    @Test("A recorder returns the events that weren't waited for")
    func returnsRest() async throws {
        let recorder = EventRecorder(model)
        model.sendTrackingEvent(.launch)
        model.sendTrackingEvent(.locationCheck)
        try await recorder.next(.launch)
        #expect(await recorder.remainingEvents() == [.locationCheck])
    }

    @Test("A missing event fails with the events that came, when the timeout has passed")
    func failsInTime() async throws {
        let clock = ManualClock()
        let recorder = EventRecorder(model, clock: clock)
        model.sendTrackingEvent(.launch)
        let waiting = Task { try await recorder.next(.locationCheck) }
        // Ten seconds unless the test says otherwise.
        #expect(await clock.nextSleep() == .seconds(10))
        await clock.pass()
        let error = await #expect(throws: EventRecorder.MissingEvent.self) { try await waiting.value }
        #expect(
            error?.description
                == "the event didn't come within 10.0 seconds: location-check; what came:\n  launch")
        // The recorder gets no more events; others do.
        let other = EventRecorder(model)
        model.sendTrackingEvent(.locationCheck)
        #expect(await recorder.remainingEvents().isEmpty)
        #expect(await other.remainingEvents() == [.locationCheck])
    }

    @Test("Each event has the whole timeout, and one that came in time doesn't fail later")
    func waitsAnew() async throws {
        let clock = ManualClock()
        let recorder = EventRecorder(model, timeout: .milliseconds(5), clock: clock)
        for event in [TrackingEvent.launch, .background] {
            async let found = recorder.next(event)
            #expect(await clock.nextSleep() == .milliseconds(5))
            model.sendTrackingEvent(event)
            #expect(try await found.event == event)
            // Nothing of this timeout is left to end the next event's.
            await clock.nextCancellation()
        }
    }
}

/// The recorder in XCTest, which has no time limit of its own on Linux, and on the main actor, as the tests of screens
/// are.
final class EventRecorderXCTests: XCTestCase {
    @MainActor
    func testAMissingEventFailsOnTheMainActor() async throws {
        let model = TrackingModel.mock()
        let clock = ManualClock()
        let recorder = EventRecorder(model, clock: clock)
        model.sendTrackingEvent(.launch)
        async let passing: Void = clock.passNextSleep()
        do {
            try await recorder.next(.background)
            XCTFail("the event came")
        } catch {
            XCTAssertEqual(error.came, [.launch])
            XCTAssertEqual(error.timeout, .seconds(10))
        }
        await passing
    }

    @MainActor
    func testAnEventThatComesLaterIsFoundOnTheMainActor() async throws {
        let model = TrackingModel.mock()
        let recorder = EventRecorder(model)
        Task { @MainActor in model.sendTrackingEvent(.background) }
        try await recorder.next(.background)
    }
}

/// A clock whose time passes when the test says so.
final class ManualClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration = .zero

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private actor Sleepers {
        private var waiting: [AsyncStream<Never>.Continuation] = []

        func add() -> AsyncStream<Never> {
            let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
            waiting.append(continuation)
            return stream
        }

        func wake() {
            for continuation in waiting { continuation.finish() }
            waiting = []
        }
    }

    private let sleepers = Sleepers()
    private let (sleeps, begun) = AsyncStream.makeStream(of: Duration.self)
    private let (cancellations, cancelled) = AsyncStream.makeStream(of: Void.self)

    var now: Instant { Instant() }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let stream = await sleepers.add()
        begun.yield(deadline.offset)
        for await _ in stream {}
        guard Task.isCancelled else { return }
        cancelled.yield()
        throw CancellationError()
    }

    /// Waits until somebody sleeps, and returns for how long; for one reader.
    func nextSleep() async -> Duration? {
        for await duration in sleeps { return duration }
        return nil
    }

    /// Waits until a sleep is cancelled; for one reader.
    func nextCancellation() async {
        for await _ in cancellations { return }
    }

    /// Ends all sleeps that have begun.
    func pass() async { await sleepers.wake() }

    /// Waits until somebody sleeps, and ends that.
    func passNextSleep() async {
        _ = await nextSleep()
        await pass()
    }
}
