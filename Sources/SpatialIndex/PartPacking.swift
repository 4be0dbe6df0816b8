import Geodesy
import PointsOfInterestAPI

/// Makes a part's columns of what a builder collected, one after the other, and frees each as soon as it isn't needed.
struct PartPacking {
    private let collected: CollectedPlaces
    private let count: Int
    private let listedCount: Int

    init(_ collected: CollectedPlaces) {
        self.collected = collected
        count = collected.ids.count
        listedCount = count - collected.unlisted.count
    }

    func columns() -> PartColumns {
        collected.isPacked = true
        let points = pointsInSpace()
        let order = spatialOrder(points)
        let x = points.x.gathered(order)
        let y = points.y.gathered(order)
        let z = points.z.gathered(order)
        let kinds = collected.kinds.gathered(order)
        let sources = collected.sources.gathered(order)
        let importances = packedImportances(order)
        let addressInitials = collected.addressInitials.gathered(order)
        let ids = collected.ids.gathered(order)
        let hashes = collected.hashes.gathered(order)
        collected.records.shrink()
        let latitudes = collected.latitudes.gathered(order)
        let longitudes = collected.longitudes.gathered(order)
        let recordStarts = collected.recordStarts.gathered(order)
        let words = packedWords(order)
        let addressWords = packedAddressWords(order)
        order.free()
        var forest = ForestPacking(count: listedCount, kinds: kinds, x: x, y: y, z: z)
        forest.pack()
        return PartColumns(
            count: count, listedCount: listedCount, x: x, y: y, z: z, latitudes: latitudes,
            longitudes: longitudes, ids: ids, hashes: hashes,
            kinds: kinds, sources: sources, importances: importances,
            addressInitials: addressInitials, recordStarts: recordStarts,
            records: collected.records,
            words: words, addressWords: addressWords,
            idSlots: Self.slots(of: ids), trees: forest.trees, listedPlaces: forest.listedPlaces,
            boxes: forest.boxes,
            tiles: TileOrder(count: listedCount, latitudes: latitudes, longitudes: longitudes))
    }

    /// The importances in an order; empty where all are 0. Frees those that were collected.
    private func packedImportances(_ order: Column<UInt32>) -> Column<UInt16> {
        let importances = collected.importances.gathered(order)
        guard (0..<count).allSatisfy({ importances[$0] == 0 }) else { return importances }
        importances.free()
        return Column(capacity: 0)
    }

    // MARK: - Order

    private func pointsInSpace() -> (x: Column<Double>, y: Column<Double>, z: Column<Double>) {
        let (x, y, z) = (
            Column<Double>(uninitialized: count), Column<Double>(uninitialized: count),
            Column<Double>(uninitialized: count)
        )
        for index in 0..<count {
            let point = Ellipsoid.point(
                Coordinate(
                    validLatitude: collected.latitudes[index], validLongitude: collected.longitudes[index]))
            x[index] = point.x
            y[index] = point.y
            z[index] = point.z
        }
        return (x, y, z)
    }

    /// The listed places in spatial order, then the others.
    private func spatialOrder(
        _ points: (x: Column<Double>, y: Column<Double>, z: Column<Double>)
    ) -> Column<UInt32> {
        var ordered = Column<OrderedPoint>(capacity: listedCount)
        var unlisted = collected.unlisted[...]
        for index in 0..<count {
            if unlisted.first == UInt32(index) {
                unlisted.removeFirst()
                continue
            }
            ordered.append(
                OrderedPoint(
                    x: Float(points.x[index]), y: Float(points.y[index]), z: Float(points.z[index]),
                    number: UInt32(index)))
        }
        SpatialOrder.sort(UnsafeMutableBufferPointer(start: ordered.base, count: listedCount))
        let order = Column<UInt32>(uninitialized: count)
        for index in 0..<listedCount { order[index] = ordered[index].number }
        ordered.free()
        for (index, place) in collected.unlisted.enumerated() { order[listedCount + index] = place }
        return order
    }

    // MARK: - Ids

    private static func slots(of ids: Column<Int64>) -> Column<UInt32> {
        let slots = Column<UInt32>(repeating: 0, count: ids.count + ids.count / 2 + 1)
        for place in 0..<ids.count {
            var slot = PartColumns.slot(of: ids[place], slotCount: slots.count)
            while slots[slot] != 0 { slot = slot + 1 == slots.count ? 0 : slot + 1 }
            slots[slot] = UInt32(place + 1)
        }
        return slots
    }

    // MARK: - Words

    private func packedWords(_ order: Column<UInt32>) -> WordColumns {
        let newNumbers = Column<UInt32>(uninitialized: collected.table.count)
        let sorted = SortedWords(collected.table) { newNumbers[Int($0)] = $1 }
        let (placeStarts, placeWords) = Self.renumbered(
            collected.words, collected.wordStarts, in: order, count: count, newNumbers)
        let properties = collected.properties?.packed(order, newNumbers)
        newNumbers.free()
        collected.wordStarts.free()
        collected.words.free()
        let (postingStarts, postings) = Self.postings(
            of: placeWords, placeStarts, properties, placeCount: listedCount, wordCount: sorted.count)
        properties?.free()
        return WordColumns(
            sorted: sorted, byEnds: Self.numbersByEnds(sorted),
            postingStarts: postingStarts, postings: postings,
            placeStarts: placeStarts, placeWords: placeWords)
    }

    private func packedAddressWords(_ order: Column<UInt32>) -> AddressWords {
        let newNumbers = Column<UInt32>(uninitialized: collected.addressTable.count)
        let sorted = SortedWords(collected.addressTable) { newNumbers[Int($0)] = $1 }
        let (placeStarts, placeWords) = Self.renumbered(
            collected.addressWords, collected.addressStarts, in: order, count: listedCount, newNumbers)
        newNumbers.free()
        collected.addressStarts.free()
        collected.addressWords.free()
        let (blockStarts, blocks) = Self.postings(
            of: placeWords, placeStarts, nil, placeCount: listedCount, wordCount: sorted.count,
            blockBits: AddressWords.blockBits)
        placeStarts.free()
        placeWords.free()
        return AddressWords(sorted: sorted, blockStarts: blockStarts, blocks: blocks)
    }

    /// The words of the first places of an order, by their new numbers; and where each place's begin.
    private static func renumbered(
        _ words: Column<UInt32>, _ starts: Column<UInt32>, in order: Column<UInt32>, count: Int,
        _ newNumbers: Column<UInt32>
    ) -> (starts: Column<UInt32>, words: Column<UInt32>) {
        var placeStarts = Column<UInt32>(capacity: count + 1)
        var placeWords = Column<UInt32>(capacity: words.count)
        placeStarts.append(0)
        for index in 0..<count {
            let place = Int(order[index])
            for word in starts[place]..<starts[place + 1] {
                let old = words[Int(word)]
                placeWords.append(WordColumns.isMark(old) ? old : newNumbers[Int(old)])
            }
            placeStarts.append(UInt32(placeWords.count))
        }
        return (placeStarts, placeWords)
    }

    /// The numbers of the words in the order of their bytes from the last one to the first. Mostly eight bytes decide.
    private static func numbersByEnds(_ words: SortedWords) -> Column<UInt32> {
        func tail(_ number: Int) -> UInt64 {
            let word = words.word(UInt32(number))
            return (1...8).reduce(0) { $0 << 8 | ($1 <= word.count ? UInt64(word[word.count - $1]) : 0) }
        }
        let sorted = (0..<words.count).map { (tail: tail($0), number: UInt32($0)) }.sorted {
            one, other in
            guard one.tail == other.tail else { return one.tail < other.tail }
            return WordColumns.compareFromEnds(words.word(one.number), words.word(other.number)) < 0
        }
        let numbers = Column<UInt32>(uninitialized: sorted.count)
        for (index, entry) in sorted.enumerated() { numbers[index] = entry.number }
        return numbers
    }

    /// The listed places of each word, or the blocks of two to the power of `blockBits` places, by a counting sort.
    private static func postings(
        of placeWords: Column<UInt32>, _ placeStarts: Column<UInt32>, _ properties: PackedProperties?,
        placeCount: Int, wordCount: Int, blockBits: Int = 0
    ) -> (starts: Column<UInt32>, postings: Column<UInt32>) {
        // `starts[word]` is where the word's next place goes. At the end of the loop it is the start of the next word.
        let starts = Column<UInt32>(repeating: 0, count: wordCount + 1)
        forEachPosting(
            of: placeWords, placeStarts, properties, placeCount: placeCount, wordCount: wordCount,
            blockBits: blockBits
        ) { word, _ in starts[word] += 1 }
        var sum: UInt32 = 0
        for word in 0...wordCount {
            let here = starts[word]
            starts[word] = sum
            sum += here
        }
        let postings = Column<UInt32>(uninitialized: Int(sum))
        forEachPosting(
            of: placeWords, placeStarts, properties, placeCount: placeCount, wordCount: wordCount,
            blockBits: blockBits
        ) { word, place in
            postings[Int(starts[word])] = UInt32(place)
            starts[word] += 1
        }
        for word in stride(from: wordCount, to: 0, by: -1) { starts[word] = starts[word - 1] }
        starts[0] = 0
        return (starts, postings)
    }

    /// Calls `body` with each place, or block, and each of its words, once, though several of its names or runs have that word; and with
    /// the values of its properties.
    @inline(__always)
    private static func forEachPosting(
        of placeWords: Column<UInt32>, _ placeStarts: Column<UInt32>, _ properties: PackedProperties?,
        placeCount: Int, wordCount: Int, blockBits: Int, _ body: (_ word: Int, _ place: Int) -> Void
    ) {
        let lastPlaces = Column<UInt32>(repeating: .max, count: wordCount)
        defer { lastPlaces.free() }
        func take(_ word: Int, of place: Int) {
            let block = place >> blockBits
            guard lastPlaces[word] != UInt32(block) else { return }
            lastPlaces[word] = UInt32(block)
            body(word, block)
        }
        for place in 0..<placeCount {
            for index in placeStarts[place]..<placeStarts[place + 1] {
                let word = placeWords[Int(index)]
                if !WordColumns.isMark(word) { take(Int(word), of: place) }
            }
            properties?.forEachWord(of: place) { take($0, of: place) }
        }
    }
}

/// The trees of a part's listed places: of all, of the featured ones, and of each kind.
private struct ForestPacking {
    let count: Int
    let kinds: Column<UInt32>
    let x, y, z: Column<Double>
    var trees = Column<PackedTree>(capacity: 16)
    var listedPlaces: Column<UInt32>
    var boxes: Column<Float>

    init(
        count: Int, kinds: Column<UInt32>, x: Column<Double>, y: Column<Double>, z: Column<Double>
    ) {
        self.count = count
        self.kinds = kinds
        self.x = x
        self.y = y
        self.z = z
        listedPlaces = Column(capacity: count)
        boxes = Column(capacity: count)
    }

    mutating func pack() {
        appendTree(kind: 0, count: count, listStart: nil)
        appendTree(of: (0..<UInt32(count)).filter { kinds[Int($0)] & 1 == 1 }, kind: 1)
        var placesOfKind: [UInt32: [UInt32]] = [:]
        for place in 0..<count { placesOfKind[kinds[place], default: []].append(UInt32(place)) }
        for kind in placesOfKind.keys.sorted() {
            appendTree(of: placesOfKind.removeValue(forKey: kind) ?? [], kind: kind)
        }
        trees.shrink()
        listedPlaces.shrink()
        boxes.shrink()
    }

    /// Appends a tree of some places, in a spatial order of their own. This is better than the order that they have among all
    /// places.
    private mutating func appendTree(of places: [UInt32], kind: UInt32) {
        let ordered = Column<OrderedPoint>(uninitialized: places.count)
        for (index, place) in places.enumerated() {
            let number = Int(place)
            ordered[index] = OrderedPoint(
                x: Float(x[number]), y: Float(y[number]), z: Float(z[number]), number: place)
        }
        SpatialOrder.sort(UnsafeMutableBufferPointer(start: ordered.base, count: places.count))
        let start = listedPlaces.count
        for index in 0..<places.count { listedPlaces.append(ordered[index].number) }
        ordered.free()
        appendTree(kind: kind, count: places.count, listStart: UInt32(start))
    }

    private mutating func appendTree(kind: UInt32, count: Int, listStart: UInt32?) {
        trees.append(
            PackedTree(
                kind: kind, count: UInt32(count), listStart: listStart,
                firstBlock: UInt32(boxes.count / PackedTree.blockSize)))
        let (x, y, z, listed) = (x, y, z, listedPlaces)
        PackedTree.appendBoxes(to: &boxes, placeCount: count) { index in
            let place = listStart.map { Int(listed[Int($0) + index]) } ?? index
            return SIMD3(x[place], y[place], z[place])
        }
    }
}

/// A place that is put into a tree: its approximate position, and its number.
struct OrderedPoint: BitwiseCopyable {
    var x, y, z: Float
    var number: UInt32
}

/// The order in which places are packed: that of the leaves of a k-d tree, each box cut at a median across its longest
/// side. Leaves of neighbouring places follow each other, and their boxes hardly overlap.
enum SpatialOrder {
    /// Orders points so that each group of `PackedTree.width`, and each `width` such groups, are near each other.
    static func sort(_ points: UnsafeMutableBufferPointer<OrderedPoint>) {
        guard points.count > PackedTree.width else { return }
        // The first half has `width` times a power of two points. So cuts fall between groups, and between nodes if there are
        // enough points.
        var half = PackedTree.width
        while 2 * half < points.count { half *= 2 }
        switch longestSide(of: points) {
        case 0: select(points, half, \.x)
        case 1: select(points, half, \.y)
        default: select(points, half, \.z)
        }
        sort(UnsafeMutableBufferPointer(rebasing: points[..<half]))
        sort(UnsafeMutableBufferPointer(rebasing: points[half...]))
    }

    private static func longestSide(of points: UnsafeMutableBufferPointer<OrderedPoint>) -> Int {
        var (lower, upper) = (SIMD4<Float>(repeating: .infinity), SIMD4<Float>(repeating: -.infinity))
        for point in points {
            let corner = SIMD4(point.x, point.y, point.z, 0)
            lower.replace(with: corner, where: corner .< lower)
            upper.replace(with: corner, where: corner .> upper)
        }
        let side = upper - lower
        if side.x >= side.y, side.x >= side.z { return 0 }
        return side.y >= side.z ? 1 : 2
    }

    /// Hoare's selection: moves the points with the `count` smallest values to the front.
    @inline(__always)
    private static func select(
        _ points: UnsafeMutableBufferPointer<OrderedPoint>, _ count: Int, _ value: (OrderedPoint) -> Float
    ) {
        var (low, high) = (0, points.count - 1)
        while low < high {
            let ends = (value(points[low]), value(points[high]))
            let middle = value(points[(low + high) / 2])
            let pivot = max(min(ends.0, ends.1), min(max(ends.0, ends.1), middle))
            var (left, right) = (low, high)
            while left <= right {
                while value(points[left]) < pivot { left += 1 }
                while pivot < value(points[right]) { right -= 1 }
                guard left <= right else { break }
                points.swapAt(left, right)
                left += 1
                right -= 1
            }
            if count - 1 <= right { high = right } else if count - 1 >= left { low = left } else { return }
        }
    }
}
