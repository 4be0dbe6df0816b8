import Randomness
import Testing

@testable import PointsOfInterestAPI

@Suite("A coordinate")
struct CoordinateTests {
    @Test(
        "A coordinate keeps its latitude and longitude, up to the edges of the ranges",
        arguments: [
            (37.3293, -121.8893), (90, 180), (-90, -180), (0, -0.0),
            (.leastNonzeroMagnitude, 179.999_999_999_999_97),
        ])
    func keepsItsNumbers(latitude: Double, longitude: Double) throws {
        let coordinate = try Coordinate(latitude: latitude, longitude: longitude)
        #expect(coordinate.latitude == latitude)
        #expect(coordinate.longitude == longitude)
    }

    @Test(
        "A coordinate out of range can't be made",
        arguments: [
            (90.0.nextUp, 0), ((-90.0).nextDown, 0), (0, 180.0.nextUp), (0, (-180.0).nextDown), (.nan, 0),
            (0, .nan), (.infinity, 0), (0, -.infinity), (-121.8893, 37.3293), (.signalingNaN, .nan),
        ])
    func refusesImpossibleNumbers(latitude: Double, longitude: Double) {
        #expect(throws: RequestError.invalidCoordinate) {
            try Coordinate(latitude: latitude, longitude: longitude)
        }
    }
}

@Suite("A bounding box")
struct BoundingBoxTests {
    private func box(_ west: Double, _ south: Double, _ east: Double, _ north: Double) throws -> BoundingBox {
        try #require(BoundingBox(west: west, south: south, east: east, north: north))
    }

    @Test(
        "A box with an edge out of range, or upside down, can't be made",
        arguments: [
            (180.0.nextUp, 0, 0, 0), (0, (-90.0).nextDown, 0, 0), (0, 0, (-180.0).nextDown, 0),
            (0, 0, 0, 90.0.nextUp), (.nan, 0, 0, 0), (0, .nan, 0, 0), (0, 0, .nan, 0), (0, 0, 0, .nan),
            (.infinity, 0, 0, 0), (0, 1, 0, 1.0.nextDown),
        ] as [(Double, Double, Double, Double)])
    func refuses(west: Double, south: Double, east: Double, north: Double) {
        #expect(BoundingBox(west: west, south: south, east: east, north: north) == nil)
    }

    @Test("A box contains its edges, and nothing beyond them")
    func holdsItsEdges() throws {
        let box = try box(-10, -5, 20, 15)
        for (latitude, longitude) in [(-5.0, -10.0), (15, 20), (-5, 20), (15, -10), (0, 0)] {
            #expect(box.contains(latitude: latitude, longitude: longitude))
        }
        for (latitude, longitude) in [
            ((-5.0).nextDown, 0), (15.0.nextUp, 0), (0, (-10.0).nextDown), (0, 20.0.nextUp), (.nan, 0),
            (0, .nan), (0, 180), (0, -180),
        ] {
            #expect(!box.contains(latitude: latitude, longitude: longitude))
        }
        #expect(!box.crossesAntimeridian)
    }

    @Test("A box whose west is east of its east crosses the antimeridian")
    func crossesTheAntimeridian() throws {
        let box = try box(170, -10, -170, 10)
        #expect(box.crossesAntimeridian)
        for longitude in [170.0, 175, 180, -180, -175, -170] {
            #expect(box.contains(latitude: 0, longitude: longitude), "\(longitude)")
        }
        let outside: [Double] = [(170.0).nextDown, (-170.0).nextUp, 0, 90]
        for longitude in outside {
            #expect(!box.contains(latitude: 0, longitude: longitude), "\(longitude)")
        }
    }

    @Test(
        "A box treats −180 and 180 as one meridian, whichever its edge is",
        arguments: [
            (-180, -170), (170, 180), (180, 180), (-180, -180), (180, -180), (180, -170), (170, -180),
            (-180, 180),
        ] as [(Double, Double)])
    func hasOneAntimeridian(west: Double, east: Double) throws {
        let box = try box(west, -90, east, 90)
        #expect(box.contains(latitude: 0, longitude: 180))
        #expect(box.contains(latitude: 0, longitude: -180))
    }

    @Test(
        "A box that touches a pole contains it at any longitude, and nothing else beyond its meridians",
        arguments: [(10, 80, 20, 90, 90), (170, -90, -170, -80, -90), (10, 90, 10, 90, 90)]
            as [(Double, Double, Double, Double, Double)])
    func holdsAPole(west: Double, south: Double, east: Double, north: Double, pole: Double) throws {
        let box = try box(west, south, east, north)
        for longitude in [-180.0, -100, -0.0, 10, 15, 20.0.nextUp, 175, 180] {
            #expect(box.contains(latitude: pole, longitude: longitude), "\(longitude)")
        }
        #expect(!box.contains(latitude: -pole, longitude: 15))
        let beside = pole > 0 ? pole.nextDown : pole.nextUp
        #expect(!box.contains(latitude: beside, longitude: -100))
        let short = try self.box(west, min(south, 80), east, min(north, 90.0.nextDown))
        #expect(!short.contains(latitude: 90, longitude: 15))
    }

    @Test(
        "The middle of a box is half-way between its edges, on the box's side of the Earth",
        arguments: [
            ((-10, -20, 30, 40), (10, 10)), ((170, 0, -170, 0), (0, 180)), ((170, 0, -160, 10), (5, -175)),
            ((160, 0, -170, 10), (5, 175)), ((-180, -90, 180, 90), (0, 0)), ((180, 5, -180, 5), (5, 180)),
            ((180, 0, 180, 0), (0, 180)), ((-180, 0, -180, 0), (0, -180)), ((10, 90, 10, 90), (90, 10)),
            ((1, 0, 0, 0), (0, -179.5)),
        ] as [((Double, Double, Double, Double), (Double, Double))])
    func hasAMiddle(edges: (Double, Double, Double, Double), middle: (Double, Double)) throws {
        let box = try box(edges.0, edges.1, edges.2, edges.3)
        #expect(box.middle == (try Coordinate(latitude: middle.0, longitude: middle.1)))
    }

    @Test("A box contains its own middle, which is a valid coordinate")
    func holdsItsMiddle() throws {
        var random = SeededGenerator()
        for _ in 0..<20_000 {
            guard let box = RandomPosition.box(using: &random) else { continue }
            let middle = box.middle
            #expect(box.contains(latitude: middle.latitude, longitude: middle.longitude), "\(box)")
            _ = try Coordinate(latitude: middle.latitude, longitude: middle.longitude)
        }
    }

    @Test("Each meridian is in a box or in the box on its other side")
    func dividesTheMeridians() throws {
        var random = SeededGenerator()
        for _ in 0..<5000 {
            let edges = [0, 1].map { _ in RandomPosition.degrees(in: -179...179, using: &random) }
            let longitude = Double.random(in: -180...180, using: &random)
            guard edges[0] != edges[1], !edges.contains(longitude) else { continue }
            let one = try box(edges[0], -90, edges[1], 90)
            let other = try box(edges[1], -90, edges[0], 90)
            let (isInOne, isInOther) = (
                one.contains(latitude: 0, longitude: longitude),
                other.contains(latitude: 0, longitude: longitude)
            )
            #expect(isInOne != isInOther, "\(longitude) in \(one)")
        }
    }
}
