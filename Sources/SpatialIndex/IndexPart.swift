import Geodesy
import PointsOfInterestServerAPI

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Places that were packed together and never change.
///
/// All of it is plain memory that is written before the part exists and freed with it.
package final class IndexPart: @unchecked Sendable {
    // @unchecked: `columns` points to memory that is written before `init`, only read from then on, and freed in `deinit`.
    let columns: PartColumns
    /// The categories that its builder knew.
    package let vocabulary: IndexVocabulary
    /// The file that has the columns; nil where they have memory of their own.
    private let file: MappedFile?

    init(columns: PartColumns, vocabulary: IndexVocabulary, in file: MappedFile? = nil) {
        self.columns = columns
        self.vocabulary = vocabulary
        self.file = file
    }

    deinit { if file == nil { columns.free() } }

    /// How many places it has.
    package var placeCount: Int { columns.count }

    /// The memory that it takes, in bytes.
    package var bytes: Int { columns.memoryBytes }

    /// The memory that the places' own records take of it, in bytes.
    package var recordBytes: Int { columns.records.bytes }
}

/// What a part knows of its places, by their numbers: the listed ones in spatial order, then the others.
struct PartColumns: BitwiseCopyable {
    var count: Int
    /// How many of them are listed. They come first; those behind them are in no tree, no tile and no posting, so that no search
    /// finds them.
    var listedCount: Int
    /// Positions in space: `Ellipsoid.point`.
    var x, y, z: Column<Double>
    var latitudes, longitudes: Column<Double>
    var ids: Column<Int64>
    /// The hash of each place's content.
    var hashes: Column<UInt64>
    var kinds: Column<UInt32>
    /// The number of each place's source.
    var sources: Column<UInt32>
    /// The importance of each place; empty where all have none.
    var importances: Column<UInt16>
    var addressInitials: Column<WordInitials>
    /// Where each place's record begins: four bytes with its length, then itself.
    var recordStarts: Column<UInt64>
    var records: Column<UInt8>
    var words: WordColumns
    var addressWords: AddressWords
    /// A hash table of ids: the number of a place plus one, or 0.
    var idSlots: Column<UInt32>
    /// The tree of all listed places, that of the featured ones, then one for each kind in their order.
    var trees: Column<PackedTree>
    var listedPlaces: Column<UInt32>
    var boxes: Column<Float>
    var tiles: TileOrder

    /// All of its memory, in the order in which `IndexFile` has it.
    var memory: [any ColumnMemory] {
        [
            x, y, z, latitudes, longitudes, ids, hashes, kinds, sources, importances, addressInitials,
            recordStarts,
            records,
        ]
            + words.memory + addressWords.memory + [idSlots, trees, listedPlaces, boxes] + tiles.memory
    }

    var memoryBytes: Int { memory.reduce(0) { $0 + $1.bytes } }

    func free() { for column in memory { column.free() } }

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

    func isListed(_ place: Int) -> Bool { place < listedCount }

    @inline(__always)
    func importance(of place: Int) -> UInt16 { importances.count == 0 ? 0 : importances[place] }

    func record(of place: Int) -> UnsafeRawBufferPointer {
        let start = UnsafeRawPointer(records.base) + Int(recordStarts[place])
        return UnsafeRawBufferPointer(
            start: start + 4, count: Int(start.loadUnaligned(as: UInt32.self)))
    }

    /// The tree of the places of a kind; nil where there are none.
    func tree(ofKind kind: UInt32) -> PackedTree? {
        let index = (Self.firstKindTree..<trees.count).firstIndex(behind: { trees[$0].kind < kind })
        return index < trees.count && trees[index].kind == kind ? trees[index] : nil
    }

    var wholeTree: PackedTree { trees[0] }
    var featuredTree: PackedTree { trees[1] }
    static let firstKindTree = 2
}

/// A tree of boxes over places in spatial order, 16 to a leaf and 16 children to a node, without pointers.
///
/// The boxes of a node's children are one block of floats: 16 lower x, then y and z, then 16 upper x, y and z, so that the
/// distances to all 16 are computed at once. Blocks lie level by level, those over the leaves first.
struct PackedTree: BitwiseCopyable {
    /// How many places a leaf has, and how many children a node.
    static let width = 1 << widthBits, widthBits = 4
    /// The floats of a block.
    static let blockSize = 6 * width
    /// No tree of 2^32 places has more levels of nodes.
    static let maximumLevelCount = 8

    /// The category and whether places are featured, see `kind(category:isFeatured:)`.
    var kind: UInt32
    /// How many places it has.
    var count: UInt32
    /// `listStart`; all ones where there is none. An optional number has padding, which would bring into a file whatever was
    /// in memory.
    private let listed: UInt32
    /// Where its boxes begin, in blocks.
    var firstBlock: UInt32

    init(kind: UInt32, count: UInt32, listStart: UInt32?, firstBlock: UInt32) {
        (self.kind, self.count, self.firstBlock) = (kind, count, firstBlock)
        listed = listStart ?? .max
    }

    /// Where its places are listed among the part's `listedPlaces`; nil where they are all places, in their order.
    var listStart: UInt32? { listed == .max ? nil : listed }

    /// The same for a tree of a kind, whose places are always listed.
    var listedRange: Range<Int> { Int(listed)..<Int(listed) + Int(count) }

    static func kind(category: UInt16, isFeatured: Bool) -> UInt32 {
        UInt32(category) << 1 | (isFeatured ? 1 : 0)
    }

    var leafCount: Int { (Int(count) + Self.width - 1) / Self.width }

    /// How many blocks a tree of so many places has.
    static func blockCount(placeCount: Int) -> Int {
        var nodes = (placeCount + width - 1) / width
        var sum = 0
        while nodes > 1 {
            nodes = (nodes + width - 1) / width
            sum += nodes
        }
        return sum
    }
}

/// Where each level of a tree begins: level 0 is above the leaves, and the last one is the root alone.
struct TreeLevels {
    private var starts = SIMD8<UInt32>()
    /// How many levels of nodes there are; none where the root is a leaf.
    private(set) var count = 0

    init(of tree: PackedTree) {
        var nodes = tree.leafCount
        var start = Int(tree.firstBlock)
        while nodes > 1 {
            self[count] = start
            nodes = (nodes + PackedTree.width - 1) / PackedTree.width
            start += nodes
            count += 1
        }
    }

    /// The first block of a level.
    subscript(level: Int) -> Int {
        get { Int(starts[level]) }
        set { starts[level] = UInt32(newValue) }
    }
}

extension SurfaceBounds {
    /// The box of a node's child.
    init(of child: Int, in block: UnsafePointer<Float>) {
        let corner = { (offset: Int) in
            SIMD3(
                Double(block[offset + child]), Double(block[offset + PackedTree.width + child]),
                Double(block[offset + 2 * PackedTree.width + child]))
        }
        self.init(lower: corner(0), upper: corner(3 * PackedTree.width))
    }
}

// MARK: - Making one

extension PackedTree {
    /// Writes the boxes of a tree's nodes behind those of other trees.
    ///
    /// - Parameter point: the position in space of the tree's place at an index.
    static func appendBoxes(
        to boxes: inout Column<Float>, placeCount: Int, point: (Int) -> SIMD3<Double>
    ) {
        var nodes = (placeCount + width - 1) / width
        guard nodes > 1 else { return }
        var below = boxes.count
        appendEmptyBlocks((nodes + width - 1) / width, to: &boxes)
        for leaf in 0..<nodes {
            let block = boxes.base + below + leaf / width * blockSize
            for index in leaf * width..<min(placeCount, (leaf + 1) * width) {
                let point = point(index)
                for axis in 0..<3 { widen(block, leaf % width, axis, point[axis], point[axis]) }
            }
        }
        while true {
            nodes = (nodes + width - 1) / width
            guard nodes > 1 else { return }
            let above = boxes.count
            appendEmptyBlocks((nodes + width - 1) / width, to: &boxes)
            for node in 0..<nodes {
                let inner = boxes.base + below + node * blockSize
                let outer = boxes.base + above + node / width * blockSize
                for child in 0..<width {
                    for axis in 0..<3 {
                        let low = outer + axis * width + node % width
                        let high = low + 3 * width
                        low.pointee = min(low.pointee, inner[axis * width + child])
                        high.pointee = max(high.pointee, inner[(axis + 3) * width + child])
                    }
                }
            }
            below = above
        }
    }

    /// Blocks whose boxes hold nothing, and are infinitely far.
    private static func appendEmptyBlocks(_ count: Int, to boxes: inout Column<Float>) {
        for _ in 0..<count {
            for index in 0..<blockSize {
                boxes.append(index < blockSize / 2 ? .greatestFiniteMagnitude : -.greatestFiniteMagnitude)
            }
        }
    }

    /// Widens a child's box on one axis. Floats are half a metre apart, so they are rounded outwards.
    private static func widen(
        _ block: UnsafeMutablePointer<Float>, _ child: Int, _ axis: Int, _ lower: Double, _ upper: Double
    ) {
        let low = block + axis * width + child
        let high = low + 3 * width
        low.pointee = min(low.pointee, Float(lower).nextDown)
        high.pointee = max(high.pointee, Float(upper).nextUp)
    }
}

/// A column, whatever it has.
protocol ColumnMemory {
    /// The memory that it takes, in bytes.
    var bytes: Int { get }
    /// The bytes of an element.
    var stride: Int { get }
    /// The bytes of its elements.
    var content: UnsafeMutableRawBufferPointer { get }

    func free()
}

/// Values of one type in memory that is allocated and freed by hand: whoever owns it calls `free()` once.
///
/// Plain memory has no reference count, which loops on several processors would fight over, and large blocks go back to
/// the system as soon as they are freed, where the program has told the allocator so (`poi_return_large_blocks`). It begins
/// with a line of the processor's caches, and if it is large, with a huge page; memory that has grown need not.
struct Column<Element: BitwiseCopyable>: ColumnMemory {
    private static var cacheLineSize: Int { 64 }
    private static var hugePageSize: Int { 2 << 20 }

    private(set) var base: UnsafeMutablePointer<Element>
    private(set) var count: Int
    private var capacity: Int

    /// An empty column with room for so many elements.
    init(capacity: Int) {
        self.capacity = max(1, capacity)
        base = Self.allocate(self.capacity)
        count = 0
    }

    /// A column of the elements of a file. It is neither changed nor freed.
    init(mapped memory: UnsafeMutableRawPointer, count: Int) {
        base = memory.bindMemory(to: Element.self, capacity: count)
        self.count = count
        capacity = count
    }

    /// A column of so many elements, which hold nothing meaningful.
    init(uninitialized count: Int) {
        self.init(capacity: count)
        self.count = count
    }

    /// A column of so many equal elements.
    init(repeating element: Element, count: Int) {
        self.init(uninitialized: count)
        base.initialize(repeating: element, count: count)
    }

    /// A column of some elements.
    init(_ elements: [Element]) {
        self.init(capacity: elements.count)
        elements.withUnsafeBufferPointer { append($0) }
    }

    /// The memory that it takes, in bytes.
    var bytes: Int { capacity * stride }

    var stride: Int { MemoryLayout<Element>.stride }

    var content: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: base, count: count * stride)
    }

    subscript(index: Int) -> Element {
        get { base[index] }
        nonmutating set { base[index] = newValue }
    }

    mutating func append(_ element: Element) {
        reserve(1)
        base[count] = element
        count += 1
    }

    mutating func append(_ elements: UnsafeBufferPointer<Element>) {
        reserve(elements.count)
        if let start = elements.baseAddress { (base + count).update(from: start, count: elements.count) }
        count += elements.count
    }

    mutating func removeLast(_ number: Int) { count -= number }

    /// Gives back the room that isn't used.
    mutating func shrink() {
        capacity = max(1, count)
        base = Self.reallocate(base, capacity)
    }

    func free() { base.freeMemory() }

    private mutating func reserve(_ more: Int) {
        guard count + more > capacity else { return }
        // Memory that was never written to isn't resident.
        capacity = max(count + more, capacity + capacity / 2 + 16)
        base = Self.reallocate(base, capacity)
    }

    private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Element> {
        let size = capacity * MemoryLayout<Element>.stride
        let isLarge = size >= hugePageSize
        var memory: UnsafeMutableRawPointer?
        let error = posix_memalign(&memory, isLarge ? hugePageSize : cacheLineSize, size)
        guard error == 0, let memory else { fatalError("no memory for the index: \(size) bytes") }
        #if os(Linux)
            // A search reads a little in many places, and with small pages each has to be looked up. This is only advice: a
            // system without huge pages goes on with small ones.
            if isLarge { madvise(memory, size, MADV_HUGEPAGE) }
        #endif
        return memory.bindMemory(to: Element.self, capacity: capacity)
    }

    private static func reallocate(
        _ memory: UnsafeMutablePointer<Element>, _ capacity: Int
    ) -> UnsafeMutablePointer<Element> {
        let size = capacity * MemoryLayout<Element>.stride
        guard let memory = realloc(memory, size) else { fatalError("no memory for the index: \(size) bytes") }
        return memory.bindMemory(to: Element.self, capacity: capacity)
    }
}

extension UnsafeMutablePointer {
    fileprivate func freeMemory() { free(UnsafeMutableRawPointer(self)) }
}

extension Column {
    /// The elements at these indices, in their order; frees itself, so that both exist for a moment only.
    consuming func gathered(_ order: Column<UInt32>) -> Column {
        let gathered = Column(uninitialized: order.count)
        for index in 0..<order.count { gathered.base[index] = base[Int(order.base[index])] }
        free()
        return gathered
    }
}
