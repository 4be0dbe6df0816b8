#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An event as the service received it, checked: its value is still the JSON that was sent.
public struct ReceivedEvent: Hashable, Sendable {
    /// The app's id for it; nil where the client made none.
    public var id: UUID?
    /// Who did it.
    public var userID: String
    /// When it happened by the phone's clock, in seconds since 1970, within `EventLimits.times`.
    public var time: Double
    /// What happened.
    public var name: String
    /// The value's bytes as they were sent: a JSON object that PostgreSQL takes as `jsonb`; empty where there is
    /// none.
    public var value: ArraySlice<UInt8>
    /// Whether a test sent it.
    public var isTest: Bool
    /// Whether the catalog knows the name; if not, a newer app sent it.
    public var isKnown: Bool

    /// Makes an event.
    public init(
        id: UUID?, userID: String, time: Double, name: String, value: ArraySlice<UInt8> = [],
        isTest: Bool = false, isKnown: Bool = true
    ) {
        self.id = id
        self.userID = userID
        self.time = time
        self.name = name
        self.value = value
        self.isTest = isTest
        self.isKnown = isKnown
    }
}
