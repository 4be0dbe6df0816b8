import PointsOfInterestAPI
import Randomness

/// Valid locations requests, with any of the options that go together.
enum RandomRequest {
    static func make(using random: inout SeededGenerator) -> NearbyPlacesRequest {
        func maybe<Value>(_ value: (inout SeededGenerator) -> Value?) -> Value? {
            Bool.random(using: &random) ? value(&random) : nil
        }
        let box = maybe(box)
        let center = box == nil ? coordinate(using: &random) : maybe(coordinate)
        var request = NearbyPlacesRequest(center: center, box: box)
        if box == nil {
            request.radiusMeters = maybe {
                .random(in: 0.1...NearbyPlacesRequest.maximumRadiusMeters, using: &$0)
            }
        }
        request.limit = maybe { .random(in: NearbyPlacesRequest.limits, using: &$0) }
        request.categories = maybe(categories) ?? []
        request.searchText = maybe(text)
        request.featured = maybe { .random(using: &$0) }
        return request
    }

    static func coordinate(using random: inout SeededGenerator) -> Coordinate? {
        try? Coordinate(
            latitude: degrees(in: Coordinate.latitudes, using: &random),
            longitude: degrees(in: Coordinate.longitudes, using: &random))
    }

    static func box(using random: inout SeededGenerator) -> BoundingBox? {
        let latitudes = [0, 1].map { _ in degrees(in: Coordinate.latitudes, using: &random) }.sorted()
        return BoundingBox(
            west: degrees(in: Coordinate.longitudes, using: &random), south: latitudes[0],
            east: degrees(in: Coordinate.longitudes, using: &random), north: latitudes[1])
    }

    /// Full precision, a map's precision, next to nothing, and the edges.
    static func degrees(in range: ClosedRange<Double>, using random: inout SeededGenerator) -> Double {
        let number = Double.random(in: range, using: &random)
        return switch Int.random(in: 0..<5, using: &random) {
        case 0: number
        case 1: (number * 10_000).rounded(.towardZero) / 10_000
        case 2: number * 1e-12
        case 3: range.lowerBound
        default: range.upperBound
        }
    }

    /// Some of a vocabulary's names, in the order in which a decoder has them.
    private static func categories(using random: inout SeededGenerator) -> [String] {
        let names = ["art gallery", "bar", "café", "museum", "park&ride", "ресторан", "100%"]
        return names.filter { _ in Bool.random(using: &random) }.sorted()
    }

    /// 1…100 characters of any kind but NUL.
    private static func text(using random: inout SeededGenerator) -> String {
        let scalars = (0..<Int.random(in: 1...100, using: &random)).map { _ in
            let isASCII = Bool.random(using: &random)
            return Unicode.Scalar(UInt32.random(in: 1...(isASCII ? 0x7F : 0x10FFFF), using: &random)) ?? "&"
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
