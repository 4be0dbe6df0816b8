import PointsOfInterestAPI
import Randomness
import Testing

@testable import POIService

@Suite("Parts of the surface")
struct SurfacePatchTests {
    @Test("Halved again and again, one half or the other always holds the place, at a distance in its range")
    func halvesHoldPlaces() throws {
        var generator = SeededGenerator()
        for _ in 0..<200 {
            let place = try Coordinate.random(using: &generator)
            let center = try Coordinate.random(using: &generator)
            let seed = "\(place) from \(center) POI_TEST_SEED=\(generator.seed)"
            let box = try box(around: place, using: &generator)
            let region = box.map(SurfaceRegion.init)
            let meters = Geodesic.distanceMeters(from: center, to: place)
            var patch = try #require(SurfacePatch(of: region), "\(seed)")
            while patch.side > 0.5 {
                let halves = patch.halves(of: region).filter { $0.holds(place) }
                patch = try #require(
                    halves.randomElement(using: &generator), "\(seed) \(String(describing: box))")
                let range = DistanceRange(
                    to: patch, from: center,
                    at: Ellipsoid.point(latitude: center.latitude, longitude: center.longitude))
                #expect(range.least <= meters && meters <= range.greatest, "\(seed) \(patch)")
            }
        }
    }

    @Test("The range of distances to a small part is narrow, nearby and far away")
    func narrowRanges() throws {
        let place = try Coordinate(latitude: 37, longitude: -122)
        for center in [place, try Coordinate(latitude: 40, longitude: -74), try place.antipode] {
            var patch = try #require(SurfacePatch(of: nil))
            while patch.side > 1000 {
                patch = try #require(patch.halves(of: nil).first { $0.holds(place) })
            }
            let range = DistanceRange(
                to: patch, from: center,
                at: Ellipsoid.point(latitude: center.latitude, longitude: center.longitude))
            #expect(range.greatest - range.least < 3 * 1000)
        }
    }

    @Test("A box draws parts in: to a thin band, a thin sector, nothing on the other side of the Earth")
    func boxesDrawIn() throws {
        let band = try #require(BoundingBox(west: -180, south: 45, east: 180, north: 45.001))
        let slice = try #require(SurfacePatch(of: SurfaceRegion(band)))
        #expect(slice.upper.z - slice.lower.z < 100)
        let sector = try #require(BoundingBox(west: 90, south: -90, east: 90.001, north: 90))
        let wedge = try #require(SurfacePatch(of: SurfaceRegion(sector)))
        #expect(wedge.upper.x - wedge.lower.x < 200)
        #expect(wedge.lower.y > -1)
        let small = try #require(BoundingBox(west: 179, south: 10, east: -179, north: 11))
        let patch = try #require(SurfacePatch(of: SurfaceRegion(small)))
        #expect(patch.side < 250_000)
        #expect(patch.upper.x < 0)
    }

    /// None, or one that holds the place, often on its edge.
    private func box(around place: Coordinate, using generator: inout SeededGenerator) throws -> BoundingBox?
    {
        guard Int.random(in: 0..<4, using: &generator) > 0 else { return nil }
        let reach: Double = [0, 1e-9, 0.001, 5, 100, 179].randomElement(using: &generator) ?? 0
        func away(_ generator: inout SeededGenerator) -> Double {
            Double.random(in: 0...reach, using: &generator)
        }
        let west = try Coordinate(wrapped: 0, place.longitude - away(&generator)).longitude
        let east = try Coordinate(wrapped: 0, place.longitude + away(&generator)).longitude
        let box = BoundingBox(
            west: west, south: max(-90, place.latitude - away(&generator)), east: east,
            north: min(90, place.latitude + away(&generator)))
        guard let box, box.contains(latitude: place.latitude, longitude: place.longitude) else { return nil }
        return box
    }
}

extension SurfacePatch {
    fileprivate func holds(_ place: Coordinate) -> Bool {
        let point = Ellipsoid.point(latitude: place.latitude, longitude: place.longitude)
        return all(point .>= lower) && all(point .<= upper)
    }
}
