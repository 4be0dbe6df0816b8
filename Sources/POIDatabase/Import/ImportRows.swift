import EventLoop
import Locking
import PlaceImport
import Postgres

/// The rows of an import as chunks for COPY. A thread of its own reads a chunk each time one is asked for.
final class ImportRows: Sendable {
    private static let chunkSize = 256 * 1024

    /// What the thread uses.
    private struct State {
        var reader: PlaceReader?
        var stager = RowStager(vocabulary: [], addsCategories: false, maximumErrors: nil)
        /// Whether the last row was read, and nothing was wrong at the end.
        var hasEnded = false
    }

    private let loop: EventLoop
    private let source: ImportSource
    private let onRejected: @Sendable (RejectedRow, _ path: String) throws -> Void
    private let thread = BlockingThread(name: "poi-import", capacity: 1)
    private let state = Lock(State())
    private let latest = Lock(ReadProgress())

    /// Nothing is read yet; `loop` is where chunks are asked for.
    init(
        _ source: ImportSource, loop: EventLoop,
        onRejected: @escaping @Sendable (RejectedRow, _ path: String) throws -> Void
    ) {
        self.loop = loop
        self.source = source
        self.onRejected = onRejected
    }

    /// How far the reading is, as of the last chunk.
    var progress: ReadProgress { latest.withLock { $0 } }

    /// Whether all rows were read, without an error at the end.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// What was counted, once the reading has ended.
    var stager: RowStager { state.withLock { $0.stager } }

    /// Opens the source; `stager` decides about its rows. Returns what a person should know about how it is read.
    func open(with stager: RowStager) async throws -> String? {
        _ = try await onThread { [source] state in
            state.reader = try PlaceReader(source)
            state.stager = stager
            return []
        }
        return state.withLock { $0.reader?.remark }
    }

    /// Reads until a chunk is full, or the source has ended; nil after that.
    private func nextChunk() async throws -> [UInt8]? {
        try await onThread { [latest, onRejected] state in
            guard let reader = state.reader, !state.hasEnded else { return nil }
            defer { latest.withLock { $0 = reader.progress } }
            while state.stager.encoder.byteCount < Self.chunkSize {
                guard let item = try reader.next() else {
                    state.hasEnded = true
                    return state.stager.encoder.finish()
                }
                if let row = try state.stager.stage(item) { try onRejected(row, reader.path) }
            }
            return state.stager.encoder.takeBytes()
        }
    }

    /// Runs blocking work on the thread.
    ///
    /// - Throws: what `work` throws; `CancellationError` at once where the task is cancelled, although the thread may still
    ///   be waiting for a pipe.
    private func onThread(
        _ work: @escaping @Sendable (inout State) throws -> [UInt8]?
    ) async throws -> [UInt8]? {
        let (results, feed) = AsyncStream.makeStream(of: Result<[UInt8]?, any Error>.self)
        Task(executorPreference: loop) { [thread, state] in
            do {
                feed.yield(.success(try await thread.run { try state.withLock { try work(&$0) } }))
            } catch {
                feed.yield(.failure(error))
            }
        }
        for await result in results { return try result.get() }
        throw CancellationError()
    }

    /// The chunks, for one iteration.
    var chunks: Chunks { Chunks(rows: self) }

    struct Chunks: AsyncSequence, AsyncIteratorProtocol {
        fileprivate let rows: ImportRows

        func makeAsyncIterator() -> Chunks { self }
        func next() async throws -> [UInt8]? { try await rows.nextChunk() }
    }
}
