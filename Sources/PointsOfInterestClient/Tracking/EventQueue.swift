import Foundation
import Locking

/// Events that wait for the service, in a folder, where a killed app finds them again.
///
/// `track` writes an event to a file at once, so that it outlives the process, and has it on the disk (fsync(2)) a
/// moment later, so that it outlives the device's power. What the service has is taken off the file in the
/// background. Where the file can't be written, events wait in memory.
///
/// The queue is bounded: where it is full, the oldest events make room, and are counted. Whatever is dropped, for
/// this or another reason (`EventDropReason`), is told to the service by an `events-dropped` event. Its folder is
/// locked: a second queue on it, of an extension for instance, gets `EventQueueError.inUse` and needs a folder of its
/// own. Don't put it where apps share files (an app group): iOS ends an app that is suspended with a lock there.
public final class EventQueue: Tracker {
    /// How much a queue holds.
    public struct Limits: Hashable, Sendable {
        /// The most events.
        public var events: Int
        /// The most bytes of their JSON in sum.
        public var bytes: Int

        /// Makes limits; there is always room for one event.
        public init(events: Int = 10_000, bytes: Int = 8 << 20) {
            self.events = max(events, 1)
            self.bytes = max(bytes, 1)
        }
    }

    private struct State {
        var backlog: EventBacklog
        var file: JournalFile
        /// The lines that come while the file is written anew; nil else.
        var linesSinceSnapshot: [UInt8]?
        var isSynchronizing = false
        var isClosed = false
        var failure: EventQueueError?
        /// Wakes whoever waits for events.
        var wake: AsyncStream<Void>.Continuation?
        /// Whoever waits for an empty queue; their streams end with it.
        var waitingForEmpty: [AsyncStream<Never>.Continuation] = []
    }

    private let folder: String
    private let fsync: FileSync
    private let lockFile: JournalFile
    private let state: Lock<State>
    private let disk = DispatchQueue(label: "events-on-disk", qos: .utility)

    /// Opens the queue of a folder, and makes the folder if there is none.
    ///
    /// - Throws: `EventQueueError`.
    public convenience init(directory: URL, limits: Limits = Limits()) throws(EventQueueError) {
        try self.init(directory: directory, limits: limits, fsync: { Foundation.fsync($0) })
    }

    init(directory: URL, limits: Limits, fsync: @escaping FileSync) throws(EventQueueError) {
        folder = directory.path
        self.fsync = fsync
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        } catch {
            throw .system("make \(folder)")
        }
        lockFile = try JournalFile(path: "\(folder)/lock", fsync: fsync)
        try lockFile.lock()
        let file = try JournalFile(path: "\(folder)/events", fsync: fsync)
        let backlog = try Self.backlog(of: file, limits: limits)
        state = Lock(State(backlog: backlog, file: file))
        try JournalFile.synchronizeFolder(folder, fsync: fsync)
    }

    /// The number of events that wait.
    public var count: Int { state.withLock { $0.backlog.entries.count } }

    /// How many events were dropped since the queue was opened.
    public var droppedCount: Int { state.withLock { $0.backlog.droppedCount } }

    /// Why the file couldn't be written the last time it had to be; nil where it could.
    public var failure: EventQueueError? { state.withLock { $0.failure } }

    /// Takes an event: when this returns, a killed app finds it again.
    public func track(_ event: TrackedEvent) {
        let event = event.id == nil ? event.identified() : event
        let json = event.json
        let needsDisk = state.withLock { state -> Bool in
            guard !state.isClosed else { return false }
            let records = state.backlog.append(event, json: json)
            Self.write(records, to: &state)
            state.wake?.yield()
            defer { state.isSynchronizing = true }
            return !state.isSynchronizing
        }
        if needsDisk { disk.async { self.synchronizeNow() } }
    }

    /// Waits until the disk has every event that was tracked before.
    public func synchronize() async {
        await withCheckedContinuation { continuation in
            disk.async {
                self.synchronizeNow()
                continuation.resume()
            }
        }
    }

    /// Waits until no event waits any more, or until the task is cancelled.
    public func drained() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        let isEmpty = state.withLock { state -> Bool in
            guard !state.backlog.entries.isEmpty else { return true }
            state.waitingForEmpty.append(continuation)
            return false
        }
        if !isEmpty { for await _ in stream {} }
    }

    /// Waits for the disk and gives the folder free: another queue can be opened there. Not for the main thread.
    /// Events that are tracked later are lost. An app that ends needn't call it.
    public func close() {
        state.withLock { $0.isClosed = true }
        disk.sync { synchronizeNow() }
        lockFile.unlock()
    }

    private func synchronizeNow() {
        let file = state.withLock { state -> JournalFile in
            state.isSynchronizing = false
            return state.file
        }
        note { () throws(EventQueueError) in try file.synchronize() }
    }

    // MARK: - For whoever sends

    /// The events at the head, first of all what there is to tell of dropped ones; nil where there is nothing.
    func nextBatch(events: Int, bytes: Int, time: Double) -> EventBatch? {
        state.withLock { state in
            let reports = state.backlog.reportDrops(time: time, makeID: { UUID() })
            Self.write(reports, to: &state)
            return EventBatch(state.backlog, events: events, bytes: bytes)
        }
    }

    /// Takes off what the service has, or has refused for good.
    func remove(_ batch: EventBatch, refused: Set<UInt64> = [], isAcknowledged: Bool) {
        state.withLock { state in
            var records: [JournalRecord] = []
            if !refused.isEmpty { records.append(.dropped(refused.sorted(), .refused)) }
            if isAcknowledged, let last = batch.numbers.last { records.append(.acknowledged(through: last)) }
            for record in records { state.backlog.apply(record) }
            Self.write(records, to: &state)
            guard state.backlog.entries.isEmpty else { return }
            for waiting in state.waitingForEmpty { waiting.finish() }
            state.waitingForEmpty = []
        }
        disk.async { self.compactIfWorthIt() }
    }

    /// A signal at each event and each `wake()`, and one at once; for one reader.
    func arrivals() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.wake = continuation }
        continuation.yield()
        return stream
    }

    /// Has the reader of `arrivals()` look again.
    func wake() {
        state.withLock { _ = $0.wake?.yield() }
    }

    // MARK: - The file

    private static func backlog(
        of file: JournalFile, limits: Limits
    ) throws(EventQueueError) -> EventBacklog {
        var backlog = EventBacklog(limits: limits)
        let bytes = try file.read()
        let end = (bytes.lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
        // What follows the last line's end was being written when the process was killed.
        if end < bytes.count { try file.truncate(to: end) }
        for line in bytes[..<end].split(separator: UInt8(ascii: "\n")) {
            if let record = JournalRecord(line: line) {
                backlog.apply(record)
            } else {
                backlog.addDamage()
            }
        }
        return backlog
    }

    private static func write(_ records: [JournalRecord], to state: inout State) {
        guard !records.isEmpty else { return }
        let lines = records.flatMap(\.line)
        state.linesSinceSnapshot?.append(contentsOf: lines)
        do throws(EventQueueError) {
            try state.file.append(lines)
            state.failure = nil
        } catch {
            state.failure = error
        }
    }

    /// Does what may fail without harm to the events in memory, and remembers why it did.
    private func note(_ body: () throws(EventQueueError) -> Void) {
        do throws(EventQueueError) {
            try body()
        } catch {
            state.withLock { $0.failure = error }
        }
    }

    /// Writes the file anew once most of it is about events that are gone.
    private func compactIfWorthIt() {
        let snapshot = state.withLock { state -> [JournalRecord]? in
            guard state.linesSinceSnapshot == nil, let size = try? state.file.size(),
                size > 64 << 10 + 2 * state.backlog.byteCount
            else { return nil }
            state.linesSinceSnapshot = []
            return state.backlog.records
        }
        guard let snapshot else { return }
        note { () throws(EventQueueError) in try compact(snapshot) }
        state.withLock { $0.linesSinceSnapshot = nil }
    }

    /// Writes a new file beside the old one and puts it in its place. Only moments of it hold up who tracks.
    private func compact(_ snapshot: [JournalRecord]) throws(EventQueueError) {
        let path = "\(folder)/events"
        let file = try JournalFile(path: path + ".new", truncated: true, fsync: fsync)
        var lines = snapshot.flatMap(\.line)
        // What comes while the disk works has to be there too, before the old file goes: a few rounds catch up.
        for _ in 0..<3 where !lines.isEmpty {
            try file.append(lines)
            try file.synchronize()
            lines = state.withLock { state in
                defer { state.linesSinceSnapshot = [] }
                return state.linesSinceSnapshot ?? []
            }
        }
        try state.withLock { state throws(EventQueueError) in
            lines += state.linesSinceSnapshot ?? []
            try file.append(lines)
            if !lines.isEmpty { try file.synchronize() }
            guard rename(path + ".new", path) == 0 else { throw .system("rename \(path).new") }
            state.file = file
        }
        try JournalFile.synchronizeFolder(folder, fsync: fsync)
    }
}
