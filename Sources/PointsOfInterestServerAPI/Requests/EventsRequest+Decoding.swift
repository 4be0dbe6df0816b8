import PointsOfInterestAPI

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension EventsRequest {
    /// Reads and checks a body in one pass over its bytes. One fault refuses the whole batch.
    ///
    /// It stops at the first event beyond the maximum. What follows isn't read, so it need not be JSON.
    ///
    /// An event is checked against its definition in the catalog. One without a definition comes from a newer app: its
    /// value is kept as it is. Unknown members of an event are ignored.
    ///
    /// - Throws: why the batch is refused, with the faults of the first hundred events that have some.
    package static func decode(
        body: [UInt8], catalog: EventCatalog = .builtIn
    ) throws(EventsError) -> [ReceivedEvent] {
        var decoder = EventsDecoder(body: body, catalog: catalog)
        return try decoder.decode()
    }
}

/// Reads a batch of events from a request's body.
private struct EventsDecoder {
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
        let events = try body.withScanner { (scanner) throws(EventsError) in try read(&scanner) }
        guard faults.isEmpty else { throw .invalid(faults) }
        return events
    }

    private mutating func read(_ scanner: inout JSONScanner) throws(EventsError) -> [ReceivedEvent] {
        var reader = EventReader(body: body, catalog: catalog)
        var count = 0
        var hasTooMany = false
        var faultyCount = 0
        do throws(JSONScanner.SyntaxError) {
            scanner.skipBlanks()
            guard scanner.next == UInt8(ascii: "[") else { throw scanner.fail("an array of events") }
            try scanner.array { (scanner) throws(JSONScanner.SyntaxError) in
                // Further events aren't even counted: gzip makes a kilobyte of a megabyte of them.
                guard count < EventLimits.events else {
                    hasTooMany = true
                    throw scanner.fail("the array's end")
                }
                // An event may have only two bytes. Reporting the faults of a thousand such events would cost more than
                // all else.
                let isNamed = faultyCount < EventLimits.faultyEvents
                try reader.read(&scanner, index: count, maximumFaults: isNamed ? EventLimits.faults : 1)
                count += 1
                guard !reader.faults.isEmpty else { return }
                faultyCount += 1
                if isNamed { faults += reader.faults }
            }
            scanner.skipBlanks()
            guard scanner.isAtEnd else { throw scanner.fail("the end") }
        } catch {
            guard !hasTooMany else {
                throw .tooLarge(reason: "a batch has at most \(EventLimits.events) events, this one has more")
            }
            throw .malformed(reason: error.reason)
        }
        return reader.events
    }
}

/// An event as the service received it, checked: its value is still the JSON that was sent.
package struct ReceivedEvent: Hashable, Sendable {
    /// The app's id for it; nil where the client made none.
    package var id: UUID?
    /// Who did it.
    package var userID: String
    /// When it happened by the phone's clock, in seconds since 1970, within `EventLimits.times`.
    package var time: Double
    /// What happened.
    package var name: String
    /// The value's bytes as they were sent: a JSON object that PostgreSQL takes as `jsonb`; empty where there is
    /// none.
    package var value: ArraySlice<UInt8>
    package var isTest: Bool
    /// Whether the catalog knows the name; if not, a newer app sent it.
    package var isKnown: Bool

    /// Makes an event.
    package init(
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

/// Why a batch of events was refused. None of its events is stored.
package enum EventsError: Error, Hashable, Sendable {
    /// The body is not a JSON array; `reason` names the first byte that is wrong.
    case malformed(reason: String)
    /// There are more events, or more bytes, than a batch may have.
    case tooLarge(reason: String)
    /// Some events have faults; there is at least one fault for each of the first hundred of them. Never empty.
    case invalid([EventFault])
}

extension Problem {
    /// Makes the problem of a batch of events that was refused.
    package init(_ error: EventsError, requestId: String? = nil) {
        switch error {
        case .malformed(let reason):
            self.init(.malformedBody, detail: reason, requestId: requestId)
        case .tooLarge(let reason):
            self.init(.contentTooLarge, detail: reason, requestId: requestId)
        case .invalid(let faults):
            let count = Set(faults.map(\.index)).count
            let events = count == 1 ? "1 event is" : "\(count) events are"
            let isCut = count >= EventLimits.faultyEvents
            self.init(
                .invalidEvents, detail: "\(isCut ? "at least " : "")\(events) refused",
                requestId: requestId, eventErrors: faults)
        }
    }
}
