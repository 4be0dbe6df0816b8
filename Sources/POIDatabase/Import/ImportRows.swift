import EventLoop
import Locking
import PlaceImport
import PointsOfInterestAPI
import PointsOfInterestServerAPI
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
    private let onRejected: (@Sendable ([UInt8]) throws -> Void)?
    private let thread = BlockingThread(name: "poi-import", capacity: 1)
    private let state = Lock(State())
    private let latest = Lock(ReadProgress())

    /// Nothing is read yet; `loop` is where chunks are asked for.
    init(
        _ source: ImportSource, loop: EventLoop,
        onRejected: (@Sendable ([UInt8]) throws -> Void)?
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

    /// What no row has, although the mapping names it, once the reading has ended.
    var unseen: UnseenMembers { state.withLock { $0.reader?.unseen ?? UnseenMembers() } }

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
                if let row = try state.stager.stage(item), let onRejected {
                    try onRejected(reader.bytes(ofRejected: row))
                }
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

    var chunks: Chunks { Chunks(rows: self) }

    struct Chunks: AsyncSequence, AsyncIteratorProtocol {
        fileprivate let rows: ImportRows

        func makeAsyncIterator() -> Chunks { self }
        func next() async throws -> [UInt8]? { try await rows.nextChunk() }
    }
}

/// Writes what a file's rows become into the format of COPY, rejects those whose category isn't in the vocabulary, and
/// counts.
struct RowStager {
    /// If there are more new categories than this, probably the wrong column was taken: they aren't a vocabulary.
    static let maximumNewCategories = 500
    /// How many names of unknown categories are counted one by one; all other names are counted together.
    private static let maximumUnknownCategories = 1000
    private static let otherCategories = "(others)"

    /// How many rows may be rejected without `--max-errors`: ten, or a tenth of them. More are rather a sign that the file is
    /// read in the wrong way.
    static func harmlessRejections(among rows: Int) -> Int { max(10, rows / 10) }

    private let vocabulary: Set<String>
    private let addsCategories: Bool
    private let maximumErrors: Int?
    private var number: Int64 = 0
    /// Whether a place is known by its name and position alone.
    private(set) var hasPlacesWithoutID = false
    /// Whether a row says what people have corrected.
    private(set) var hasCorrections = false
    /// Whether a row may have properties that are empty.
    private(set) var hasEmptyProperties = false
    /// How many rows say that people have removed the place.
    private(set) var suppressedCount = 0
    /// Whether properties, or names, are stored together with some that a row doesn't have.
    private(set) var (mergesProperties, mergesNames) = (false, false)
    /// The rows that haven't been taken yet.
    var encoder = BinaryCopyEncoder()
    private(set) var rejected: [RejectionReason: Int] = [:]
    private(set) var unknownCategories: [String: Int] = [:]
    private(set) var newCategories: Set<String> = []

    var rejectedCount: Int { rejected.values.reduce(0, +) }

    /// Why rows were rejected, the most frequent reason first, and what helps against unknown categories.
    var reasons: String {
        let reasons = rejected.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }
            .map { "\($0.key.rawValue) \($0.value)" }.joined(separator: ", ")
        guard !unknownCategories.isEmpty else { return reasons }
        let names = unknownCategories.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(10).map(\.key)
        return
            "\(reasons). Unknown categories: \(names.joined(separator: ", ")); to add them: --add-categories; to give all "
            + "places one: --set category=NAME"
    }

    init(vocabulary: Set<String>, addsCategories: Bool, maximumErrors: Int?) {
        self.vocabulary = vocabulary
        self.addsCategories = addsCategories
        self.maximumErrors = maximumErrors
    }

    /// Takes a row; returns it where it is rejected.
    ///
    /// - Throws: `CommandError` where there are too many rejected rows, or too many new categories.
    mutating func stage(_ item: ImportItem) throws(CommandError) -> RejectedRow? {
        switch item {
        case .place(let place, let line):
            guard try isKnown(place.category) else {
                return try reject(
                    RejectedRow(
                        line: line, reason: .unknownCategory, detail: place.category, sourceID: place.sourceID
                    ))
            }
            append(place)
            return nil
        case .rejected(let row):
            return try reject(row)
        }
    }

    private mutating func isKnown(_ category: String) throws(CommandError) -> Bool {
        if vocabulary.contains(category) || newCategories.contains(category) { return true }
        if addsCategories {
            newCategories.insert(category)
            guard newCategories.count <= Self.maximumNewCategories else {
                throw CommandError(
                    "more than \(Self.maximumNewCategories) new categories, such as \(category): is that the column "
                        + "of the categories?")
            }
            return true
        }
        let isListed =
            unknownCategories[category] != nil || unknownCategories.count < Self.maximumUnknownCategories
        unknownCategories[isListed ? category : Self.otherCategories, default: 0] += 1
        return false
    }

    private mutating func reject(_ row: RejectedRow) throws(CommandError) -> RejectedRow {
        rejected[row.reason, default: 0] += 1
        if let maximumErrors, rejectedCount > maximumErrors {
            throw CommandError(
                "more than \(maximumErrors) rows were rejected (--max-errors), the last in line \(row.line): "
                    + "\(row.reason.rawValue) \(row.detail)")
        }
        if let id = row.sourceID {
            encoder.append(
                [.int8(nextNumber()), .text(id), .null(.int8), .null(.text), .null(.text), .null(.float8)]
                    + [.null(.float8), .null(.bool), .null(.text), .null(.text), .null(.int8), .null(.text)]
                    + [
                        .null(.text), .null(.textArray), .null(.text), .null(.text), .bool(false),
                        .bool(true),
                    ]
                    + [.int8(0), .null(.textArray), .null(.textArray)])
        }
        return row
    }

    private mutating func append(_ place: ImportedPlace) {
        let quadkey = Quadkey(latitude: place.latitude, longitude: place.longitude)
        encoder.append([
            .int8(nextNumber()), .text(place.sourceID), .int8(Int64(bitPattern: quadkey.rawValue)),
            .text(place.name), .text(place.category), .float8(place.latitude), .float8(place.longitude),
            .bool(place.featured), place.address.map { .text($0) } ?? .null(.text),
            place.website.map { .text($0) } ?? .null(.text), .int8(Int64(place.importance)),
            place.properties.map { .text($0) } ?? .null(.text), place.names.map { .text($0) } ?? .null(.text),
            Self.array(place.otherNames), place.operatingStatus.map { .text($0) } ?? .null(.text),
            place.corrections.map { .text($0) } ?? .null(.text), .bool(place.isSuppressed),
            .bool(place.hasOwnID), .int8(Int64(place.given.rawValue)),
            Self.array(place.emptiedProperties), Self.array(place.emptiedNames),
        ])
        if !place.hasOwnID { hasPlacesWithoutID = true }
        if place.corrections != nil { hasCorrections = true }
        if place.isSuppressed { suppressedCount += 1 }
        if let properties = place.properties, Self.mayHaveEmptyMembers(properties) {
            hasEmptyProperties = true
        }
        mergesProperties = mergesProperties || place.properties != nil && !place.given.contains(.properties)
        mergesNames =
            mergesNames
            || (place.names != nil || !place.otherNames.isEmpty)
                && !place.given.isSuperset(of: [.names, .otherNames])
    }

    /// Whether an object of JSON may have a member that is null or an empty text, or may have none.
    private static func mayHaveEmptyMembers(_ json: String) -> Bool {
        json.utf8.count < 8 || json.contains("null") || json.contains("\"\"")
    }

    /// Null without texts.
    private static func array(_ texts: [String]) -> PostgresValue {
        texts.isEmpty ? .null(.textArray) : .textArray(texts)
    }

    private mutating func nextNumber() -> Int64 {
        number += 1
        return number
    }
}
