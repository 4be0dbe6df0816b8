/// Reads a batch of events out of a request's body.
struct EventsDecoder {
    private let body: [UInt8]
    private let catalog: EventCatalog
    private var faults: [EventFault] = []

    init(body: [UInt8], catalog: EventCatalog) {
        self.body = body
        self.catalog = catalog
    }

    mutating func decode() throws(EventsError) -> [ReceivedEvent] {
        guard body.count <= EventLimits.bodyBytes else {
            throw .tooLarge(reason: "a batch has at most \(EventLimits.bodyBytes) bytes")
        }
        let events = try read()
        guard faults.isEmpty else { throw .invalid(faults) }
        return events
    }

    private mutating func read() throws(EventsError) -> [ReceivedEvent] {
        let result = body.withUnsafeBufferPointer { bytes in
            Result { () throws(EventsError) in try read(bytes) }
        }
        return try result.get()
    }

    private mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(EventsError) -> [ReceivedEvent] {
        var events: [ReceivedEvent] = []
        // The least event has about a hundred bytes.
        events.reserveCapacity(min(EventLimits.events, bytes.count / 100 + 1))
        var scanner = JSONScanner(bytes)
        var count = 0
        do throws(JSONScanner.SyntaxError) {
            scanner.skipBlanks()
            guard scanner.next == UInt8(ascii: "[") else { throw scanner.fail("an array of events") }
            try scanner.array { (scanner) throws(JSONScanner.SyntaxError) in
                var reader = EventReader(index: count, catalog: catalog)
                count += 1
                // What is too much is only counted.
                guard count <= EventLimits.events else { return try scanner.skipValue() }
                if let event = try reader.read(&scanner, of: body) { events.append(event) }
                faults += reader.faults
            }
            scanner.skipBlanks()
            guard scanner.isAtEnd else { throw scanner.fail("the end") }
        } catch {
            throw .malformed(reason: error.reason)
        }
        guard count <= EventLimits.events else {
            throw .tooLarge(reason: "a batch has at most \(EventLimits.events) events, this one has \(count)")
        }
        return events
    }
}
