import PointsOfInterestAPI

/// Where on Earth places have been found nearby: a bit for each degree of latitude and longitude.
///
/// The walk to the nearest places by the chord is the fastest way to an answer, but from the other side of the
/// Earth all chords are nearly as long, and it would read all of the index (8736 of its pages for 24 places). So it
/// is taken where a search through cubes has found the answer nearby, and no longer where it turns out to be
/// far, which only happens after places have been deleted. Wrong bits cost time, never exactness.
struct InhabitedRegions {
    /// Nearer than this the walk is cheap: 40 pages for 24 places, and 58 at 11,800 km.
    static let greatestDistanceMeters = 5_000_000.0

    private var bits = [UInt64](repeating: 0, count: 180 * 360 / 64 + 1)

    /// Whether there are as many places as are mostly asked for near a coordinate.
    subscript(center: Coordinate) -> Bool {
        get {
            let (word, bit) = Self.position(of: center)
            return bits[word] & bit != 0
        }
        set {
            let (word, bit) = Self.position(of: center)
            if newValue { bits[word] |= bit } else { bits[word] &= ~bit }
        }
    }

    /// A coordinate is in range, whatever it was made of.
    private static func position(of center: Coordinate) -> (word: Int, bit: UInt64) {
        let row = min(179, Int(center.latitude + 90))
        let column = min(359, Int(center.longitude + 180))
        let index = row * 360 + column
        return (index / 64, 1 << UInt64(index % 64))
    }
}
