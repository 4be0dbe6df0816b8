#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What became of a request with events: for an app's log, or a test.
public enum EventUploadReport: Hashable, Sendable {
    /// The service has these events for good. Some were there before, as `EventsResponse` tells.
    case acknowledged([UUID], EventsResponse)
    /// The service refused these events; they are dropped and counted.
    case refused([UUID], [EventFault])
    /// The batch was too large for the service; it goes in parts of at most so many events.
    case split(events: Int)
    /// The request failed; it is sent again.
    case failed(RequestError)
    /// The service wants another key: nothing is sent until `EventUploader.resume()`. Nothing is lost.
    case unauthorized(RequestError)
}
