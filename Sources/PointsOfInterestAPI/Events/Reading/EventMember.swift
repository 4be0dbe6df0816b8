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

    /// The longest of the names in a document, in bytes.
    private static let longestKey = 7

    /// The member with a name that a document has; nil where none of these is meant.
    static func named(
        _ name: JSONText, among members: [EventMember], in bytes: UnsafeBufferPointer<UInt8>
    ) -> EventMember? {
        name.withContent(in: bytes, atMost: longestKey) { content in
            members.first { member in
                let key = member.key
                return content.isSame(
                    as: UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount))
            }
        }
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
