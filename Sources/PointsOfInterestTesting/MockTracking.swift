import Foundation
import Locking

/// Waits for the tracking events of a model.
///
/// It has no time-out. An expected event is missing when the test calls `endScenario()`, or when the test's task is
/// cancelled, by its time limit for instance. Only one task may read from a recorder.
public final class EventRecorder: Sendable {
    /// An expected event that never came.
    public struct MissingEvent: Error, Hashable, CustomStringConvertible {
        /// The expected event.
        public let expected: String
        /// The events that came since the last expected one, in order.
        public let came: [TrackingEvent]

        /// A sentence, followed by a line for each event that came.
        public var description: String {
            let list =
                came.isEmpty
                ? "nothing came" : "what came:\n" + came.map { "  \($0)" }.joined(separator: "\n")
            return "the event didn't come: \(expected); \(list)"
        }
    }

    private let dispatcher: TrackingDispatcher
    private let stream: AsyncStream<TrackedEvent>

    /// Makes a recorder of what is dispatched from now on.
    package init(_ dispatcher: TrackingDispatcher) {
        self.dispatcher = dispatcher
        stream = dispatcher.events()
    }

    /// Makes a recorder of what is sent to a model from now on.
    public convenience init(_ model: TrackingModel) {
        self.init(model.dispatcher)
    }

    /// Waits for an event, and skips others before it.
    ///
    /// - Throws: `MissingEvent` where the scenario ends before.
    @discardableResult
    public func next(_ expected: TrackingEvent) async throws(MissingEvent) -> TrackedEvent {
        try await next("\(expected)") { $0.event == expected }
    }

    /// Waits for an event that matches, and skips others before it.
    ///
    /// - Parameters:
    ///   - expected: the description of the event in `MissingEvent`.
    ///   - matches: whether an event is the expected one.
    /// - Throws: `MissingEvent` where the scenario ends before.
    @discardableResult
    public func next(
        _ expected: String = "one that matches", where matches: (TrackedEvent) -> Bool
    ) async throws(MissingEvent) -> TrackedEvent {
        var came: [TrackingEvent] = []
        for await event in stream {
            if matches(event) { return event }
            came.append(event.event)
        }
        throw MissingEvent(expected: expected, came: came)
    }

    /// Says that no more events come. Ends all waiting, also that of other observers of the model.
    public func endScenario() {
        dispatcher.finish()
    }

    /// Ends the scenario and returns the events that weren't read yet, in order.
    public func remainingEvents() async -> [TrackingEvent] {
        endScenario()
        var events: [TrackingEvent] = []
        for await event in stream { events.append(event.event) }
        return events
    }
}

/// A tracker that sends nothing and records everything.
public final class MockTracker: Tracker {
    private let tracked = Lock<[TrackedEvent]>([])

    /// Makes a tracker without events.
    public init() {}

    /// All events so far, in order.
    public var events: [TrackedEvent] { tracked.withLock { $0 } }

    /// Records an event.
    public func track(_ event: TrackedEvent) {
        tracked.withLock { $0.append(event) }
    }
}

extension TrackingModel {
    /// Makes a model for a test, whose user, time and ids are always the same.
    ///
    /// - Parameter tracker: takes the events.
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
