/// The members of an event as it is sent, and of the `event` within.
enum EventMember: UInt8 {
    case id, userID, time, event, test, name, value

    static let ofEvents: [EventMember] = [.id, .userID, .time, .event, .test]
    static let ofEvent: [EventMember] = [.name, .value]
    static let required: [EventMember] = [.userID, .time, .event, .name]

    /// The member as a fault names it.
    var path: String {
        switch self {
        case .name, .value: "event.\(key)"
        case .id, .userID, .time, .event, .test: key.description
        }
    }

    /// Whether a member's name in a document is this one's.
    func isNamed(_ name: JSONText, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        if name.isEscaped { return name.equals(key.description, in: bytes) }
        return name.raw(in: bytes)
            .isSame(as: UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount))
    }

    private var key: StaticString {
        switch self {
        case .id: "id"
        case .userID: "user_id"
        case .time: "time"
        case .event: "event"
        case .test: "test"
        case .name: "name"
        case .value: "value"
        }
    }
}
