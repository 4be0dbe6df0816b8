import Foundation
import Locking
import PointsOfInterestHTTP

/// Keeps tracking events, and people's reports of mistakes, in a folder until the service has them, also when the app is killed.
///
/// `track` and `report` write to a file at once, so that what is in it survives the process, and to the disk a moment later
/// (fsync(2); `F_FULLFSYNC` on Apple's platforms), so that it survives a power failure. What the service has is removed from
/// the file in the background. Where the file can't be written, because the disk is full for instance, events and reports wait
/// in memory, and are written as soon as that succeeds.
///
/// On Apple's platforms, the folder is left out of backups, and can be read once the device was unlocked after its
/// start (`completeUntilFirstUserAuthentication`).
///
/// The queue is bounded: when it is full, the oldest events are dropped. Dropped events are counted, and the counts
/// are sent to the service as `events-dropped` events. Reports have a file of their own, in which there is room for
/// `maximumReports`. The folder is locked until `close()`, or the end of the process: a second queue on it throws
/// `EventQueueError.inUse`. Each process has a folder of its own, an app's extension too, and not in an app group: iOS kills a
/// process that is suspended while it holds a lock there. Methods may be called on any thread.
public final class EventQueue: Tracker {
    /// How much a queue holds.
    struct Limits {
        /// The maximum number of events.
        let events: Int
        /// The maximum number of bytes of their JSON.
        let bytes: Int

        /// Makes limits that have room for at least one event.
        init(events: Int = 10_000, bytes: Int = 8 << 20) {
            self.events = max(events, 1)
            self.bytes = max(bytes, 1)
        }
    }

    /// How many reports wait at most. When there are more, the oldest is dropped: nobody finds so many mistakes without a network.
    public static let maximumReports = 500

    /// The events, of which a batch is sent at a time.
    let events: JournaledQueue<EventBacklog>
    /// The reports, of which one is sent at a time.
    let reports: JournaledQueue<ReportBacklog>
    /// The turn to send events and reports as they arrive.
    let running = Turn()

    private static let maximumRejectedIDs = 100

    private let lockFile: JournalFile
    /// The ids of events that weren't taken; the uploader reports them.
    private let rejectedIDs = Lock<[UUID]>([])
    private let disk = DispatchQueue(label: "events-on-disk", qos: .utility)

    /// Opens the queue of a folder, and makes the folder if there is none.
    ///
    /// - Parameters:
    ///   - directory: a folder of this process's own, outside of app groups.
    ///   - maximumEvents: how many events the queue holds, from 1.
    ///   - maximumBytes: how many bytes of JSON they have in sum; there is always room for one event.
    /// - Throws: `EventQueueError`: `.inUse` where another queue has the folder, `.file` where it can't be used.
    public convenience init(
        directory: URL, maximumEvents: Int = 10_000, maximumBytes: Int = 8 << 20
    ) throws(EventQueueError) {
        try self.init(
            directory: directory, limits: Limits(events: maximumEvents, bytes: maximumBytes),
            disk: QueueDisk())
    }

    init(directory: URL, limits: Limits, disk files: QueueDisk) throws(EventQueueError) {
        let folder = directory.path
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        } catch {
            throw .system("make \(folder)")
        }
        // Before there are files in it. A queue whose folder is in backups is still better than none.
        try? files.protect(directory)
        lockFile = try JournalFile(path: "\(folder)/lock", disk: files)
        try lockFile.lock()
        events = try JournaledQueue(
            folder: folder, name: "events", EventBacklog(limits: limits), files: files, disk: disk)
        reports = try JournaledQueue(
            folder: folder, name: "reports", ReportBacklog(limit: Self.maximumReports), files: files,
            disk: disk)
        try JournalFile.synchronizeFolder(folder, disk: files)
    }

    /// The number of events that wait.
    public var count: Int { events.read { $0.entries.count } }

    /// The number of reports that wait.
    public var reportCount: Int { reports.read { $0.entries.count } }

    /// How many events were dropped since the queue was opened. Dropped events that were still in its file then, and
    /// damaged lines, count too.
    public var droppedCount: Int { events.read { $0.droppedCount } }

    /// Why the last write to a file failed; nil where it succeeded.
    public var failure: EventQueueError? { events.failure ?? reports.failure }

    /// The bytes of the lines that could not be written yet.
    var unwrittenByteCount: Int { events.unwrittenByteCount }

    /// Adds an event. When this returns, the event survives the process.
    ///
    /// An event whose user's id isn't 1 to 200 bytes, or contains a NUL, is dropped and counted: the service would refuse it.
    public func track(_ event: TrackedEvent) {
        let event = event.id == nil ? event.identified() : event
        let json = event.json
        events.add { backlog in
            if event.userID.isUserID { return backlog.append(event, json: json) }
            rejectedIDs.withLock { ids in
                if let id = event.id, ids.count < Self.maximumRejectedIDs { ids.append(id) }
            }
            return [backlog.refuse(event)]
        }
    }

    /// Adds a report of what is wrong with a place. When this returns, the report survives the process; the `EventUploader` of
    /// the queue sends it, as soon as there is a network.
    ///
    /// The service refuses a report whose text is too long, or contains a NUL: `EventUploader.Report` then says so.
    public func report(_ report: PlaceReport) {
        reports.add { $0.append(report) }
    }

    /// Waits until every event and report that was added before is on the disk.
    public func synchronize() async {
        await withCheckedContinuation { continuation in
            disk.async {
                self.events.synchronizeNow()
                self.reports.synchronizeNow()
                continuation.resume()
            }
        }
    }

    /// Waits until the queue is empty or closed, or until the task is cancelled.
    public func drained() async {
        await events.drained()
        await reports.drained()
    }

    /// Waits for the disk and unlocks the folder, so that another queue can be opened there, which sends what waits.
    ///
    /// Events that are tracked later go nowhere, and neither do reports. A request that is on its way may still be stored; what
    /// it has is sent again by the next queue, and counts once. Don't call it on the main thread. An app that ends needn't call
    /// it.
    public func close() {
        disk.sync {
            events.close()
            reports.close()
        }
        lockFile.unlock()
    }

    // MARK: - For the uploader

    /// Returns the oldest events, after adding the events that report dropped ones; nil where there is none, or the queue
    /// is closed.
    func nextBatch(events count: Int, bytes: Int, time: Double) -> EventBatch? {
        let batch = events.update { backlog in
            let reports = backlog.reportDrops(time: time, makeID: { UUID() })
            return (reports, EventBatch(backlog, events: count, bytes: bytes))
        }
        return batch ?? nil
    }

    /// Returns the ids of the events that weren't taken since the last call, but at most `maximumRejectedIDs`: an app
    /// whose ids are wrong has only such events.
    func takeRejectedIDs() -> [UUID] {
        rejectedIDs.withLock { ids in
            defer { ids = [] }
            return ids
        }
    }

    /// Removes the events that the service has stored or refused.
    func remove(_ batch: EventBatch, refused: Set<UInt64> = [], isAcknowledged: Bool) {
        var records: [JournalRecord] = []
        if !refused.isEmpty { records.append(.dropped(refused.sorted(), .refused)) }
        if isAcknowledged, let last = batch.numbers.last { records.append(.acknowledged(through: last)) }
        events.remove(records)
    }

    /// Returns the oldest report; nil where there is none, or the queue is closed.
    func nextReport() -> ReportBacklog.Entry? {
        reports.update { backlog in ([], backlog.entries.first) } ?? nil
    }

    /// Removes a report that the service has stored or refused.
    func remove(_ report: ReportBacklog.Entry) {
        reports.remove([.dropped([report.number], .refused)])
    }
}

extension EventQueueError: LocalizedError {
    /// A sentence for people, in their language where the app translates `ErrorText`. What a developer needs is in the
    /// error itself.
    public var errorDescription: String? { ErrorText.storageFailed.localized() }
}
