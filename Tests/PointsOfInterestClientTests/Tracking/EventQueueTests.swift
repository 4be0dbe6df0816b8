import Foundation
import Locking
import Testing

@testable import PointsOfInterestAPI
@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP

@Suite("A queue of events", .timeLimit(.minutes(1)))
struct EventQueueTests {
    private let folder = EventFolder()

    @Test("A queue that was not closed is complete in the next process")
    func survives() async throws {
        do {
            let queue = try folder.queue()
            for number in 1...5 { queue.track(.numbered(number)) }
            let batch = try #require(queue.nextBatch(events: 2, bytes: .max, time: 0))
            queue.remove(batch, isAcknowledged: true)
            queue.close()
        }
        let queue = try folder.queue()
        #expect(try queue.numbers() == [3, 4, 5])
        queue.track(.numbered(6))
        #expect(try queue.numbers() == [3, 4, 5, 6])
        #expect(queue.droppedCount == 0)
        #expect(queue.failure == nil)
    }

    @Test("synchronize() returns when the events are on the disk, and opening syncs the folder")
    func synchronizes() async throws {
        let synchronized = Lock<[(isFolder: Bool, size: Int)]>([])
        let queue = try folder.queue { descriptor in
            var status = stat()
            fstat(descriptor, &status)
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            synchronized.withLock { $0.append((isFolder, Int(status.st_size))) }
            return 0
        }
        #expect(synchronized.withLock { $0.map(\.isFolder) } == [true])
        for number in 1...3 {
            queue.track(.numbered(number))
            await queue.synchronize()
            let size = try Data(contentsOf: folder.file).count
            #expect(synchronized.withLock { $0.last?.size } == size)
        }
    }

    @Test("An event is on the disk a moment later, whoever asks")
    func synchronizesByItself() async throws {
        let isOpen = Lock(false)
        let (synchronized, continuation) = AsyncStream.makeStream(of: Void.self)
        let queue = try folder.queue { _ in
            if isOpen.withLock({ $0 }) { continuation.yield() }
            return 0
        }
        isOpen.withLock { $0 = true }
        queue.track(.numbered(1))
        for await _ in synchronized { break }
        #expect(queue.count == 1)
    }

    @Test("A queue reports that the disk failed")
    func failsToSynchronize() async throws {
        let queue = try folder.queue { descriptor in
            guard lseek(descriptor, 0, SEEK_END) > 0, fcntl(descriptor, F_GETFL) & O_APPEND != 0 else {
                return 0
            }
            errno = EIO
            return -1
        }
        queue.track(.numbered(1))
        await queue.synchronize()
        guard case .file(let operation, EIO) = queue.failure else {
            Issue.record("\(String(describing: queue.failure))")
            return
        }
        #expect(operation.hasPrefix("fsync"))
        #expect(queue.count == 1)
    }

    @Test("An incomplete last line is cut off, wherever the process was killed")
    func forgetsTornLine() throws {
        do {
            let queue = try folder.queue()
            for number in 1...2 { queue.track(.numbered(number)) }
            queue.close()
        }
        let whole = try Data(contentsOf: folder.file)
        let firstEnd = try #require(whole.firstIndex(of: UInt8(ascii: "\n"))) + 1
        for length in firstEnd..<whole.count {
            try whole.prefix(length).write(to: folder.file)
            let queue = try folder.queue()
            #expect(try queue.numbers() == [1])
            queue.track(.numbered(7))
            #expect(try queue.numbers() == [1, 7])
            #expect(try folder.reopened() == [1, 7], "the next line doesn't go on from the torn one")
            #expect(queue.droppedCount == 0)
            queue.close()
        }
    }

    @Test("A damaged line is skipped and reported")
    func countsDamage() throws {
        do {
            let queue = try folder.queue()
            for number in 1...3 { queue.track(.numbered(number)) }
            queue.close()
        }
        var bytes = try Data(contentsOf: folder.file)
        let line = try #require(bytes.range(of: Data("\"page\":2".utf8)))
        bytes[line.upperBound - 1] = UInt8(ascii: "9")
        try bytes.write(to: folder.file)
        for _ in 0..<2 {
            // Told once, however often the damaged line is read.
            let queue = try folder.queue()
            #expect(queue.droppedCount == 1)
            #expect(
                try queue.events() == [
                    .search(query: "q", page: 1), .search(query: "q", page: 3),
                    .eventsDropped(count: 1, reason: .damaged),
                ])
            // As an event of a test the service would leave it out.
            let batch = try #require(queue.nextBatch(events: .max, bytes: .max, time: 0))
            #expect(!String(decoding: batch.body, as: UTF8.self).contains("\"test\""))
            queue.close()
        }
    }

    @Test("A file of other bytes is read without a crash", arguments: [0, 1])
    func readsGarbage(seed: UInt8) throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let bytes = (0..<4096).map { UInt8(truncatingIfNeeded: ($0 &* 7919) >> 3) ^ seed }
        try Data(bytes).write(to: folder.file)
        let queue = try folder.queue()
        queue.track(.numbered(1))
        #expect(queue.count == 1)
        #expect(queue.droppedCount > 0)
    }

    @Test("A full queue drops its oldest events and reports how many for each user")
    func dropsOldest() throws {
        let queue = try folder.queue(EventQueue.Limits(events: 3))
        for number in 1...4 { queue.track(.numbered(number, user: "a")) }
        for number in 5...7 { queue.track(.numbered(number, user: "b", isTest: true)) }
        #expect(queue.droppedCount == 4)
        let batch = try #require(queue.nextBatch(events: 100, bytes: .max, time: 9))
        let events = try JSONDecoder().decode([TrackedEvent].self, from: Data(batch.body))
        #expect(events.prefix(3).map(\.event) == (5...7).map { .search(query: "q", page: $0) })
        #expect(events.dropFirst(3).map(\.event) == [.eventsDropped(count: 4, reason: .full)])
        #expect(events.last?.userID == "a")
        #expect(events.last?.isTest == false)
        queue.remove(batch, isAcknowledged: true)
        #expect(queue.count == 0)
        #expect(try queue.events().isEmpty)
    }

    @Test("A queue is also bounded by bytes, and has room for one event of any size")
    func boundsBytes() throws {
        let size = TrackedEvent.numbered(1).json.count
        let queue = try folder.queue(EventQueue.Limits(events: 100, bytes: 2 * size))
        for number in 1...3 { queue.track(.numbered(number)) }
        #expect(queue.count == 2)
        queue.track(
            TrackedEvent(
                userID: "u", time: 0, event: .search(query: String(repeating: "x", count: 999), page: 1)))
        #expect(queue.count == 1)
        #expect(queue.droppedCount == 3)
    }

    @Test("The count of dropped events survives restarts and a new file until it is reported")
    func keepsCounts() throws {
        do {
            let queue = try folder.queue(EventQueue.Limits(events: 2))
            for number in 1...5 { queue.track(.numbered(number)) }
            queue.close()
        }
        do {
            let queue = try folder.queue(EventQueue.Limits(events: 2))
            #expect(queue.count == 2)
            // Told, and dropped in its turn before it was sent.
            #expect(try queue.events().last == .eventsDropped(count: 3, reason: .full))
            for number in 6...7 { queue.track(.numbered(number)) }
            queue.close()
        }
        let queue = try folder.queue(EventQueue.Limits(events: 2))
        let told = try queue.events().compactMap { event -> Int? in
            if case .eventsDropped(let dropped) = event { dropped.count } else { nil }
        }
        #expect(told.reduce(0, +) + queue.count - told.count == 7)
    }

    @Test("The file is replaced when most of it is outdated, and nothing is lost")
    func compacts() async throws {
        let queue = try folder.queue()
        for round in 0..<40 {
            for number in 1...20 { queue.track(.numbered(round * 20 + number)) }
            let batch = try #require(queue.nextBatch(events: 20, bytes: .max, time: 0))
            if round < 39 { queue.remove(batch, isAcknowledged: true) }
            await queue.synchronize()
        }
        let size = try Data(contentsOf: folder.file).count
        // 800 events of this size would be more than this.
        #expect(size < 80 << 10)
        #expect(800 * TrackedEvent.numbered(100).json.count > 80 << 10)
        #expect(try queue.numbers() == Array(781...800))
        queue.track(.numbered(801))
        #expect(queue.failure == nil)
        #expect(try folder.reopened() == Array(781...801))
    }

    @Test("Events that are tracked while the file is replaced are kept")
    func compactsMeanwhile() async throws {
        // Once there is something to write anew, each wait for the disk is long enough for another event.
        let (remaining, tracking) = (Lock(0), Lock<EventQueue?>(nil))
        let queue = try folder.queue { _ in
            let number = remaining.withLock { remaining in
                defer { remaining = max(0, remaining - 1) }
                return remaining
            }
            if number > 0 { tracking.withLock { $0 }?.track(.numbered(number)) }
            return 0
        }
        tracking.withLock { $0 = queue }
        for number in 1...1000 { queue.track(.numbered(number)) }
        await queue.synchronize()
        let batch = try #require(queue.nextBatch(events: 1000, bytes: .max, time: 0))
        queue.track(.numbered(1001))
        await queue.synchronize()
        remaining.withLock { $0 = 3 }
        queue.remove(batch, isAcknowledged: true)
        await queue.synchronize()
        tracking.withLock { $0 = nil }
        #expect(try folder.reopened() == [1001, 3, 2, 1])
        #expect(try Data(contentsOf: folder.file).count < 10_000)
    }

    @Test("A batch has as many events as a request may have, and at least one of any size")
    func boundsBatches() throws {
        let queue = try folder.queue()
        for number in 1...9 { queue.track(.numbered(number)) }
        let whole = try #require(queue.nextBatch(events: 3, bytes: .max, time: 0)).body.count
        for (bytes, expected) in [(whole, 3), (whole - 1, 2), (1, 1)] {
            let batch = try #require(queue.nextBatch(events: .max, bytes: bytes, time: 0))
            #expect(batch.numbers.count == expected)
        }
    }

    @Test("A second queue on the folder is refused")
    func excludesOthers() throws {
        do {
            let queue = try folder.queue()
            #expect(throws: EventQueueError.inUse) { try folder.queue() }
            #expect(queue.count == 0)
            queue.close()
        }
        #expect(throws: Never.self) { try folder.queue() }
    }

    @Test(
        "A closed queue takes no event, gives none to the uploader, and writes nothing to another queue's folder"
    )
    func closes() async throws {
        let first = try folder.queue(EventQueue.Limits(events: 2))
        for number in 1...2 { first.track(.numbered(number)) }
        let batch = try #require(first.nextBatch(events: 1, bytes: .max, time: 0))
        first.track(.numbered(3))
        first.close()
        await first.drained()
        let second = try folder.queue()
        let bytes = try Data(contentsOf: folder.file)
        first.track(.numbered(9))
        // It would report the event that was dropped.
        #expect(first.nextBatch(events: 9, bytes: .max, time: 0)?.numbers == nil)
        first.remove(batch, isAcknowledged: true)
        await first.synchronize()
        #expect(try Data(contentsOf: folder.file) == bytes)
        second.track(.numbered(4))
        #expect(try folder.reopened().filter { $0 > 0 } == [2, 3, 4])
    }

    @Test("A queue without a usable folder throws the reason")
    func needsFolder() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let error = #expect(throws: EventQueueError.self) { try EventQueue(directory: file) }
        #expect("\(String(describing: error))".contains(file.lastPathComponent))
        #expect(error?.localizedDescription == ErrorText.storageFailed.english)
    }

    @Test("An event without an id gets one that stays")
    func makesIDs() throws {
        func ids(_ queue: EventQueue) -> [UUID?]? { queue.nextBatch(events: 9, bytes: .max, time: 0)?.ids }
        let first: [UUID?]?
        do {
            let queue = try folder.queue()
            queue.track(TrackedEvent(id: nil, userID: "u", time: 0, event: .launch))
            first = ids(queue)
            queue.close()
        }
        #expect(first?.count == 1)
        #expect(first?.first != .some(nil))
        #expect(ids(try folder.queue()) == first)
    }
}

/// A folder of a test's own for a queue; gone with the test.
final class EventFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("events-\(UUID().uuidString)")

    /// The queue's file.
    var file: URL { url.appendingPathComponent("events") }

    deinit { try? FileManager.default.removeItem(at: url) }

    func queue(_ limits: EventQueue.Limits = EventQueue.Limits()) throws -> EventQueue {
        try EventQueue(directory: url, maximumEvents: limits.events, maximumBytes: limits.bytes)
    }

    /// A queue with a stand-in for fsync(2).
    func queue(fsync: @escaping FileSync) throws -> EventQueue {
        try EventQueue(directory: url, limits: EventQueue.Limits(), disk: QueueDisk(synchronize: fsync))
    }
}

extension TrackedEvent {
    /// The event of a number, for a user.
    static func numbered(_ number: Int, user: String = "u", isTest: Bool = false) -> TrackedEvent {
        TrackedEvent(
            userID: user, time: Double(number), event: .search(query: "q", page: number), isTest: isTest)
    }
}

extension EventQueue {
    /// The events that wait, those about dropped ones among them.
    func events() throws -> [TrackingEvent] {
        guard let batch = nextBatch(events: .max, bytes: .max, time: 0) else { return [] }
        return try JSONDecoder().decode([TrackedEvent].self, from: Data(batch.body)).map(\.event)
    }

    /// The numbers of the events that wait.
    func numbers() throws -> [Int] {
        try events().map { event in
            if case .search(let search) = event { search.page } else { -1 }
        }
    }
}

extension EventFolder {
    /// A folder with what one file has now.
    ///
    /// Not by `copyItem`: of a file that becomes shorter meanwhile, as a queue's may, it waits for the rest for ever.
    func copy(_ name: String) throws -> EventFolder {
        let copy = EventFolder()
        try FileManager.default.createDirectory(at: copy.url, withIntermediateDirectories: true)
        try Data(contentsOf: url.appendingPathComponent(name)).write(
            to: copy.url.appendingPathComponent(name))
        return copy
    }

    /// The numbers of the events that the next process finds.
    func reopened() throws -> [Int] { try copy("events").queue().numbers() }
}
