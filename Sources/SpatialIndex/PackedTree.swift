import Geodesy

/// A tree of boxes over places in spatial order, 16 to a leaf and 16 children to a node, without pointers.
///
/// The boxes of a node's children are one block of floats: 16 lower x, then y and z, then 16 upper x, y and z, so that the
/// distances to all 16 are computed at once. Blocks lie level by level, those over the leaves first.
struct PackedTree: BitwiseCopyable {
    /// How many places a leaf has, and how many children a node.
    static let width = 16
    /// The floats of a block.
    static let blockSize = 6 * width
    /// No tree of 2^32 places has more levels of nodes.
    static let maximumLevelCount = 8

    /// The category and whether places are featured, see `kind(category:isFeatured:)`.
    var kind: UInt32
    /// How many places it has.
    var count: UInt32
    /// Where its places are listed among the part's `listedPlaces`; nil where they are all places, in their order.
    var listStart: UInt32?
    /// Where its boxes begin, in blocks.
    var firstBlock: UInt32

    /// A category and whether a place is featured, as one number.
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
    private var starts: (Int, Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0, 0)
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
        get {
            withUnsafeBytes(of: starts) {
                $0.load(fromByteOffset: level * MemoryLayout<Int>.stride, as: Int.self)
            }
        }
        set {
            withUnsafeMutableBytes(of: &starts) {
                $0.storeBytes(of: newValue, toByteOffset: level * MemoryLayout<Int>.stride, as: Int.self)
            }
        }
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
