import PointsOfInterestTesting
import XCTest

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
