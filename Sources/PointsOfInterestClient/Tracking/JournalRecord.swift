/// What happened to a queue. All records of its file in order make the queue again.
enum JournalRecord: Equatable {
    /// An event came; its number is greater than all before.
    case event(number: UInt64, json: [UInt8])
    /// Events that were dropped are told by this event, and so counted no more.
    case report(number: UInt64, drop: EventDrops.Key, count: Int, json: [UInt8])
    /// The service has every event up to that number.
    case acknowledged(through: UInt64)
    /// These were dropped.
    case dropped([UInt64], EventDropReason)
    /// So many were dropped that aren't in the file any more.
    case counted(EventDrops.Key, Int)
}
