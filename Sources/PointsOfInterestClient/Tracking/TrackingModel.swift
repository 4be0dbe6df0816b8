/// What an app's screens tell their events to.
///
/// A value: copies share the dispatcher.
public struct TrackingModel: Sendable {
    private let actionCreator: TrackingActionCreator
    /// Publishes each event that is sent here.
    public let dispatcher: TrackingDispatcher

    /// Makes a model.
    public init(actionCreator: TrackingActionCreator, dispatcher: TrackingDispatcher) {
        self.actionCreator = actionCreator
        self.dispatcher = dispatcher
    }

    /// Sends an event, one of a team's own too. Called on any thread, the main one too; returns once the event is
    /// in the tracker's hands, which no network and no disk is waited for.
    public func sendTrackingEvent(_ event: some TrackableEvent) {
        dispatcher.dispatch(actionCreator.makeEvent(event))
    }

    /// Sends one of the events that are built in, so that a screen says `sendTrackingEvent(.launch)`.
    public func sendTrackingEvent(_ event: TrackingEvent) {
        dispatcher.dispatch(actionCreator.makeEvent(event))
    }
}
