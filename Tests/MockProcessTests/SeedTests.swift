import Foundation
import PointsOfInterestTesting
import ServerProcess
import Testing

@Suite("The mock's seed", .timeLimit(.minutes(2)))
struct SeedTests {
    private func everything(_ baseURL: URL) async throws -> [PointOfInterest] {
        let service = PointsOfInterestService(baseURL: baseURL)
        let box = try #require(BoundingBox(west: -180, south: -90, east: 180, north: 90))
        var places: [PointOfInterest] = []
        for try await place in service.allNearbyPlaces(NearbyPlacesRequest(box: box, limit: 100)) {
            places.append(place)
        }
        return places
    }

    @Test("The mock's seed is that of a new database, ids included; else run scripts/record/record-seed")
    func isTheDatabases() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try await ServerProcess.dev(in: folder)
        let mock = try await MockServerProcess()
        let places = try await everything(server.baseURL)
        #expect(places.count > 200)
        #expect(try await everything(mock.baseURL) == places)
        let categories = try await PointsOfInterestService(baseURL: server.baseURL).categories()
        #expect(try await PointsOfInterestService(baseURL: mock.baseURL).categories() == categories)
        try await server.stop()
        try await mock.stop()
    }
}
