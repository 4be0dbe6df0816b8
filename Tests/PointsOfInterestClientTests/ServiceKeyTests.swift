import Foundation
import Locking
@testable import PointsOfInterestAPI
@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP
import PointsOfInterestTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Keys for an endpoint", .timeLimit(.minutes(1)))
struct ServiceKeyTests {
    /// What was sent: the path and the key.
    private let sent = Lock<[[String?]]>([])

    private func network() throws -> MockNetwork {
        try MockNetwork { [sent] request in
            let path = request.url?.path ?? ""
            sent.withLock { $0.append([path, request.value(forHTTPHeaderField: "Authorization")]) }
            let bodies = [
                "/events": #"{"accepted":1,"duplicates":0}"#,
                "/locations/1":
                    #"{"id":1,"name":"","category":"","latitude":0,"longitude":0,"featured":false}"#,
                "/locations/clusters": #"{"zoom":3,"clusters":[]}"#,
                "/locations/digest": "{}", "/readyz": #"{"status":"ready"}"#,
            ]
            return (200, bodies[path] ?? "[]")
        }
    }

    @Test(
        "The header fields are asked for by the endpoint, for each endpoint of the service and the app's own")
    func namesEndpoints() async throws {
        let network = try network()
        let service = PointsOfInterestService(
            baseURL: network.baseURL, urlSession: network.session, headers: { ["Authorization": "\($0)"] })
        let center = try Coordinate(latitude: 1, longitude: 2)
        _ = try await service.nearbyPlaces(NearbyPlacesRequest(center: center))
        _ = try await service.loader(for: PointsOfInterestRequest(baseURL: network.baseURL))
            .loadAPIRequest(requestData: center)
        _ = try await service.place(id: 1)
        let box = try #require(BoundingBox(west: 1, south: 2, east: 3, north: 4))
        _ = try await service.clusters(ClustersRequest(box: box, zoom: 3))
        _ = try await service.digest(DigestRequest())
        _ = try await service.categories()
        _ = try await service.attributions()
        _ = try await service.send([.numbered(1)])
        _ = try await service.health()
        _ = try await service.loader(for: OwnRequest(url: network.baseURL.appendingPathComponent("own")))
            .loadAPIRequest(requestData: ())
        #expect(
            sent.withLock { $0 } == [
                ["/locations", "nearbyPlaces"], ["/locations", "nearbyPlaces"], ["/locations/1", "place"],
                ["/locations/clusters", "clusters"], ["/locations/digest", "nearbyPlaces"],
                ["/categories", "categories"], ["/attributions", "attributions"], ["/events", "events"],
                ["/readyz", "health"], ["/own", "own"],
            ])
    }
}
