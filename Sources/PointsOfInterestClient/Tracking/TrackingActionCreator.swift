import Foundation

/// Makes of what happened in the app the event that is sent: with its id, its user and its time.
public struct TrackingActionCreator: Sendable {
    private let userID: @Sendable () -> String
    private let isTest: Bool
    private let now: @Sendable () -> Date
    private let makeID: @Sendable () -> UUID

    /// Makes a creator.
    ///
    /// - Parameters:
    ///   - userID: who uses the app now: 1 to 200 bytes. Asked for each event, since users sign in and out.
    ///   - isTest: whether this is a test's run, whose events are left out of what is reported.
    ///   - now: the time.
    ///   - makeID: makes an id that no other event has.
    public init(
        userID: @escaping @Sendable () -> String, isTest: Bool = false,
        now: @escaping @Sendable () -> Date = { Date() }, makeID: @escaping @Sendable () -> UUID = { UUID() }
    ) {
        self.userID = userID
        self.isTest = isTest
        self.now = now
        self.makeID = makeID
    }

    /// Makes the event of this moment. Its time is exact to a millisecond, which is what it is worth.
    public func makeEvent(_ event: some TrackableEvent) -> TrackedEvent {
        TrackedEvent(
            id: makeID(), userID: userID(), time: (now().timeIntervalSince1970 * 1000).rounded() / 1000,
            event: event as? TrackingEvent ?? TrackingEvent(event.content), isTest: isTest)
    }
}
