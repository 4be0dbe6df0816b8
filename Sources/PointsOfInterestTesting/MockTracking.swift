import Foundation
import Locking

/// Waits for the tracking events of a model.
///
/// An expected event is missing when the test calls `endScenario()`, when the timeout has passed, or when the test's
/// task is cancelled. After that, the recorder gets no more events. Only one task may read from a recorder, on any
/// actor; it works with XCTest and with Swift Testing.
public final class EventRecorder: Sendable {
    /// An expected event that never came.
    public struct MissingEvent: Error, Hashable, CustomStringConvertible {
        /// The expected event.
        public let expected: String
        /// The events that came since the last expected one, in order.
        public let came: [TrackingEvent]
        /// How long it was awaited if it didn't come in time; nil if the scenario ended before.
        public let timeout: Duration?

        /// A sentence, followed by a line for each event that came.
        public var description: String {
            let list =
                came.isEmpty
                ? "nothing came" : "what came:\n" + came.map { "  " + $0.summary }.joined(separator: "\n")
            return "the event didn't come\(timeout.map { " within \($0)" } ?? ""): \(expected); \(list)"
        }
    }

    private let dispatcher: TrackingDispatcher
    private let events: AsyncStream<TrackedEvent>
    private let end: @Sendable () -> Void
    private let timeout: Duration
    private let clock: any Clock<Duration>

    /// Makes a recorder of what is sent to a model from now on.
    ///
    /// - Parameters:
    ///   - model: the app's model.
    ///   - timeout: how long `next` waits for an event. XCTest by itself would wait for ever.
    ///   - clock: measures the timeout.
    public init(
        _ model: TrackingModel, timeout: Duration = .seconds(10),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        dispatcher = model.dispatcher
        (events, end) = model.dispatcher.observe()
        self.timeout = timeout
        self.clock = clock
    }

    /// Waits for an event, and skips others before it.
    ///
    /// - Throws: `MissingEvent` where the scenario ends or the timeout passes before.
    @discardableResult
    public func next(_ expected: TrackingEvent) async throws(MissingEvent) -> TrackedEvent {
        try await next(expected.summary) { $0.event == expected }
    }

    /// Waits for an event that matches, and skips others before it.
    ///
    /// - Parameters:
    ///   - expected: the description of the event in `MissingEvent`.
    ///   - matches: whether an event is the expected one.
    /// - Throws: `MissingEvent` where the scenario ends or the timeout passes before.
    @discardableResult
    public func next(
        _ expected: String = "one that matches", where matches: (TrackedEvent) -> Bool
    ) async throws(MissingEvent) -> TrackedEvent {
        let timer = Task { [clock, timeout, end] in
            guard (try? await clock.sleep(for: timeout)) != nil else { return false }
            end()
            return true
        }
        defer { timer.cancel() }
        var came: [TrackingEvent] = []
        for await event in events {
            if matches(event) { return event }
            came.append(event.event)
        }
        timer.cancel()
        throw MissingEvent(expected: expected, came: came, timeout: await timer.value ? timeout : nil)
    }

    /// Says that no more events come. It ends all waiting, also that of other observers of the model.
    public func endScenario() {
        dispatcher.finish()
    }

    /// Ends the scenario and returns the events that weren't read yet, in order.
    public func remainingEvents() async -> [TrackingEvent] {
        endScenario()
        var rest: [TrackingEvent] = []
        for await event in events { rest.append(event.event) }
        return rest
    }
}

extension TrackingEvent {
    /// The event's name and its values, as they are sent.
    fileprivate var summary: String {
        let content = content
        guard !content.value.isEmpty else { return content.name }
        var writer = JSONWriter()
        writer.value(.object(JSONValue.Object(content.value)))
        return content.name + " " + String(decoding: writer.bytes, as: UTF8.self)
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
