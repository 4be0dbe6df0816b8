import Foundation
import PointsOfInterestHTTP

/// The events that wait in a queue, as a value.
struct EventBacklog: JournaledBacklog, Sendable {
    /// An event that waits.
    struct Entry {
        let number: UInt64
        let owner: Owner
        let json: [UInt8]
        /// The dropped events that it reports; nil for an event of the app.
        let report: (key: EventDrops.Key, count: Int)?
    }

    /// What has to be known about an event besides its JSON.
    struct Owner {
        let id: UUID?
        /// Nil where the JSON isn't a valid event, or its id is one that the service refuses.
        let userID: String?
        let isTest: Bool

        init(_ event: TrackedEvent) {
            (id, userID, isTest) = (event.id, event.userID.isUserID ? event.userID : nil, event.isTest)
        }

        init(json: [UInt8]) {
            let event = try? JSONDecoder().decode(Envelope.self, from: Data(json))
            let hasUser = event?.userID.isUserID ?? false
            (id, userID) = hasUser ? (event?.id, event?.userID) : (nil, nil)
            isTest = hasUser && event?.test == true
        }

        /// The members that every event has. The values aren't decoded: nothing here asks for them.
        private struct Envelope: Decodable {
            struct Content: Decodable {
                let name: String
            }

            private enum CodingKeys: String, CodingKey {
                case id, time, event, test
                case userID = "user_id"
            }

            let id: UUID?
            let userID: String
            let time: Double
            let event: Content
            let test: Bool?
        }
    }

    static let toleratedBytes = 64 << 10

    let limits: EventQueue.Limits
    /// Oldest first, so in the order of their numbers.
    private(set) var entries: ArraySlice<Entry> = []
    /// The bytes of their JSON.
    private(set) var byteCount = 0
    private(set) var drops = EventDrops()
    /// How many events were dropped since the backlog was created, reported or not. When the records of a file are
    /// applied, the events that they drop are counted, too.
    private(set) var droppedCount = 0
    private(set) var nextNumber: UInt64 = 1

    init(limits: EventQueue.Limits) {
        self.limits = limits
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Appends an event, and drops the oldest ones where the backlog is full. Returns the records of that.
    mutating func append(_ event: TrackedEvent, json: [UInt8]) -> [JournalRecord] {
        let record = JournalRecord.event(number: nextNumber, json: json)
        insert(number: nextNumber, json, Owner(event), report: nil)
        var crowdedOut: [UInt64] = []
        var rest = (count: entries.count, bytes: byteCount)
        for entry in entries.dropLast() {
            guard rest.count > limits.events || rest.bytes > limits.bytes else { break }
            crowdedOut.append(entry.number)
            rest = (rest.count - 1, rest.bytes - entry.json.count)
        }
        guard !crowdedOut.isEmpty else { return [record] }
        let drop = JournalRecord.dropped(crowdedOut, .full)
        apply(drop)
        return [record, drop]
    }

    /// Counts an event that isn't appended, since the service would refuse it. Returns the record of that.
    mutating func refuse(_ event: TrackedEvent) -> JournalRecord {
        let owner = Owner(event)
        let record = JournalRecord.counted(
            EventDrops.Key(userID: owner.userID, isTest: owner.isTest, reason: .refused), 1)
        apply(record)
        droppedCount += 1
        return record
    }

    /// Appends events that report the dropped ones. Returns the records of that.
    mutating func reportDrops(time: Double, makeID: () -> UUID) -> [JournalRecord] {
        var records: [JournalRecord] = []
        for (key, count) in drops.counts {
            // Drops without a known user are reported for the current one, as soon as there is one.
            guard let userID = key.userID ?? entries.last?.owner.userID else { continue }
            let event = TrackedEvent(
                id: makeID(), userID: userID, time: time,
                event: .eventsDropped(count: count, reason: .init(rawValue: key.reason.rawValue)),
                isTest: key.isTest)
            let record = JournalRecord.report(number: nextNumber, drop: key, count: count, json: event.json)
            apply(record)
            records.append(record)
        }
        return records
    }

    mutating func apply(_ record: JournalRecord) {
        switch record {
        case .event(let number, let json):
            insert(number: number, json, Owner(json: json), report: nil)
        case .report(let number, let key, let count, let json):
            insert(number: number, json, Owner(json: json), report: (key, count))
            drops.remove(key, count)
        case .acknowledged(let number):
            while let first = entries.first, first.number <= number {
                byteCount -= first.json.count
                entries.removeFirst()
            }
        case .dropped(let numbers, let reason): drop(Set(numbers), reason)
        case .counted(let key, let count): drops.add(key, count)
        case .restarted:
            let dropped = droppedCount
            self = EventBacklog(limits: limits)
            droppedCount = dropped
        }
    }

    mutating func addDamage() {
        drops.add(EventDrops.Key(userID: nil, isTest: false, reason: .damaged))
        droppedCount += 1
    }

    var records: [JournalRecord] {
        drops.counts.map { JournalRecord.counted($0.key, $0.value) }
            + entries.map { entry in
                guard let report = entry.report else {
                    return .event(number: entry.number, json: entry.json)
                }
                return .report(
                    number: entry.number, drop: report.key, count: report.count, json: entry.json)
            }
    }

    private mutating func insert(
        number: UInt64, _ json: [UInt8], _ owner: Owner, report: (key: EventDrops.Key, count: Int)?
    ) {
        guard number >= nextNumber, number < .max else { return }
        entries.append(Entry(number: number, owner: owner, json: json, report: report))
        byteCount += json.count
        nextNumber = number + 1
    }

    private mutating func drop(_ numbers: Set<UInt64>, _ reason: EventDropReason) {
        for entry in take(numbers) {
            byteCount -= entry.json.count
            if let report = entry.report {
                // The drops that it reports still have to be reported, unless the service refused the report: it would
                // refuse each further report as well.
                if reason != .refused { drops.add(report.key, report.count) }
            } else {
                drops.add(
                    EventDrops.Key(userID: entry.owner.userID, isTest: entry.owner.isTest, reason: reason))
                droppedCount += 1
            }
        }
    }

    /// Removes entries and returns them. This is cheap for the oldest ones, which are dropped when the queue is full.
    private mutating func take(_ numbers: Set<UInt64>) -> [Entry] {
        var taken: [Entry] = []
        while let first = entries.first, numbers.contains(first.number) {
            taken.append(entries.removeFirst())
        }
        guard taken.count < numbers.count else { return taken }
        taken += entries.filter { numbers.contains($0.number) }
        entries.removeAll { numbers.contains($0.number) }
        return taken
    }
}

extension String {
    /// Whether the service accepts this as a user's id.
    var isUserID: Bool { (1...EventLimits.userIDBytes).contains(utf8.count) && !utf8.contains(0) }
}

/// The dropped events that aren't reported yet.
struct EventDrops: Equatable {
    /// Drops with equal keys are counted together.
    struct Key: Hashable {
        /// The user of the events; nil where it isn't known any more.
        let userID: String?
        let isTest: Bool
        let reason: EventDropReason
    }

    private(set) var counts: [Key: Int] = [:]

    mutating func add(_ key: Key, _ count: Int = 1) {
        counts[key, default: 0] += count
    }

    mutating func remove(_ key: Key, _ count: Int) {
        let rest = (counts[key] ?? 0) - count
        counts[key] = rest > 0 ? rest : nil
    }
}

/// Why an event was dropped. Drops are counted, and the counts are sent as `events-dropped` events.
enum EventDropReason: String, CaseIterable {
    /// The queue was full, and this was its oldest event.
    case full
    /// The service refused the event.
    case refused
    /// A line of the queue's file was damaged.
    case damaged
}

/// The oldest events of a queue, ready to be sent.
struct EventBatch {
    /// Their numbers in the queue, in order; never empty.
    let numbers: [UInt64]
    /// Their ids, in order; nil where an event has none that can be read.
    let ids: [UUID?]
    /// Their JSON, the body of a request.
    let body: [UInt8]

    /// Takes the oldest events of a backlog, as many as fit, but at least one. Nil where there is none.
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
