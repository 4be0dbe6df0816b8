import Foundation

@testable import PointsOfInterestClient

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
    /// The numbers of the events that the next process finds.
    func reopened() throws -> [Int] {
        let copy = EventFolder()
        try FileManager.default.createDirectory(at: copy.url, withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: file, to: copy.file)
        return try copy.queue().numbers()
    }
}
