import PointsOfInterestAPI

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension SurfacePatch {
    /// More than the rounding of angles adds up to, in degrees.
    private static let angleMargin = 1e-9

    /// Whether a place of the patch may lie in a box; true where in doubt.
    func mayLie(in box: BoundingBox) -> Bool {
        // On the surface, the latitude follows from the height over the equator's plane alone.
        let south = Ellipsoid.latitude(atHeight: lower.z) - Self.angleMargin
        let north = Ellipsoid.latitude(atHeight: upper.z) + Self.angleMargin
        guard south <= box.north, box.south <= north else { return false }
        guard let longitudes else { return true }
        let boxWidth = box.crossesAntimeridian ? box.east - box.west + 360 : box.east - box.west
        return Self.eastward(from: box.west, to: longitudes.west) <= boxWidth
            || Self.eastward(from: longitudes.west, to: box.west) <= longitudes.width
    }

    /// The patch's western end and its width, in degrees; nil where it has or may have all longitudes: a
    /// place at a pole has any.
    private var longitudes: (west: Double, width: Double)? {
        let holdsAxis = lower.x <= 0 && upper.x >= 0 && lower.y <= 0 && upper.y >= 0
        guard !holdsAxis else { return nil }
        // Seen from the axis, a rectangle beside it spans less than half a turn about its middle.
        let middle = (lower + upper) / 2
        var (west, east) = (0.0, 0.0)
        for x in [lower.x, upper.x] {
            for y in [lower.y, upper.y] {
                let turn = atan2(middle.x * y - middle.y * x, middle.x * x + middle.y * y) * 180 / .pi
                west = min(west, turn)
                east = max(east, turn)
            }
        }
        let middleLongitude = atan2(middle.y, middle.x) * 180 / .pi
        return (middleLongitude + west - Self.angleMargin, east - west + 2 * Self.angleMargin)
    }

    /// How far east one longitude is of another, 0..<360 degrees.
    private static func eastward(from start: Double, to end: Double) -> Double {
        let turn = (end - start).truncatingRemainder(dividingBy: 360)
        return turn < 0 ? turn + 360 : turn
    }
}
