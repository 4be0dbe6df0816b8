import PointsOfInterestAPI

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension SpaceCube {
    /// More than the rounding of angles adds up to, in degrees.
    private static let angleMargin = 1e-9

    /// Whether a place of the part of the surface within bounds may lie in a box of latitudes and longitudes;
    /// true where in doubt.
    static func mayMeet(_ box: BoundingBox, within bounds: Bounds) -> Bool {
        let (lower, upper) = bounds
        // On the surface the latitude follows from the height over the equator's plane alone.
        guard Ellipsoid.latitude(atHeight: lower.z) - angleMargin <= box.north,
            box.south <= Ellipsoid.latitude(atHeight: upper.z) + angleMargin
        else { return false }
        guard let (west, width) = longitudes(lower, upper) else { return true }
        let boxWidth = box.crossesAntimeridian ? box.east - box.west + 360 : box.east - box.west
        return eastward(from: box.west, to: west) <= boxWidth
            || eastward(from: west, to: box.west) <= width
    }

    /// The western end and the width of the cube's longitudes, in degrees; nil where it may have any, since a
    /// place at a pole may.
    private static func longitudes(_ lower: SIMD3<Double>, _ upper: SIMD3<Double>) -> (Double, Double)? {
        guard lower.x > 1 || lower.y > 1 || upper.x < -1 || upper.y < -1 else { return nil }
        // Seen from the axis, a rectangle beside it is less than half a turn wide about its middle.
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
        return (middleLongitude + west - angleMargin, east - west + 2 * angleMargin)
    }

    /// How far east one longitude is of another, 0..<360 degrees.
    private static func eastward(from start: Double, to end: Double) -> Double {
        let turn = (end - start).truncatingRemainder(dividingBy: 360)
        return turn < 0 ? turn + 360 : turn
    }
}
