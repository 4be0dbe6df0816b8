#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension TrackedEvent {
    /// The event as JSON on one line: an item of a batch. A time that is not finite is `null`, which the service
    /// refuses.
    public var json: [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.value(self)
        return writer.bytes
    }
}

extension JSONWriter {
    /// Writes an event as an item of `POST /events`.
    public mutating func value(_ event: TrackedEvent) {
        beginObject()
        member("id", event.id?.uuidString)
        member("user_id", event.userID)
        name("time")
        value(decimal: event.time)
        name("event")
        value(event.event.content)
        if event.isTest { member("test", true) }
        endObject()
    }

    /// Writes an event's name and value, see `EventContent`.
    public mutating func value(_ content: EventContent) {
        beginObject()
        member("name", content.name)
        if !content.value.isEmpty {
            name("value")
            value(.object(content.value))
        }
        endObject()
    }

    /// Writes a value; the members of an object in the order of their names.
    public mutating func value(_ value: EventValue) {
        switch value {
        case .string(let text): self.value(text)
        case .integer(let number): self.value(number)
        case .number(let number): self.value(decimal: number)
        case .boolean(let flag): self.value(flag)
        case .null: null()
        case .array(let values):
            beginArray()
            for value in values { self.value(value) }
            endArray()
        case .object(let members):
            beginObject()
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                self.name(escaping: name)
                self.value(value)
            }
            endObject()
        }
    }

    /// Writes a number, without a point where it is whole.
    private mutating func value(decimal number: Double) {
        if let whole = Int(exactly: number), number.magnitude < 1e15 {
            value(whole)
        } else {
            value(number)
        }
    }
}
