import Foundation
import Locking
import Testing

@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP

@Suite("A queue's disk")
struct QueueDiskTests {
    /// What is called in a synchronization, with `F_FULLFSYNC` as on Apple's platforms, and what comes out of it.
    private func calls(
        fullResult: Int32, reason: Int32 = 0, fsyncResult: Int32 = 0
    ) -> (calls: [String], result: Int32, reason: Int32) {
        let calls = Lock<[String]>([])
        errno = 0
        let result = QueueDisk.synchronize(3, command: 51) { descriptor, command in
            calls.withLock { $0.append("fcntl \(descriptor) \(command)") }
            errno = reason
            return fullResult
        } fsync: { descriptor in
            calls.withLock { $0.append("fsync \(descriptor)") }
            if fsyncResult != 0 { errno = EIO }
            return fsyncResult
        }
        return (calls.withLock { $0 }, result, errno)
    }

    @Test("On a system with a command that flushes the disk itself, fsync isn't called", arguments: [0, 1])
    func usesCommand(result: Int32) {
        let outcome = calls(fullResult: result)
        #expect(outcome.calls == ["fcntl 3 51"])
        #expect(outcome.result == 0)
    }

    @Test("A file system without the command gets fsync", arguments: [ENOTSUP, EINVAL, ENOTTY])
    func fallsBack(reason: Int32) {
        #expect(calls(fullResult: -1, reason: reason).calls == ["fcntl 3 51", "fsync 3"])
        #expect(calls(fullResult: -1, reason: reason).result == 0)
        let failed = calls(fullResult: -1, reason: reason, fsyncResult: -1)
        #expect(failed.result == -1)
        #expect(failed.reason == EIO)
    }

    @Test(
        "A disk that fails is reported, and fsync, which could succeed, isn't called",
        arguments: [EIO, EINTR])
    func reportsFailure(reason: Int32) {
        let outcome = calls(fullResult: -1, reason: reason)
        #expect(outcome.calls == ["fcntl 3 51"])
        #expect(outcome.result == -1)
        #expect(outcome.reason == reason)
    }

    @Test("On a system without such a command, fsync is called")
    func usesFsync() {
        let synchronized = Lock<[Int32]>([])
        let result = QueueDisk.synchronize(3, command: nil) { _, _ in
            -1
        } fsync: { descriptor in
            synchronized.withLock { $0.append(descriptor) }
            return 0
        }
        #expect(result == 0)
        #expect(synchronized.withLock { $0 } == [3])
    }

    @Test("The system's own calls work on a file and a folder")
    func works() throws {
        let folder = EventFolder()
        let queue = try folder.queue()
        queue.track(.numbered(1))
        queue.close()
        #expect(queue.failure == nil)
        for path in [folder.url.path, folder.file.path] {
            let descriptor = open(path, O_RDONLY)
            defer { close(descriptor) }
            #expect(QueueDisk().synchronize(descriptor) == 0)
        }
        #expect(QueueDisk().synchronize(-1) != 0)
        #expect(throws: Never.self) { try QueueDisk().protect(folder.url) }
    }

    @Test("A queue protects its folder before there is anything in it, and works where that fails")
    func protectsFolder() throws {
        let folder = EventFolder()
        let contents = Lock<[[String]]>([])
        let disk = QueueDisk(protect: { url in
            let names = try FileManager.default.contentsOfDirectory(atPath: url.path)
            contents.withLock { $0.append(names) }
            throw CocoaError(.featureUnsupported)
        })
        let queue = try EventQueue(directory: folder.url, limits: EventQueue.Limits(), disk: disk)
        #expect(contents.withLock { $0 } == [[]])
        queue.track(.numbered(1))
        #expect(queue.failure == nil)
        #expect(try folder.reopened() == [1])
    }
}

@Suite("A line of a queue's file")
struct JournalRecordTests {
    private static let key = EventDrops.Key(userID: "a: b\né", isTest: true, reason: .refused)
    private static let records: [JournalRecord] = [
        .event(number: 1, json: Array(#"{"a": "b c:d"}"#.utf8)),
        .report(number: .max - 1, drop: key, count: 3, json: Array("{}".utf8)),
        .report(
            number: 2, drop: EventDrops.Key(userID: nil, isTest: false, reason: .damaged), count: 1,
            json: Array("{}".utf8)),
        .acknowledged(through: 42), .dropped([1, 5, 7], .full), .counted(key, 9),
        .restarted,
    ]

    @Test("A line reads back as its record", arguments: records)
    func roundTrips(record: JournalRecord) {
        #expect(record.line.last == UInt8(ascii: "\n"))
        #expect(record.line.count { $0 == UInt8(ascii: "\n") } == 1)
        #expect(JournalRecord(line: record.line.dropLast()) == record)
    }

    @Test("A line is damaged where any byte is changed or missing", arguments: records)
    func noticesDamage(record: JournalRecord) {
        let line = Array(record.line.dropLast())
        for index in line.indices {
            var changed = line
            changed[index] ^= 1
            #expect(JournalRecord(line: changed[...]) == nil)
            #expect(JournalRecord(line: line[..<index]) == nil)
        }
    }
}
