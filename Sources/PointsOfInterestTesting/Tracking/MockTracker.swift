import Locking
import Foundation

/// A tracker that sends nothing and takes note of everything.
public final class MockTracker: Tracker {
    private let tracked = Lock<[TrackedEvent]>([])

    /// Makes a tracker without notes.
    public init() {}

    /// All events so far, in order.
    public var events: [TrackedEvent] { tracked.withLock { $0 } }

    /// Takes note of an event.
    public func track(_ event: TrackedEvent) {
        tracked.withLock { $0.append(event) }
    }
}

extension TrackingModel {
    /// Makes a model of a test: no queue, no network, and a user, a time and ids that are always the same.
    ///
    /// - Parameter tracker: where the events go.
    public static func mock(tracker: any Tracker = MockTracker()) -> TrackingModel {
        let ids = Lock(0 as UInt8)
        return TrackingModel(
            actionCreator: TrackingActionCreator(
                userID: { "user-of-a-test" }, isTest: true,
                now: { Date(timeIntervalSince1970: 1_536_753_250.92) },
                makeID: {
                    let number = ids.withLock { number in
                        number &+= 1
                        return number
                    }
                    return UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, number))
                }),
            dispatcher: TrackingDispatcher(tracker: tracker))
    }
}
