import CLibPQ

/// What a `NOTIFY` said.
public struct PostgresNotification: Sendable, Hashable {
    /// The channel's name.
    public let channel: String
    /// The text that came with it, often empty.
    public let payload: String
    /// The process id of the backend that notified.
    public let processID: Int32

    init(_ raw: UnsafePointer<PGnotify>) {
        channel = String(cString: raw.pointee.relname)
        payload = String(cString: raw.pointee.extra)
        processID = raw.pointee.be_pid
    }
}

extension PostgresNotification {
    /// A notification by its parts, for tests.
    init(channel: String, payload: String, processID: Int32) {
        self.channel = channel
        self.payload = payload
        self.processID = processID
    }
}
