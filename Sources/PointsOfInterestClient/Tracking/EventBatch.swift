import Foundation

/// Events at the head of a queue, ready to be sent.
struct EventBatch {
    /// Their numbers in the queue, in order; never empty.
    let numbers: [UInt64]
    /// Their ids, in order; nil where an event has none that can be read.
    let ids: [UUID?]
    /// Their JSON, a request's body.
    let body: [UInt8]

    /// Takes from the head of a backlog: at least one event, else as many as fit.
    init?(_ backlog: EventBacklog, events limit: Int, bytes byteLimit: Int) {
        var body: [UInt8] = [UInt8(ascii: "[")]
        var numbers: [UInt64] = []
        var ids: [UUID?] = []
        for entry in backlog.entries.prefix(max(limit, 1)) {
            guard numbers.isEmpty || body.count + entry.json.count + 2 <= byteLimit else { break }
            if !numbers.isEmpty { body.append(UInt8(ascii: ",")) }
            body += entry.json
            numbers.append(entry.number)
            ids.append(entry.owner.id)
        }
        guard !numbers.isEmpty else { return nil }
        self.numbers = numbers
        self.body = body + [UInt8(ascii: "]")]
        self.ids = ids
    }
}
