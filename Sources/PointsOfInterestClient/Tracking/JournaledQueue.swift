import Foundation
import Locking
import PointsOfInterestHTTP

/// What waits in a queue, as a value. Each change is a record that is applied to it and appended to the queue's file, so that
/// reading the file restores it.
protocol JournaledBacklog {
    /// How many bytes of the file may be about what is gone, before the file is replaced.
    static var toleratedBytes: Int { get }

    var isEmpty: Bool { get }
    /// The bytes of the JSON of what waits.
    var byteCount: Int { get }
    /// The shortest list of records that makes this backlog.
    var records: [JournalRecord] { get }

    /// Applies a record. One that was applied before changes nothing.
    mutating func apply(_ record: JournalRecord)
    /// Counts a damaged line.
    mutating func addDamage()
}

/// Keeps what waits to be sent in memory and in a file: `EventQueue` has one for events and one for reports of people.
///
/// A change is written to the file at once, and to the disk a moment later. Where the file can't be written, lines wait in
/// memory. Any thread.
final class JournaledQueue<Backlog: JournaledBacklog>: Sendable where Backlog: Sendable {
    private struct State {
        var backlog: Backlog
        var file: JournalFile
        /// Lines that could not be written to the file yet.
        var unwritten: [UInt8] = []
        /// The lines that are written while the file is being replaced; nil otherwise.
        var linesSinceSnapshot: [UInt8]?
        var isSynchronizing = false
        /// Whether something was appended since the file was last synchronized.
        var isAppended = false
        var isClosed = false
        var failure: EventQueueError?
        /// Wakes the reader of `arrivals()`.
        var wake: AsyncStream<Void>.Continuation?
        /// The streams of `drained()`, which end when the queue is empty.
        var waitingForEmpty: [AsyncStream<Never>.Continuation] = []
    }

    /// The turn to send: one at a time keeps the order.
    let sending = Turn()

    private let path: String
    private let folder: String
    private let files: QueueDisk
    private let disk: DispatchQueue
    private let state: Lock<State>

    /// How many bytes are written at once, unless a line is longer.
    private static var pieceBytes: Int { 64 << 10 }

    /// Opens a file of a folder that is locked, and makes it if there is none. The caller synchronizes the folder.
    ///
    /// - Parameters:
    ///   - backlog: an empty one.
    ///   - disk: where the file is synchronized and replaced.
    init(
        folder: String, name: String, _ backlog: Backlog, files: QueueDisk, disk: DispatchQueue
    ) throws(EventQueueError) {
        self.folder = folder
        self.files = files
        self.disk = disk
        path = "\(folder)/\(name)"
        let file = try JournalFile(path: path, disk: files)
        var backlog = backlog
        try Self.read(file, into: &backlog)
        // The process before may have been killed before it synchronized the file.
        state = Lock(State(backlog: backlog, file: file, isAppended: !backlog.isEmpty))
    }

    /// Returns what a closure says of the backlog.
    func read<Value>(_ body: (borrowing Backlog) -> Value) -> Value {
        state.withLock { body($0.backlog) }
    }

    /// Why the last write to the file failed; nil where it succeeded.
    var failure: EventQueueError? { state.withLock { $0.failure } }

    /// The bytes of the lines that could not be written yet.
    var unwrittenByteCount: Int { state.withLock { $0.unwritten.count } }

    /// Changes the backlog, appends the records of that to the file, and returns what the closure returns; nil where the queue
    /// is closed, and nothing is changed.
    func update<Value>(_ body: (inout Backlog) -> (records: [JournalRecord], value: Value)) -> Value? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            let (records, value) = body(&state.backlog)
            Self.write(records, to: &state)
            if state.backlog.isEmpty { Self.endWaiting(of: &state) }
            return value
        }
    }

    /// Does the same for something that is added: it is on the disk a moment later, and whoever sends is woken.
    func add(_ body: (inout Backlog) -> [JournalRecord]) {
        let needsDisk = state.withLock { state -> Bool in
            guard !state.isClosed else { return false }
            Self.write(body(&state.backlog), to: &state)
            state.wake?.yield()
            defer { state.isSynchronizing = true }
            return !state.isSynchronizing
        }
        guard needsDisk else { return }
        disk.async {
            self.synchronizeNow()
            // The file also grows when something is added: without a network, a full queue drops one event for each that it
            // adds.
            self.compactIfWorthIt()
        }
    }

    /// Removes what is sent or refused, by records.
    func remove(_ records: [JournalRecord]) {
        state.withLock { state in
            for record in records { state.backlog.apply(record) }
            Self.write(records, to: &state)
            if state.backlog.isEmpty { Self.endWaiting(of: &state) }
        }
        disk.async { self.compactIfWorthIt() }
    }

    /// Waits until the queue is empty or closed, or until the task is cancelled.
    func drained() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        let isEmpty = state.withLock { state -> Bool in
            guard !state.backlog.isEmpty, !state.isClosed else { return true }
            state.waitingForEmpty.append(continuation)
            return false
        }
        if !isEmpty { for await _ in stream {} }
    }

    /// Returns a stream, for one reader, that has an element now, and one for each that is added and each `wake()`. Of the
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

    /// Writes what waits, on the disk too, if something was added. On the queue of the disk.
    func synchronizeNow() {
        let file = state.withLock { state -> JournalFile? in
            state.isSynchronizing = false
            Self.writeWaitingLines(of: &state)
            defer { state.isAppended = false }
            return state.isAppended ? state.file : nil
        }
        guard let file else { return }
        do throws(EventQueueError) {
            try file.synchronize()
        } catch {
            state.withLock { state in
                state.failure = error
                state.isAppended = true
            }
        }
    }

    /// Ends all: from here on nothing is written, since the file may be another queue's. On the queue of the disk.
    func close() {
        state.withLock { state in
            Self.writeWaitingLines(of: &state)
            state.isClosed = true
            Self.endWaiting(of: &state)
        }
        synchronizeNow()
    }

    private static func endWaiting(of state: inout State) {
        for waiting in state.waitingForEmpty { waiting.finish() }
        state.waitingForEmpty = []
    }

    private static func read(_ file: JournalFile, into backlog: inout Backlog) throws(EventQueueError) {
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
    }

    private static func write(_ records: [JournalRecord], to state: inout State) {
        guard !state.isClosed else { return }
        let lines = records.flatMap(\.line)
        state.linesSinceSnapshot?.append(contentsOf: lines)
        state.unwritten += lines
        // The disk may be full for days. If most of the lines are about what is gone, the lines of the whole
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
                state.isAppended = true
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

    /// If lines have more bytes than this, most of them are about what is gone.
    private static func outdated(_ backlog: Backlog) -> Int { Backlog.toleratedBytes + 2 * backlog.byteCount }

    /// Runs a step whose failure doesn't harm what is in memory, and remembers the failure.
    private func note(_ body: () throws(EventQueueError) -> Void) {
        do throws(EventQueueError) {
            try body()
        } catch {
            state.withLock { $0.failure = error }
        }
    }

    /// Replaces the file when most of it is about what is gone.
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
        let file = try JournalFile(path: path + ".new", truncated: true, disk: files)
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
            guard rename(file.path, path) == 0 else { throw .system("rename \(file.path)") }
            state.file = file
            state.unwritten = []
            state.failure = nil
        }
    }
}
