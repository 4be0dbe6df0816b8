import Foundation
import Locking
import PointsOfInterestHTTP

/// Keeps tracking events in a folder until the service has them, also when the app is killed.
///
/// `track` writes an event to a file at once, so that it survives the process, and to the disk a moment later (fsync(2);
/// `F_FULLFSYNC` on Apple's platforms), so that it survives a power failure. Events that the service has are removed from
/// the file in the background. Where the file can't be written, because the disk is full for instance, events wait in
/// memory, and are written as soon as that succeeds.
///
/// On Apple's platforms, the folder is left out of backups, and can be read once the device was unlocked after its
/// start (`completeUntilFirstUserAuthentication`).
///
/// The queue is bounded: when it is full, the oldest events are dropped. Dropped events are counted, and the counts
/// are sent to the service as `events-dropped` events. The folder is locked until `close()`, or the end of the process:
/// a second queue on it throws `EventQueueError.inUse`. Each process has a folder of its own, an app's extension too, and
/// not in an app group: iOS kills a process that is suspended while it holds a lock there. Methods may be called on any
/// thread.
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

    private struct State {
        var backlog: EventBacklog
        var file: JournalFile
        /// Lines that could not be written to the file yet.
        var unwritten: [UInt8] = []
        /// The lines that are written while the file is being replaced; nil otherwise.
        var linesSinceSnapshot: [UInt8]?
        var isSynchronizing = false
        var isClosed = false
        var failure: EventQueueError?
        /// The ids of events that weren't taken; the uploader reports them.
        var rejectedIDs: [UUID] = []
        /// Wakes the reader of `arrivals()`.
        var wake: AsyncStream<Void>.Continuation?
        /// The streams of `drained()`, which end when the queue is empty.
        var waitingForEmpty: [AsyncStream<Never>.Continuation] = []
    }

    /// The turn to send a batch: one at a time keeps the order.
    let sending = Turn()
    /// The turn to send events as they arrive.
    let running = Turn()

    private static let maximumRejectedIDs = 100
    /// How many bytes are written at once, unless a line is longer.
    private static let pieceBytes = 64 << 10

    private let folder: String
    private let files: QueueDisk
    private let lockFile: JournalFile
    private let state: Lock<State>
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

    init(directory: URL, limits: Limits, disk: QueueDisk) throws(EventQueueError) {
        folder = directory.path
        files = disk
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        } catch {
            throw .system("make \(folder)")
        }
        // Before there are files in it. A queue whose folder is in backups is still better than none.
        try? disk.protect(directory)
        lockFile = try JournalFile(path: "\(folder)/lock", disk: files)
        try lockFile.lock()
        let file = try JournalFile(path: "\(folder)/events", disk: files)
        let backlog = try Self.backlog(of: file, limits: limits)
        state = Lock(State(backlog: backlog, file: file))
        try JournalFile.synchronizeFolder(folder, disk: files)
    }

    /// The number of events that wait.
    public var count: Int { state.withLock { $0.backlog.entries.count } }

    /// How many events were dropped since the queue was opened. Dropped events that were still in its file then, and
    /// damaged lines, count too.
    public var droppedCount: Int { state.withLock { $0.backlog.droppedCount } }

    /// Why the last write to the file failed; nil where it succeeded.
    public var failure: EventQueueError? { state.withLock { $0.failure } }

    /// The bytes of the lines that could not be written yet.
    var unwrittenByteCount: Int { state.withLock { $0.unwritten.count } }

    /// Adds an event. When this returns, the event survives the process.
    ///
    /// An event whose user's id isn't 1 to 200 bytes, or contains a NUL, is dropped and counted: the service would refuse it.
    public func track(_ event: TrackedEvent) {
        let event = event.id == nil ? event.identified() : event
        let json = event.json
        let needsDisk = state.withLock { state -> Bool in
            guard !state.isClosed else { return false }
            if event.userID.isUserID {
                Self.write(state.backlog.append(event, json: json), to: &state)
            } else {
                Self.write([state.backlog.refuse(event)], to: &state)
                if let id = event.id, state.rejectedIDs.count < Self.maximumRejectedIDs {
                    state.rejectedIDs.append(id)
                }
            }
            state.wake?.yield()
            defer { state.isSynchronizing = true }
            return !state.isSynchronizing
        }
        guard needsDisk else { return }
        disk.async {
            self.synchronizeNow()
            // The file also grows when events are added: without a network, a full queue drops one event for each that it
            // adds.
            self.compactIfWorthIt()
        }
    }

    /// Waits until every event that was tracked before is on the disk.
    public func synchronize() async {
        await withCheckedContinuation { continuation in
            disk.async {
                self.synchronizeNow()
                continuation.resume()
            }
        }
    }

    /// Waits until the queue is empty or closed, or until the task is cancelled.
    public func drained() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        let isEmpty = state.withLock { state -> Bool in
            guard !state.backlog.entries.isEmpty, !state.isClosed else { return true }
            state.waitingForEmpty.append(continuation)
            return false
        }
        if !isEmpty { for await _ in stream {} }
    }

    /// Waits for the disk and unlocks the folder, so that another queue can be opened there, which sends what waits.
    ///
    /// Events that are tracked later go nowhere. A request that is on its way may still be stored; its events are sent
    /// again by the next queue, and count once. Don't call it on the main thread. An app that ends needn't call it.
    public func close() {
        disk.sync {
            state.withLock { state in
                Self.writeWaitingLines(of: &state)
                // From here on nothing is written: the file may be another queue's.
                state.isClosed = true
                Self.endWaiting(of: &state)
            }
            synchronizeNow()
        }
        lockFile.unlock()
    }

    private static func endWaiting(of state: inout State) {
        for waiting in state.waitingForEmpty { waiting.finish() }
        state.waitingForEmpty = []
    }

    private func synchronizeNow() {
        let file = state.withLock { state -> JournalFile in
            state.isSynchronizing = false
            Self.writeWaitingLines(of: &state)
            return state.file
        }
        note { () throws(EventQueueError) in try file.synchronize() }
    }

    // MARK: - For the uploader

    /// Returns the oldest events, after adding the events that report dropped ones; nil where there is none, or the queue
    /// is closed.
    func nextBatch(events: Int, bytes: Int, time: Double) -> EventBatch? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            let reports = state.backlog.reportDrops(time: time, makeID: { UUID() })
            Self.write(reports, to: &state)
            return EventBatch(state.backlog, events: events, bytes: bytes)
        }
    }

    /// Returns the ids of the events that weren't taken since the last call, but at most `maximumRejectedIDs`: an app
    /// whose ids are wrong has only such events.
    func takeRejectedIDs() -> [UUID] {
        state.withLock { state in
            defer { state.rejectedIDs = [] }
            return state.rejectedIDs
        }
    }

    /// Removes the events that the service has stored or refused.
    func remove(_ batch: EventBatch, refused: Set<UInt64> = [], isAcknowledged: Bool) {
        state.withLock { state in
            var records: [JournalRecord] = []
            if !refused.isEmpty { records.append(.dropped(refused.sorted(), .refused)) }
            if isAcknowledged, let last = batch.numbers.last { records.append(.acknowledged(through: last)) }
            for record in records { state.backlog.apply(record) }
            Self.write(records, to: &state)
            if state.backlog.entries.isEmpty { Self.endWaiting(of: &state) }
        }
        disk.async { self.compactIfWorthIt() }
    }

    /// Returns a stream, for one reader, that has an element now, and one for each event and each `wake()`. Of the
    /// elements that weren't read yet, only the newest is kept.
    func arrivals() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.wake = continuation }
        continuation.yield()
        return stream
    }

    /// Wakes the reader of `arrivals()`.
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
        // An incomplete last line was being written when the process was killed.
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
        guard !state.isClosed else { return }
        let lines = records.flatMap(\.line)
        state.linesSinceSnapshot?.append(contentsOf: lines)
        state.unwritten += lines
        // The disk may be full for days. If most of the lines are about events that are gone, the lines of the whole
        // backlog replace them.
        if state.unwritten.count > outdated(state.backlog) {
            state.unwritten = ([.restarted] + state.backlog.records).flatMap(\.line)
        }
        writeWaitingLines(of: &state)
    }

    /// Writes the lines that aren't in the file yet, in pieces of whole lines. Where there is little space, the pieces
    /// that fit are written, and aren't written again.
    private static func writeWaitingLines(of state: inout State) {
        guard !state.unwritten.isEmpty, !state.isClosed else { return }
        var written = 0
        do throws(EventQueueError) {
            while written < state.unwritten.count {
                let piece = firstLines(of: state.unwritten[written...])
                try state.file.append(piece)
                written = piece.endIndex
            }
            state.failure = nil
        } catch {
            state.failure = error
        }
        state.unwritten.removeFirst(written)
    }

    /// Returns the first lines: `pieceBytes` at most, but at least one.
    private static func firstLines(of lines: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard lines.count > pieceBytes else { return lines }
        let lineFeed = UInt8(ascii: "\n")
        let end = lines.prefix(pieceBytes).lastIndex(of: lineFeed) ?? lines.firstIndex(of: lineFeed)
        return end.map { lines[...$0] } ?? lines
    }

    /// If lines have more bytes than this, most of them are about events that are gone.
    private static func outdated(_ backlog: EventBacklog) -> Int { 64 << 10 + 2 * backlog.byteCount }

    /// Runs a step whose failure doesn't harm the events in memory, and remembers the failure.
    private func note(_ body: () throws(EventQueueError) -> Void) {
        do throws(EventQueueError) {
            try body()
        } catch {
            state.withLock { $0.failure = error }
        }
    }

    /// Replaces the file when most of it is about events that are gone.
    private func compactIfWorthIt() {
        let snapshot = state.withLock { state -> [JournalRecord]? in
            guard state.linesSinceSnapshot == nil, !state.isClosed, let size = try? state.file.size(),
                size > Self.outdated(state.backlog)
            else { return nil }
            state.linesSinceSnapshot = []
            return state.backlog.records
        }
        guard let snapshot else { return }
        note { () throws(EventQueueError) in try compact(snapshot) }
        state.withLock { $0.linesSinceSnapshot = nil }
    }

    /// Writes a new file beside the old one and renames it. It blocks `track` for moments only.
    private func compact(_ snapshot: [JournalRecord]) throws(EventQueueError) {
        let file = try JournalFile(path: "\(folder)/events.new", truncated: true, disk: files)
        do throws(EventQueueError) {
            try compact(snapshot, into: file)
        } catch {
            // The disk may be full, and the old file needs the space.
            file.remove()
            throw error
        }
        try JournalFile.synchronizeFolder(folder, disk: files)
    }

    private func compact(_ snapshot: [JournalRecord], into file: JournalFile) throws(EventQueueError) {
        var lines = snapshot.flatMap(\.line)
        // Lines that are added in the meantime have to be in the new file too: a few rounds catch up with them.
        for _ in 0..<3 where !lines.isEmpty {
            try file.append(lines[...])
            try file.synchronize()
            lines = state.withLock { state in
                defer { state.linesSinceSnapshot = [] }
                return state.linesSinceSnapshot ?? []
            }
        }
        try state.withLock { state throws(EventQueueError) in
            lines += state.linesSinceSnapshot ?? []
            try file.append(lines[...])
            if !lines.isEmpty { try file.synchronize() }
            guard rename(file.path, "\(folder)/events") == 0 else { throw .system("rename \(file.path)") }
            state.file = file
            state.unwritten = []
            state.failure = nil
        }
    }
}

extension EventQueueError: LocalizedError {
    /// A sentence for people, in their language where the app translates `ErrorText`. What a developer needs is in the
    /// error itself.
    public var errorDescription: String? { ErrorText.storageFailed.localized() }
}
