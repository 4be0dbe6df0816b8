import Foundation
import Locking
@testable import PointsOfInterestClient
import PointsOfInterestTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Keys for an endpoint", .timeLimit(.minutes(1)))
struct ServiceKeyTests {
    /// What was sent: the path and the key.
    private let sent = Lock<[[String?]]>([])
    private let folder = EventFolder()

    private func network() throws -> MockNetwork {
        try MockNetwork { [sent] request in
            let url = try #require(request.url)
            sent.withLock { $0.append([url.path, request.value(forHTTPHeaderField: "Authorization")]) }
            let response = try #require(
                HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: nil))
            let body =
                switch url.path {
                case "/events": #"{"accepted":1,"duplicates":0}"#
                case "/locations/1":
                    #"{"id":1,"name":"","category":"","latitude":0,"longitude":0,"featured":false}"#
                case "/locations/clusters": #"{"zoom":3,"clusters":[]}"#
                case "/readyz": #"{"status":"ready"}"#
                default: "[]"
                }
            return (response, Data(body.utf8))
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
        _ = try await service.categories()
        _ = try await service.attributions()
        _ = try await service.send([.numbered(1)])
        _ = try await service.health()
        _ = try await service.loader(for: OwnRequest(url: network.baseURL.appendingPathComponent("own")))
            .loadAPIRequest(requestData: ())
        #expect(
            sent.withLock { $0 } == [
                ["/locations", "nearbyPlaces"], ["/locations", "nearbyPlaces"], ["/locations/1", "place"],
                ["/locations/clusters", "clusters"],
                ["/categories", "categories"], ["/attributions", "attributions"], ["/events", "events"],
                ["/readyz", "health"], ["/own", "own"],
            ])
    }

    @MainActor
    @Test("An environment's places and its uploader send different keys")
    func ofTheEnvironment() async throws {
        let network = try network()
        let configuration = AppConfiguration(
            baseURL: network.baseURL,
            headers: { ["Authorization": $0 == .events ? "Bearer events" : "Bearer data"] },
            userID: { "user" })
        let environment = AppEnvironment(
            configuration: configuration, urlSession: network.session,
            locationFetcher: MockLocationFetcher(), eventQueue: try folder.queue())
        environment.trackingModel.sendTrackingEvent(.launch)
        #expect(await environment.eventUploader?.flush() == nil)
        _ = try await environment.service.categories()
        #expect(sent.withLock { $0 } == [["/events", "Bearer events"], ["/categories", "Bearer data"]])
    }

    @MainActor
    @Test("A launch's key replaces the app's own of every endpoint")
    func ofTheLaunch() async throws {
        let network = try network()
        var configuration = try AppConfiguration(
            defaultBaseURL: network.baseURL,
            headers: { ["Authorization": $0 == .events ? "Bearer events" : "Bearer data"] }, arguments: [],
            environment: ["POI_HEADERS": "Authorization: Bearer launch"])
        configuration.userID = { "user" }
        let environment = AppEnvironment(
            configuration: configuration, urlSession: network.session,
            locationFetcher: MockLocationFetcher(), eventQueue: try folder.queue())
        environment.trackingModel.sendTrackingEvent(.launch)
        #expect(await environment.eventUploader?.flush() == nil)
        _ = try await environment.service.categories()
        #expect(sent.withLock { $0 } == [["/events", "Bearer launch"], ["/categories", "Bearer launch"]])
    }
}
