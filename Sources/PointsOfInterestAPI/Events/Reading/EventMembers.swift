/// Some members of an event: a set in a byte, since one is filled for every event that is read.
struct EventMembers {
    private var bits: UInt8 = 0

    /// Adds a member; false if it was there.
    mutating func insert(_ member: EventMember) -> Bool {
        let isNew = !contains(member)
        bits |= Self.bit(member)
        return isNew
    }

    func contains(_ member: EventMember) -> Bool { bits & Self.bit(member) != 0 }

    private static func bit(_ member: EventMember) -> UInt8 { (1 as UInt8) << member.rawValue }
}
