import PointsOfInterestAPI
import Testing

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
