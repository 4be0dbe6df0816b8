import Foundation
import Locking
import PointsOfInterestTesting
import Testing

@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("The service, as an app sees it", .timeLimit(.minutes(1)))
struct ServiceTests {
    private static func place(_ id: Int) -> PointOfInterest {
        PointOfInterest(id: id, name: "P\(id)", category: "park", latitude: 1, longitude: 2)
    }

    private func service(_ network: MockNetwork) -> PointsOfInterestService {
        PointsOfInterestService(baseURL: network.baseURL, urlSession: network.session, retryPolicy: .never)
    }

    private func request() throws -> NearbyPlacesRequest {
        NearbyPlacesRequest(center: try Coordinate(latitude: 37, longitude: -122))
    }

    private func sentURLs(_ network: MockNetwork, _ count: Int) async -> [String] {
        var urls: [String] = []
        for await event in network.events {
            guard case .started(let request) = event else { continue }
            urls.append(
                request.url.map { $0.path + ($0.query.map { "?\($0)" } ?? "") } ?? "")
            if urls.count == count { break }
        }
        return urls
    }

    @Test("place(), clusters(_:), categories() and attributions() send their requests")
    func otherEndpoints() async throws {
        let place = String(decoding: try JSONEncoder().encode(Self.place(4)), as: UTF8.self)
        let network = try MockNetwork { request in
            switch request.url?.path {
            case "/locations/clusters": (200, #"{"zoom":3,"clusters":[],"new":true}"#)
            case "/categories": (200, #"[{"name":"park","count":3,"new":true}]"#)
            case "/attributions": (200, #"[{"dataset":"a","license":"b","places":3,"new":true}]"#)
            default: (200, place)
            }
        }
        let service = service(network)
        #expect(try await service.place(id: 4).id == 4)
        let center = try Coordinate(latitude: -1.5, longitude: 5e-5)
        _ = try await service.place(id: 4, center: center)
        _ = try await service.place(id: 4, center: nil, languages: ["zh-Hant", "JA", "ja"])
        #expect(try await service.categories() == [CategoryCount(name: "park", count: 3)])
        #expect(
            try await service.attributions() == [Attribution(dataset: "a", license: "b", places: 3)])
        let box = try #require(BoundingBox(west: 1, south: 2, east: 3, north: 4))
        #expect(
            try await service.clusters(ClustersRequest(box: box, zoom: 3, featured: true))
                == PlaceClusters(zoom: 3, clusters: []))
        #expect(
            await sentURLs(network, 6) == [
                "/locations/4", "/locations/4?lat=-1.5&long=0.00005", "/locations/4?lang=zh-hant,ja",
                "/categories", "/attributions",
                "/locations/clusters?zoom=3&bbox=1%2C2%2C3%2C4&featured=true",
            ])
    }

    @Test("The app's header fields are made again for each attempt")
    func headers() async throws {
        let count = Lock(0)
        let network = try MockNetwork(status: 503, body: "")
        let service = PointsOfInterestService(
            baseURL: network.baseURL, urlSession: network.session, retryPolicy: RetryPolicy(attempts: 2),
            clock: TestClock(limit: .seconds(20)),
            headers: { _ in
                let token = count.withLock { count in
                    count += 1
                    return count
                }
                return ["Authorization": "Bearer \(token)"]
            })
        await #expect(throws: RequestError.unexpectedStatus(503)) { try await service.categories() }
        var tokens: [String?] = []
        for await event in network.events {
            guard case .started(let request) = event else { continue }
            tokens.append(request.value(forHTTPHeaderField: "Authorization"))
            if tokens.count == 2 { break }
        }
        #expect(tokens == ["Bearer 1", "Bearer 2"])
    }

    @Test("A request isn't sent, nor repeated, if the app's header fields can't be made")
    func failingHeaders() async throws {
        struct NoToken: Error {}
        for (error, code) in [
            (NoToken() as any Error, URLError.Code.userAuthenticationRequired), (URLError(.badURL), .badURL),
        ] {
            let network = try MockNetwork { _ in
                Issue.record("something was sent")
                return nil
            }
            let count = Lock(0)
            let service = PointsOfInterestService(
                baseURL: network.baseURL, urlSession: network.session, clock: TestClock(limit: .seconds(20)),
                headers: { _ in
                    count.withLock { $0 += 1 }
                    throw error
                })
            let thrown = await #expect(throws: RequestError.self) { try await service.categories() }
            #expect(thrown?.urlErrorCode == code)
            #expect(count.withLock { $0 } == 1)
        }
    }

    @Test("A service keeps responses and asks with their tags, unless it has no store")
    func entityTags() async throws {
        let place = String(decoding: try JSONEncoder().encode([Self.place(1)]), as: UTF8.self)
        let network = try MockNetwork(
            fields: ["ETag": "W/\"1\"", "Content-Type": "application/json"]
        ) { request in
            request.value(forHTTPHeaderField: "If-None-Match") == "W/\"1\"" ? (304, "") : (200, place)
        }
        let keeping = service(network)
        for _ in 0..<3 {
            #expect(try await keeping.nearbyPlaces(try request()).places == [Self.place(1)])
        }
        let forgetting = PointsOfInterestService(
            baseURL: network.baseURL, urlSession: network.session, responseStore: nil)
        _ = try await forgetting.nearbyPlaces(try request())
        var conditions: [String?] = []
        for await event in network.events {
            guard case .started(let request) = event else { continue }
            conditions.append(request.value(forHTTPHeaderField: "If-None-Match"))
            if conditions.count == 4 { break }
        }
        #expect(conditions == [nil, "W/\"1\"", "W/\"1\"", nil])
    }
}

@Suite("The service's health", .timeLimit(.minutes(1)))
struct HealthTests {
    @Test("The health is requested below the service's URL and read")
    func isRead() async throws {
        let network = try MockNetwork { request in
            request.url?.path == "/api/livez"
                ? (200, #"{"status":"alive"}"#)
                : (
                    200,
                    #"{"status":"ready","database":"unreachable","eventsDatabase":"reachable","new":[1]}"#
                )
        }
        let service = PointsOfInterestService(
            baseURL: network.baseURL.appendingPathComponent("api"), urlSession: network.session)
        #expect(try await service.health(.liveness) == HealthReport(status: "alive"))
        #expect(
            try await service.health()
                == HealthReport(status: "ready", database: "unreachable", eventsDatabase: "reachable"))
    }

    @Test("The health is requested once, also where the service is not ready")
    func isAskedOnce() async throws {
        let count = Lock(0)
        let network = try MockNetwork(
            fields: ["Content-Type": "application/problem+json", "Retry-After": "1"]
        ) { _ in
            count.withLock { $0 += 1 }
            return (503, #"{"code":"not-ready","title":"T","status":503}"#)
        }
        let service = PointsOfInterestService(
            baseURL: network.baseURL, urlSession: network.session, clock: TestClock(limit: .seconds(20)))
        let error = await #expect(throws: RequestError.self) { try await service.health() }
        guard let problem = error?.problem else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(problem.code == .notReady)
        #expect(count.withLock { $0 } == 1)
    }
}
