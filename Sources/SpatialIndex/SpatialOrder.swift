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
