import PointsOfInterestServerAPI

/// A part's listed places in the order of their quadkeys: the places of each tile are one range.
struct TileOrder: BitwiseCopyable {
    /// How many places that follow each other are summed up.
    static let blockSize = 32

    let quadkeys: Column<Quadkey>
    /// The numbers of the places, by quadkey, then by number.
    let places: Column<UInt32>
    /// The sum of each whole block of places in that order.
    let blocks: Column<ClusterSum>

    init(quadkeys: Column<Quadkey>, places: Column<UInt32>, blocks: Column<ClusterSum>) {
        (self.quadkeys, self.places, self.blocks) = (quadkeys, places, blocks)
    }

    /// Orders the first places of a part.
    init(count: Int, latitudes: Column<Double>, longitudes: Column<Double>) {
        quadkeys = Column(uninitialized: count)
        places = Column(uninitialized: count)
        blocks = Column(uninitialized: count / Self.blockSize)
        let sorted = Column<KeyedPlace>(uninitialized: count)
        for place in 0..<count {
            quadkeys[place] = Quadkey(latitude: latitudes[place], longitude: longitudes[place])
            sorted[place] = KeyedPlace(quadkey: quadkeys[place].rawValue, place: UInt32(place))
        }
        var buffer = UnsafeMutableBufferPointer(start: sorted.base, count: count)
        buffer.sort { ($0.quadkey, $0.place) < ($1.quadkey, $1.place) }
        for index in 0..<count { places[index] = sorted[index].place }
        sorted.free()
        for block in 0..<blocks.count {
            var sum = ClusterSum()
            for index in block * Self.blockSize..<(block + 1) * Self.blockSize {
                let place = Int(places[index])
                sum.add(latitude: latitudes[place], longitude: longitudes[place])
            }
            blocks[block] = sum
        }
    }

    private struct KeyedPlace: BitwiseCopyable {
        let quadkey: UInt64
        let place: UInt32
    }

    /// How many blocks there are, the last of which need not be whole.
    var blockCount: Int { (places.count + Self.blockSize - 1) / Self.blockSize }

    var memory: [any ColumnMemory] { [quadkeys, places, blocks] }

    func block(of place: Int) -> Int {
        let key = (quadkeys[place], UInt32(place))
        let index = (0..<places.count).firstIndex(behind: { (quadkey($0), places[$0]) < key })
        return index / Self.blockSize
    }

    /// Calls `body` with each of the cells that has places, and with their range in the order.
    func forEachCell(of cells: ClusterCells, _ body: (_ cell: Int, Range<Int>) -> Void) {
        descend(0..<places.count, row: 0, column: 0, level: 0, cells, body)
    }

    /// Goes through the tiles below one, whose places are in `range`.
    private func descend(
        _ range: Range<Int>, row: Int, column: Int, level: Int, _ cells: ClusterCells,
        _ body: (_ cell: Int, Range<Int>) -> Void
    ) {
        guard !range.isEmpty, cells.touches(row: row, column: column, ofLevel: level) else { return }
        if level == cells.level {
            if let cell = cells.cell(of: quadkey(range.lowerBound)) { body(cell, range) }
            return
        }
        let childShift = UInt64(2 * (Quadkey.levels - level - 1))
        let parent = quadkey(range.lowerBound).rawValue >> childShift & ~3
        var start = range.lowerBound
        for child in 0..<4 {
            let end =
                child == 3
                ? range.upperBound
                : (start..<range.upperBound).firstIndex(behind: {
                    quadkey($0).rawValue >> childShift <= parent | UInt64(child)
                })
            descend(
                start..<end, row: row << 1 | child >> 1, column: column << 1 | child & 1, level: level + 1,
                cells, body)
            start = end
        }
    }

    /// The quadkey of a place by its index in the order.
    @inline(__always)
    private func quadkey(_ index: Int) -> Quadkey { quadkeys[Int(places[index])] }
}
