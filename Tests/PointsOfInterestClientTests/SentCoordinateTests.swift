import Foundation
import Locking
@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP
import PointsOfInterestTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Coordinates that are sent", .timeLimit(.minutes(1)))
struct SentCoordinateTests {
    /// The queries that were sent.
    private let sent = Lock<[String]>([])

    private func network() throws -> MockNetwork {
        try MockNetwork { [sent] request in
            let url = try #require(request.url)
            sent.withLock { $0.append(url.query?.removingPercentEncoding ?? "") }
            let response = HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: ["ETag": "\"1\""])
            return (try #require(response), Data("[]".utf8))
        }
    }

    @Test(
        "Coordinates are sent with five decimals, or as many as the app chooses",
        arguments: [
            (5, "lat=37.32931&long=-121.88939", "bbox=-121.88939,37.32931,-121.5,37.5"),
            (2, "lat=37.33&long=-121.89", "bbox=-121.89,37.32,-121.5,37.5"),
            (nil, "lat=37.32931357&long=-121.88938642", "bbox=-121.88938642,37.32931357,-121.5,37.5"),
        ] as [(Int?, String, String)])
    func areCoarse(decimals: Int?, center: String, box: String) async throws {
        let network = try network()
        var service = PointsOfInterestService(baseURL: network.baseURL, urlSession: network.session)
        var request = PointsOfInterestRequest(baseURL: network.baseURL)
        if decimals != 5 {
            service = PointsOfInterestService(
                baseURL: network.baseURL, urlSession: network.session, coordinateDecimals: decimals)
            request.coordinateDecimals = decimals
        }
        let coordinate = try Coordinate(latitude: 37.329_313_57, longitude: -121.889_386_42)
        let bounds = try #require(
            BoundingBox(west: -121.889_386_42, south: 37.329_313_57, east: -121.5, north: 37.5))
        _ = try await service.nearbyPlaces(NearbyPlacesRequest(center: coordinate))
        _ = try? await service.place(id: 1, center: coordinate)
        _ = try await service.places(ids: [2, 1], center: coordinate)
        _ = try await service.loader(for: request).loadAPIRequest(requestData: coordinate)
        _ = try await service.nearbyPlaces(NearbyPlacesRequest(box: bounds))
        #expect(await service.keptPage(of: NearbyPlacesRequest(box: bounds)) != nil)
        #expect(sent.withLock { $0 } == [center, center, "ids=1,2&" + center, center, box])
    }

    @MainActor
    @Test(
        "Coordinates are sent with as many decimals as the app's configuration says",
        arguments: [5, 1, nil] as [Int?])
    func areConfigured(decimals: Int?) async throws {
        let network = try network()
        var configurations = [
            AppConfiguration(baseURL: network.baseURL, coordinateDecimals: decimals),
            try AppConfiguration(
                defaultBaseURL: network.baseURL, coordinateDecimals: decimals, arguments: [], environment: [:]
            ),
        ]
        if decimals == 5 { configurations.append(AppConfiguration(baseURL: network.baseURL)) }
        for configuration in configurations {
            let environment = AppEnvironment(
                configuration: configuration, urlSession: network.session,
                locationFetcher: MockLocationFetcher())
            let center = try Coordinate(latitude: 1.234_567_8, longitude: 0)
            _ = try await environment.service.nearbyPlaces(NearbyPlacesRequest(center: center))
        }
        let latitude = decimals == 5 ? "1.23457" : decimals == 1 ? "1.2" : "1.2345678"
        #expect(
            sent.withLock { $0 } == Array(repeating: "lat=\(latitude)&long=0", count: configurations.count))
    }
}
