import PointsOfInterestServerAPI

/// Which dataset a snapshot holds.
package struct IndexVersion: Hashable, Sendable {
    package var revision: Int64
    /// The first 64 bits of the dataset id.
    package var datasetIDHigh: UInt64
    /// The last 64 bits of the dataset id.
    package var datasetIDLow: UInt64

    package init(revision: Int64, datasetIDHigh: UInt64, datasetIDLow: UInt64) {
        self.revision = revision
        self.datasetIDHigh = datasetIDHigh
        self.datasetIDLow = datasetIDLow
    }
}

/// All places of one dataset: packed parts, and which of their places later parts replaced or removed. Immutable.
package final class IndexSnapshot: @unchecked Sendable {
    // @unchecked: `views` is written in `init`, only read from then on, and freed in `deinit`; what it points to belongs to
    // the parts and the bits in `levels`.

    /// The parts, the largest and oldest first.
    let levels: [IndexLevel]
    /// The same as plain memory, which a search reads without counting references.
    let views: UnsafeMutableBufferPointer<PartView>
    /// Which dataset this is.
    package let version: IndexVersion
    /// The categories and their numbers.
    package let vocabulary: IndexVocabulary
    /// What the categories are called, and the words for them.
    let categoryWords: CategoryWords
    /// How many places there are.
    package let placeCount: Int
    let counts: IndexCounts

    /// The snapshot of a single part.
    package convenience init(part: IndexPart, version: IndexVersion) {
        var counts = IndexCounts(part.vocabulary)
        counts.add(part.columns)
        self.init(
            levels: [IndexLevel(part: part)], counts: counts, version: version, vocabulary: part.vocabulary,
            CategoryWords(part.vocabulary.names, .none))
    }

    /// The same places, with these words for the categories.
    package func labelled(_ labels: CategoryLabels) -> IndexSnapshot {
        guard categoryWords.labels != labels else { return self }
        return IndexSnapshot(
            levels: levels, counts: counts, version: version, vocabulary: vocabulary,
            CategoryWords(vocabulary.names, labels))
    }

    init(
        levels: [IndexLevel], counts: IndexCounts, version: IndexVersion, vocabulary: IndexVocabulary,
        _ categoryWords: CategoryWords
    ) {
        self.levels = levels
        self.counts = counts
        self.version = version
        self.vocabulary = vocabulary
        self.categoryWords = categoryWords
        placeCount = levels.reduce(0) { $0 + $1.liveCount }
        views = .allocate(capacity: levels.count)
        var base = 0
        for (index, level) in levels.enumerated() {
            views.initializeElement(
                at: index,
                to: PartView(columns: level.part.columns, dead: level.dead, base: UInt32(base)))
            base += level.part.placeCount
        }
    }

    deinit { views.deallocate() }

    /// The memory that it takes, in bytes.
    package var bytes: Int { levels.reduce(0) { $0 + $1.part.bytes + ($1.dead?.bytes ?? 0) } }

    /// How many listed places each category has, by its number.
    package var categoryCounts: [Int] { counts.categories }

    /// How many places each source has, by its number, listed or not; those without one at 0.
    package var sourceCounts: [Int] { counts.sources }

    /// How many parts the places are in.
    package var partCount: Int { levels.count }

    // MARK: - Single places

    /// The place with an id; nil where there is none.
    package func place(withID id: Int64) -> IndexPlaceReference? {
        for (part, view) in views.enumerated() {
            if let place = view.columns.place(withID: id), !view.isDead(place) {
                return IndexPlaceReference(part: UInt32(part), place: UInt32(place))
            }
        }
        return nil
    }

    package var records: IndexRecords { IndexRecords(views: views) }

    /// The exact position of a place, in degrees.
    package func position(of place: IndexPlaceReference) -> (latitude: Double, longitude: Double) {
        let columns = views[Int(place.part)].columns
        return (columns.latitudes[Int(place.place)], columns.longitudes[Int(place.place)])
    }

    /// What a place's category is called, as it is written in JSON; nil where it has no label in any of the languages.
    package func categoryLabel(of place: IndexPlaceReference, in languages: LanguageLookup) -> [UInt8]? {
        let kind = views[Int(place.part)].columns.kinds[Int(place.place)]
        return categoryWords.label(ofCategory: UInt16(truncatingIfNeeded: kind >> 1), in: languages)
    }
}

/// The records of a snapshot's places. They are valid as long as somebody holds the snapshot. This doesn't hold it, so that
/// reading a record counts no reference.
package struct IndexRecords {
    fileprivate let views: UnsafeMutableBufferPointer<PartView>

    package subscript(place: IndexPlaceReference) -> PlaceRecord {
        PlaceRecord(views[Int(place.part)].columns.record(of: Int(place.place)))
    }
}

/// A part, and which of its places are no longer in the snapshot.
struct IndexLevel: Sendable {
    let part: IndexPart
    /// Nil where all places are still there.
    var dead: PlaceBits?

    var liveCount: Int { part.placeCount - (dead?.count ?? 0) }
}

/// A set of a part's places, and of the blocks of its `TileOrder` that have any of them. Immutable once it is shared.
final class PlaceBits: @unchecked Sendable {
    // @unchecked: written by the thread that makes it, before a snapshot holds it; freed in `deinit`.
    let places: UnsafeMutablePointer<UInt64>
    let blocks: UnsafeMutablePointer<UInt64>
    private let tiles: TileOrder
    private let partCount: Int
    /// How many places are in it.
    private(set) var count: Int

    init(copying other: PlaceBits?, of columns: PartColumns) {
        tiles = columns.tiles
        partCount = columns.count
        places = Self.words(copying: other?.places, bitCount: columns.count)
        blocks = Self.words(copying: other?.blocks, bitCount: tiles.blockCount)
        count = other?.count ?? 0
    }

    deinit {
        places.deallocate()
        blocks.deallocate()
    }

    var bytes: Int { 8 * (Self.wordCount(partCount) + Self.wordCount(tiles.blockCount)) }

    func contains(_ place: Int) -> Bool { Self.bit(place, of: places) }

    func insert(_ place: Int) {
        guard !contains(place) else { return }
        places[place >> 6] |= 1 << UInt64(place & 63)
        count += 1
        // Places that aren't listed are in no block.
        guard place < tiles.places.count else { return }
        let block = tiles.block(of: place)
        blocks[block >> 6] |= 1 << UInt64(block & 63)
    }

    @inline(__always)
    static func bit(_ number: Int, of words: UnsafeMutablePointer<UInt64>) -> Bool {
        words[number >> 6] >> UInt64(number & 63) & 1 == 1
    }

    private static func wordCount(_ bitCount: Int) -> Int { (bitCount + 63) / 64 }

    private static func words(
        copying other: UnsafeMutablePointer<UInt64>?, bitCount: Int
    ) -> UnsafeMutablePointer<UInt64> {
        let count = wordCount(bitCount)
        let words = UnsafeMutablePointer<UInt64>.allocate(capacity: max(1, count))
        if let other {
            words.initialize(from: other, count: count)
        } else {
            words.initialize(repeating: 0, count: count)
        }
        return words
    }
}

/// A part of a snapshot, as searches see it.
struct PartView {
    let columns: PartColumns
    /// A bit for each place that is no longer in the snapshot; nil if there is none.
    let dead: UnsafeMutablePointer<UInt64>?
    /// A bit for each block of the `TileOrder` that has such places; nil where there is none.
    private let deadBlocks: UnsafeMutablePointer<UInt64>?
    /// What is added to a place's number, so that numbers differ from those of other parts.
    let base: UInt32

    init(columns: PartColumns, dead: PlaceBits?, base: UInt32) {
        self.columns = columns
        self.dead = dead?.places
        deadBlocks = dead?.blocks
        self.base = base
    }

    func isDead(_ place: Int) -> Bool {
        guard let dead else { return false }
        return PlaceBits.bit(place, of: dead)
    }

    func hasDead(inBlock block: Int) -> Bool {
        guard let deadBlocks else { return false }
        return PlaceBits.bit(block, of: deadBlocks)
    }
}
