import CPROJ
import Foundation
import Randomness
import Testing

@testable import Geodesy

/// Geodesics against those of GeographicLib, whose C library PROJ has.
@Suite("Geodesics")
struct InverseGeodesicTests {
    private static let count =
        ProcessInfo.processInfo.environment["POI_TEST_GEODESICS"].flatMap { Int($0) } ?? 20_000

    /// How two points lie. Where a method changes, or an azimuth is hardly determined, there are more of them.
    enum Kind: CaseIterable {
        case anywhere, inACountry, inACity, aStepAway, nearlyAntipodes, nearlyAntipodesOnTheEquator, antipodes
        case onTheEquator, nearBothPoles, fromAPole, onAMeridian, overAPole, onAParallel, onMirroredParallels
        case atWholeDegrees, same
    }

    private typealias Pair = (latitude1: Double, longitude1: Double, latitude2: Double, longitude2: Double)

    private static func pair(_ kind: Kind, _ random: inout SeededGenerator) -> Pair {
        func number(_ limit: Double) -> Double { Double.random(in: -limit...limit, using: &random) }
        let (latitude, longitude, other) = (number(90), number(180), number(180))
        func near(_ degrees: Double) -> Pair {
            (latitude, longitude, min(90, max(-90, latitude + number(degrees))), longitude + number(degrees))
        }
        switch kind {
        case .anywhere: return (latitude, longitude, number(90), other)
        case .inACountry: return near(5)
        case .inACity: return near(0.1)
        case .aStepAway: return near(1e-6)
        case .nearlyAntipodes:
            return (
                latitude, longitude, min(90, max(-90, number(0.5) - latitude)), longitude + 180 + number(0.7)
            )
        case .nearlyAntipodesOnTheEquator:
            let latitude = number(1e-3)
            return (latitude, longitude, number(1e-4) - latitude, longitude + 180 + number(0.7))
        case .antipodes: return (latitude, longitude, -latitude, longitude + 180)
        case .onTheEquator: return (0, longitude, 0, other)
        case .nearBothPoles: return (90 - abs(number(0.1)), longitude, abs(number(0.1)) - 90, other)
        case .fromAPole: return (latitude < 0 ? -90 : 90, longitude, number(90), other)
        case .onAMeridian: return (latitude, longitude, number(90), longitude)
        case .overAPole: return (latitude, longitude, number(90), longitude + 180)
        case .onAParallel: return (latitude, longitude, latitude, other)
        case .onMirroredParallels: return (latitude, longitude, -latitude, other)
        case .atWholeDegrees:
            return (latitude.rounded(), longitude.rounded(), number(90).rounded(), other.rounded())
        case .same: return (latitude, longitude, latitude, longitude)
        }
    }

    @Test("Lengths are GeographicLib's, but for 10 nm or three steps of a double", arguments: Kind.allCases)
    func lengths(kind: Kind) {
        var random = SeededGenerator()
        var ellipsoid = geod_geodesic()
        geod_init(&ellipsoid, 6_378_137, 1 / 298.257_223_563)
        var (farthest, at): (Double, Pair) = (0, (0, 0, 0, 0))
        for _ in 0..<Self.count {
            let pair = Self.pair(kind, &random)
            var expected = 0.0
            geod_inverse(
                &ellipsoid, pair.latitude1, pair.longitude1, pair.latitude2, pair.longitude2, &expected, nil,
                nil)
            let meters = InverseGeodesic.meters(
                fromLatitude: pair.latitude1, longitude: pair.longitude1, toLatitude: pair.latitude2,
                longitude: pair.longitude2)
            // A double's step is 3.7 nm beyond 16,777 km.
            let difference = abs(meters - expected) / max(1e-8, 3 * expected.ulp)
            if !(difference <= farthest) { (farthest, at) = (difference, pair) }
        }
        #expect(farthest <= 1, "\(at)")
    }

    @Test("A way is as long as the way back, to the last bit")
    func wayBack() {
        var random = SeededGenerator()
        for _ in 0..<Self.count {
            let kind = Kind.allCases.randomElement(using: &random) ?? .anywhere
            let pair = Self.pair(kind, &random)
            let there = InverseGeodesic.meters(
                fromLatitude: pair.latitude1, longitude: pair.longitude1, toLatitude: pair.latitude2,
                longitude: pair.longitude2)
            let back = InverseGeodesic.meters(
                fromLatitude: pair.latitude2, longitude: pair.longitude2, toLatitude: pair.latitude1,
                longitude: pair.longitude1)
            #expect(there == back, "\(pair)")
        }
    }
}
