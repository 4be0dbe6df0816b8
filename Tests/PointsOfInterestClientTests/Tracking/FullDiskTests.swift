import Foundation
import Locking
import Testing

@testable import PointsOfInterestAPI
@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP

/// A disk that has room for so many bytes more, as write(2) sees it: the rest of a write that doesn't fit is refused.
private final class SmallDisk: Sendable {
    private let space: Lock<Int>

    init(space: Int) { self.space = Lock(space) }

    func setSpace(_ bytes: Int) { space.withLock { $0 = bytes } }

    var queueDisk: QueueDisk {
        QueueDisk(write: { [self] descriptor, bytes in
            let length = space.withLock { space in
                defer { space -= min(space, bytes.count) }
                return min(space, bytes.count)
            }
            guard length > 0 else {
                errno = ENOSPC
                return -1
            }
            return write(descriptor, Array(bytes), length)
        })
    }
}

@Suite("A queue on a full disk", .timeLimit(.minutes(1)))
struct FullDiskTests {
    private let folder = EventFolder()
    private let disk = SmallDisk(space: .max)

    private func queue(_ limits: EventQueue.Limits = EventQueue.Limits()) throws -> EventQueue {
        try EventQueue(directory: folder.url, limits: limits, disk: disk.queueDisk)
    }

    @Test(
        "Once there is space again, the file has every event, in order", arguments: [0, 1_000, 150_000])
    func catchesUp(space: Int) throws {
        let queue = try queue()
        for number in 1...469 { queue.track(.numbered(number)) }
        disk.setSpace(space)
        for number in 470...2000 { queue.track(.numbered(number)) }
        #expect(queue.failure == .file(operation: "write \(folder.file.path)", code: ENOSPC))
        #expect(try folder.reopened().count < 2000)
        disk.setSpace(.max)
        queue.track(.numbered(2001))
        #expect(queue.failure == nil)
        #expect(try folder.reopened() == Array(1...2001))
    }

    @Test("Events in memory are written without a new event, when the app or the uploader uses the queue")
    func catchesUpWithoutEvents() async throws {
        let queue = try queue()
        disk.setSpace(0)
        for number in 1...3 { queue.track(.numbered(number)) }
        await queue.synchronize()
        #expect(try folder.reopened() == [])
        disk.setSpace(.max)
        await queue.synchronize()
        #expect(try folder.reopened() == [1, 2, 3])
        disk.setSpace(0)
        queue.track(.numbered(4))
        disk.setSpace(.max)
        _ = queue.nextBatch(events: 1, bytes: .max, time: 0)
        #expect(try folder.reopened() == [1, 2, 3, 4])
    }

    @Test("A process that is killed while the disk is full loses the events of that time, and no others")
    func losesUnwritten() throws {
        let queue = try queue()
        queue.track(.numbered(1))
        disk.setSpace(0)
        for number in 2...3 { queue.track(.numbered(number)) }
        #expect(queue.failure != nil)
        #expect(queue.count == 3)
        // What the next process finds.
        #expect(try folder.reopened() == [1])
    }

    @Test("Events that the service acknowledged while the disk was full aren't sent again")
    func remembersAcknowledgements() throws {
        let queue = try queue()
        for number in 1...4 { queue.track(.numbered(number)) }
        disk.setSpace(0)
        let batch = try #require(queue.nextBatch(events: 2, bytes: .max, time: 0))
        queue.remove(batch, isAcknowledged: true)
        queue.track(.numbered(5))
        disk.setSpace(.max)
        queue.track(.numbered(6))
        #expect(try folder.reopened() == [3, 4, 5, 6])
    }

    @Test("A disk that is full for long costs no more memory than the queue has, and no count")
    func staysBounded() async throws {
        let queue = try queue(EventQueue.Limits(events: 10))
        for number in 1...10 { queue.track(.numbered(number)) }
        disk.setSpace(0)
        var mostUnwritten = 0
        for number in 11...3000 {
            queue.track(.numbered(number))
            mostUnwritten = max(mostUnwritten, queue.unwrittenByteCount)
        }
        #expect(mostUnwritten < 80 << 10)
        disk.setSpace(.max)
        queue.track(.numbered(3001))
        await queue.synchronize()
        #expect(queue.unwrittenByteCount == 0)
        queue.close()
        let next = try folder.queue()
        #expect(
            try next.events().prefix(10).map(\.content.value["page"]) == (2992...3001).map { .integer($0) })
        #expect(try next.events().last == .eventsDropped(count: 2991, reason: .full))
    }

    @Test("Events that are added to a full queue don't make the file grow for ever")
    func keepsFileSmall() async throws {
        let queue = try queue(EventQueue.Limits(events: 10))
        for number in 1...2000 {
            queue.track(.numbered(number))
            if number.isMultiple(of: 100) { await queue.synchronize() }
        }
        await queue.synchronize()
        #expect(try Data(contentsOf: folder.file).count < 100 << 10)
        #expect(2000 * TrackedEvent.numbered(1000).json.count > 200 << 10)
        #expect(try folder.reopened().prefix(10) == Array(1991...2000)[...])
    }

    @Test("A new file that doesn't fit is removed, and the old one goes on")
    func leavesNoNewFile() async throws {
        do {
            let queue = try queue()
            for number in 1...1000 { queue.track(.numbered(number)) }
            queue.close()
        }
        // Most of the file is outdated with the first event of a smaller queue.
        let queue = try queue(EventQueue.Limits(events: 10))
        disk.setSpace(500)
        queue.track(.numbered(1001))
        await queue.synchronize()
        #expect(queue.failure != nil)
        #expect(!FileManager.default.fileExists(atPath: folder.file.path + ".new"))
        disk.setSpace(.max)
        queue.track(.numbered(1002))
        await queue.synchronize()
        #expect(try folder.reopened().prefix(10) == Array(993...1002)[...])
    }
}
