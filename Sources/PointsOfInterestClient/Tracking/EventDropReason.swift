/// Why an event never gets to the service. Each is counted, and the counts are sent as `events-dropped`.
enum EventDropReason: String, CaseIterable {
    /// The queue was full, and this was its oldest event.
    case full
    /// The service refused the event.
    case refused
    /// A line of the queue's file was damaged.
    case damaged
}
