import Foundation

/// The events that wait, as a value: what a queue's file says, and what is done to it.
///
/// Whatever happens is a record that is applied here and appended there, so that reading the file again makes the
/// same backlog.
struct EventBacklog {
    /// An event that waits.
    struct Entry {
        let number: UInt64
        let owner: Owner
        let json: [UInt8]
        /// How many dropped events it tells of; nil for an event of the app's.
        let report: (key: EventDrops.Key, count: Int)?
    }

    /// What has to be known of an event besides its JSON.
    struct Owner {
        let id: UUID?
        /// Nil where the JSON isn't an event that the service could read.
        let userID: String?
        let isTest: Bool

        init(_ event: TrackedEvent) {
            (id, userID, isTest) = (event.id, event.userID, event.isTest)
        }

        init(json: [UInt8]) {
            let event = try? JSONDecoder().decode(Envelope.self, from: Data(json))
            let hasUser = (1...EventLimits.userIDBytes).contains(event?.userID.utf8.count ?? 0)
            (id, userID, isTest) = hasUser ? (event?.id, event?.userID, event?.test ?? false) : (nil, nil, false)
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

    let limits: EventQueue.Limits
    /// Oldest first, so in the order of their numbers.
    private(set) var entries: ArraySlice<Entry> = []
    /// The bytes of their JSON.
    private(set) var byteCount = 0
    private(set) var drops = EventDrops()
    /// How many events were dropped since the backlog is in memory, told or not.
    private(set) var droppedCount = 0
    private(set) var nextNumber: UInt64 = 1

    init(limits: EventQueue.Limits) {
        self.limits = limits
    }

    /// The records of one more event: itself, and the oldest that have to make room for it.
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

    /// The records that turn what was dropped into events, which wait like all others.
    mutating func reportDrops(time: Double, makeID: () -> UUID) -> [JournalRecord] {
        var records: [JournalRecord] = []
        for (key, count) in drops.counts {
            // Nobody's events are told as those of whoever uses the app; they wait until that is known.
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

    /// Does what a record says; one that says what is so already does nothing.
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
        }
    }

    /// Counts a line that nobody can read any more.
    mutating func addDamage() {
        drops.add(EventDrops.Key(userID: nil, isTest: false, reason: .damaged))
        droppedCount += 1
    }

    /// The records that make this backlog, as short as they can be.
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
                // What it would have told is still to be told.
                drops.add(report.key, report.count)
            } else {
                drops.add(
                    EventDrops.Key(userID: entry.owner.userID, isTest: entry.owner.isTest, reason: reason))
                droppedCount += 1
            }
        }
    }

    /// Takes entries out; cheaply where they are the oldest, as they are where the queue is full.
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
