/// Places that were packed together and never change.
///
/// All of it is plain memory that is written before the part exists and freed with it.
public final class IndexPart: @unchecked Sendable {
    // @unchecked: `columns` points to memory that is written before `init`, only read from then on, and freed in `deinit`.
    let columns: PartColumns
    /// The categories that its builder knew.
    public let vocabulary: IndexVocabulary

    init(columns: PartColumns, vocabulary: IndexVocabulary) {
        self.columns = columns
        self.vocabulary = vocabulary
    }

    deinit { columns.free() }

    /// How many places it has.
    public var placeCount: Int { columns.count }

    /// The memory that it takes, in bytes.
    public var bytes: Int { columns.memoryBytes }

    /// The memory that the places' own records take of it, in bytes.
    public var recordBytes: Int { columns.records.bytes }
}

/// What a part knows of its places, by their numbers, which are in spatial order.
struct PartColumns: BitwiseCopyable {
    var count: Int
    /// Positions in space: `Ellipsoid.point`.
    var x, y, z: Column<Double>
    var latitudes, longitudes: Column<Double>
    var ids: Column<Int64>
    /// `PackedTree.kind` of each place.
    var kinds: Column<UInt32>
    /// The number of each place's source.
    var sources: Column<UInt32>
    /// Where each place's record begins: four bytes with its length, then itself.
    var recordStarts: Column<UInt64>
    var records: Column<UInt8>
    var words: WordColumns
    /// A hash table of ids: the number of a place plus one, or 0.
    var idSlots: Column<UInt32>
    /// The tree of all places, that of the featured ones, then one for each kind in their order.
    var trees: Column<PackedTree>
    /// The places of all trees but the tree of all places.
    var listedPlaces: Column<UInt32>
    var boxes: Column<Float>
    var tiles: TileOrder

    var memoryBytes: Int {
        x.bytes + y.bytes + z.bytes + latitudes.bytes + longitudes.bytes + ids.bytes + kinds.bytes
            + sources.bytes + recordStarts.bytes + records.bytes + words.memoryBytes + idSlots.bytes
            + trees.bytes
            + listedPlaces.bytes + boxes.bytes + tiles.memoryBytes
    }

    func free() {
        x.free()
        y.free()
        z.free()
        latitudes.free()
        longitudes.free()
        ids.free()
        kinds.free()
        sources.free()
        recordStarts.free()
        records.free()
        words.free()
        idSlots.free()
        trees.free()
        listedPlaces.free()
        boxes.free()
        tiles.free()
    }

    /// The place with an id; nil where there is none.
    func place(withID id: Int64) -> Int? {
        guard count > 0 else { return nil }
        var slot = Self.slot(of: id, slotCount: idSlots.count)
        while idSlots[slot] != 0 {
            let place = Int(idSlots[slot]) - 1
            if ids[place] == id { return place }
            slot = slot + 1 == idSlots.count ? 0 : slot + 1
        }
        return nil
    }

    /// Where an id is looked for first: its hash, scaled to the table's size.
    static func slot(of id: Int64, slotCount: Int) -> Int {
        let hash = UInt64(bitPattern: id) &* 0x9E37_79B9_7F4A_7C15
        let mixed = (hash ^ hash >> 29) &* 0xBF58_476D_1CE4_E5B9
        return Int(mixed.multipliedFullWidth(by: UInt64(slotCount)).high)
    }

    func record(of place: Int) -> UnsafeRawBufferPointer {
        let start = UnsafeRawPointer(records.base) + Int(recordStarts[place])
        return UnsafeRawBufferPointer(
            start: start + 4, count: Int(start.loadUnaligned(as: UInt32.self)))
    }

    /// The tree of the places of a kind; nil where there are none.
    func tree(ofKind kind: UInt32) -> PackedTree? {
        var (low, high) = (Self.firstKindTree, trees.count)
        while low < high {
            let middle = (low + high) / 2
            if trees[middle].kind < kind { low = middle + 1 } else { high = middle }
        }
        guard low < trees.count, trees[low].kind == kind else { return nil }
        return trees[low]
    }

    var wholeTree: PackedTree { trees[0] }
    var featuredTree: PackedTree { trees[1] }
    /// The index of the first tree of a kind.
    static let firstKindTree = 2
}
