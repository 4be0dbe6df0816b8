import Foundation
import Locking

/// Waits for the events that a dispatcher publishes, for as long as its scenario goes on.
///
/// There is no time to wait: an expected event is there once it comes, and missing once the scenario is over
/// (`endScenario()`, or `TrackingDispatcher.finish()`) or the test's task is cancelled, as by its time limit. One task
/// reads from a recorder.
public final class EventRecorder: Sendable {
    /// An event that never came.
    public struct MissingEvent: Error, Hashable, CustomStringConvertible {
        /// What was waited for.
        public let expected: String
        /// What came since the last event that was waited for, in order.
        public let came: [TrackingEvent]

        /// Both in words, a line an event.
        public var description: String {
            let list =
                came.isEmpty
                ? "nothing came" : "what came:\n" + came.map { "  \($0)" }.joined(separator: "\n")
            return "the event didn't come: \(expected); \(list)"
        }
    }

    private let dispatcher: TrackingDispatcher
    private let stream: AsyncStream<TrackedEvent>

    /// Makes a recorder that misses nothing from now on.
    public init(_ dispatcher: TrackingDispatcher) {
        self.dispatcher = dispatcher
        stream = dispatcher.events()
    }

    /// Makes a recorder of what is sent to a model from now on.
    public convenience init(_ model: TrackingModel) {
        self.init(model.dispatcher)
    }

    /// Waits for an event; others that come before it are passed over.
    @discardableResult
    public func next(_ expected: TrackingEvent) async throws(MissingEvent) -> TrackedEvent {
        try await next("\(expected)") { $0.event == expected }
    }

    /// Waits for an event that matches; others that come before it are passed over.
    ///
    /// - Parameters:
    ///   - expected: what to call it where it doesn't come.
    ///   - matches: whether an event is the one that is waited for.
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

    /// Says that nothing more happens: ends what waits, and every other observer of the dispatcher.
    public func endScenario() {
        dispatcher.finish()
    }

    /// Ends the scenario and answers the events that nobody has waited for, in order.
    public func remainingEvents() async -> [TrackingEvent] {
        endScenario()
        var events: [TrackingEvent] = []
        for await event in stream { events.append(event.event) }
        return events
    }
}

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
