#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An event as a store keeps it.
public struct StoredEvent: Hashable, Sendable {
    /// What makes an event the same as another: its id, and the phone's time with it.
    public struct Key: Hashable, Sendable {
        /// The app's id for the event, or one that was derived from its content.
        public let id: UUID
        /// When it happened by the phone's clock, in microseconds since 1970.
        public let timeMicroseconds: Int64

        /// Makes a key.
        public init(id: UUID, timeMicroseconds: Int64) {
            self.id = id
            self.timeMicroseconds = timeMicroseconds
        }
    }

    /// What it is known by.
    public let key: Key
    /// Who did it, or a keyed hash of that.
    public let userID: String
    /// What happened.
    public let name: String
    /// The event's own values: a JSON object in UTF-8 that PostgreSQL takes as `jsonb`.
    public let value: ArraySlice<UInt8>
    /// Whether a test sent it.
    public let isTest: Bool

    /// Makes an event.
    public init(key: Key, userID: String, name: String, value: ArraySlice<UInt8>, isTest: Bool) {
        self.key = key
        self.userID = userID
        self.name = name
        self.value = value
        self.isTest = isTest
    }
}
