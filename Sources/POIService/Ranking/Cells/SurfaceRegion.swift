import PointsOfInterestAPI

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What a box of latitudes and longitudes is in space: a slice across the Earth's axis, and a wedge about it.
struct SurfaceRegion: Sendable {
    /// More than the rounding of positions, in metres.
    private static let margin = Ranking.roundingMarginMeters

    /// The heights of the southern and the northern edge over the equator's plane, in metres: on the surface,
    /// they follow from the latitude alone.
    private let southHeight: Double
    private let northHeight: Double
    /// The inward normals of half-planes of x and y, whose edges go through the axis. At most half a turn of
    /// longitudes is where all of them hold; of more than that, the other longitudes are.
    private let normals: [SIMD2<Double>]
    private let isOutside: Bool

    init(_ box: BoundingBox) {
        southHeight = Ellipsoid.height(atLatitude: box.south) - Self.margin
        northHeight = Ellipsoid.height(atLatitude: box.north) + Self.margin
        let width = box.crossesAntimeridian ? box.east - box.west + 360 : box.east - box.west
        isOutside = width > 180
        if width >= 360 {
            normals = []
        } else if isOutside {
            normals = Self.normals(from: box.east, width: 360 - width)
        } else {
            normals = Self.normals(from: box.west, width: width)
        }
    }

    private static func normals(from west: Double, width: Double) -> [SIMD2<Double>] {
        func direction(_ degrees: Double) -> SIMD2<Double> {
            SIMD2(cos(degrees * .pi / 180), sin(degrees * .pi / 180))
        }
        let (start, end) = (direction(west), direction(west + width))
        // The third tells a narrow wedge from the one opposite.
        return [SIMD2(-start.y, start.x), SIMD2(end.y, -end.x), direction(west + width / 2)]
    }

    /// Draws a box in space in to what of it may lie in the region; false where nothing does.
    func clip(_ lower: inout SIMD3<Double>, _ upper: inout SIMD3<Double>) -> Bool {
        lower.z = max(lower.z, southHeight)
        upper.z = min(upper.z, northHeight)
        guard lower.z <= upper.z else { return false }
        var corners = [
            SIMD2(lower.x, lower.y), SIMD2(upper.x, lower.y), SIMD2(upper.x, upper.y),
            SIMD2(lower.x, upper.y),
        ]
        if normals.isEmpty { return true }
        if isOutside {
            // What is left out is convex: a rectangle lies in it if its corners do.
            return !corners.allSatisfy { corner in
                normals.allSatisfy { (corner * $0).sum() > Self.margin }
            }
        }
        for normal in normals { corners = Self.cut(corners, by: normal) }
        guard let first = corners.first else { return false }
        let (low, high) = corners.reduce((first, first)) { (pointwiseMin($0.0, $1), pointwiseMax($0.1, $1)) }
        (lower.x, lower.y) = (max(lower.x, low.x - Self.margin), max(lower.y, low.y - Self.margin))
        (upper.x, upper.y) = (min(upper.x, high.x + Self.margin), min(upper.y, high.y + Self.margin))
        return true
    }

    /// The part of a convex polygon on one side of a line through the axis.
    ///
    /// Source: I. E. Sutherland, G. W. Hodgman, "Reentrant polygon clipping", CACM 17, 32–42 (1974).
    private static func cut(_ corners: [SIMD2<Double>], by normal: SIMD2<Double>) -> [SIMD2<Double>] {
        var kept: [SIMD2<Double>] = []
        for (index, corner) in corners.enumerated() {
            let previous = corners[index == 0 ? corners.count - 1 : index - 1]
            let (before, here) = ((previous * normal).sum() + margin, (corner * normal).sum() + margin)
            if (before < 0) != (here < 0) {
                kept.append(previous + (corner - previous) * (before / (before - here)))
            }
            if here >= 0 { kept.append(corner) }
        }
        return kept
    }
}
