import Foundation
import Locking
import PointsOfInterestTesting
import Testing

@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("What is kept of earlier responses", .timeLimit(.minutes(1)))
struct KeptResponseTests {
    private let folder = StoreFolder()

    private func request(_ latitude: Double, limit: Int? = 5) throws -> NearbyPlacesRequest {
        NearbyPlacesRequest(center: try Coordinate(latitude: latitude, longitude: 2), limit: limit)
    }

    /// A network with one place a page, whose id is the latitude, and a 304 for whoever has its tag.
    private func network() throws -> MockNetwork {
        try MockNetwork { request in
            let url = try #require(request.url)
            let latitude = try #require(url.query?.split(separator: "&").first?.split(separator: "=").last)
            let isKnown = request.value(forHTTPHeaderField: "If-None-Match") != nil
            let response = HTTPURLResponse(
                url: url, statusCode: isKnown ? 304 : 200, httpVersion: "HTTP/1.1",
                headerFields: ["ETag": "\"\(latitude)\"", "Link": #"<?lat=\#(latitude)0>; rel="next""#])
            let places = [PointOfInterest.fixture(id: try #require(Int(latitude)))]
            return (try #require(response), isKnown ? Data() : try JSONEncoder().encode(places))
        }
    }

    /// A service at the place of another one, with a session whose requests all fail.
    private func deadService(like network: MockNetwork) throws -> PointsOfInterestService {
        let dead = try MockNetwork { _ in throw URLError(.notConnectedToInternet) }
        return PointsOfInterestService(
            baseURL: network.baseURL, urlSession: dead.session, responseStore: try folder.store())
    }

    @Test("The newest page nearby, with its age, is found after a restart without a network")
    func survives() async throws {
        let network = try network()
        let service = PointsOfInterestService(
            baseURL: network.baseURL, urlSession: network.session, responseStore: try folder.store(),
            headers: { _ in ["Authorization": "Bearer t"] })
        let before = Date()
        _ = try await service.nearbyPlaces(request(1))
        let page = try await service.nearbyPlaces(request(2))
        let after = Date()
        _ = try await service.nextPage(after: page)
        _ = try await service.nearbyPlaces(request(3, limit: 6))
        let received = try #require(page.receivedAt)
        #expect(before <= received && received <= after)

        let dead = try deadService(like: network)
        await #expect(throws: RequestError.self) { try await dead.nearbyPlaces(request(2)) }
        #expect(page.center == (try request(2).center))
        var kept = page
        kept.source = .kept
        #expect(await dead.keptPage(of: try request(2.4)) == kept)
        #expect(await dead.keptPage(of: try request(50)) == nil, "that is too far away")
        #expect(
            await dead.keptPage(of: try request(1.4))?.places.map(\.id) == [1], "the newest of those nearby")
        #expect(await dead.keptPage(of: NearbyPlacesRequest(center: nil, limit: 5)) == kept)
        #expect(await dead.keptPage(of: try request(3, limit: 6))?.places.map(\.id) == [3])
        #expect(await dead.keptPage(of: try request(2, limit: 7)) == nil)
        #expect(page.next != nil)
    }

    @Test("A body that can't be read takes no good page's place, and isn't asked about again")
    func keepsWhatWasUnderstood() async throws {
        let good = try JSONEncoder().encode([PointOfInterest.fixture(id: 1)])
        let conditions = Lock<[String?]>([])
        // The second response is cut; whoever has its tag gets a 304.
        let network = try MockNetwork { request in
            let condition = request.value(forHTTPHeaderField: "If-None-Match")
            let number = conditions.withLock { conditions in
                conditions.append(condition)
                return conditions.count
            }
            let response = HTTPURLResponse(
                url: try #require(request.url), statusCode: condition == "\"2\"" ? 304 : 200,
                httpVersion: "HTTP/1.1",
                headerFields: ["ETag": number == 1 ? "\"1\"" : "\"2\"", "Content-Type": "application/json"])
            let body = condition == "\"2\"" ? Data() : number == 2 ? good.prefix(good.count / 2) : good
            return (try #require(response), body)
        }
        let service = PointsOfInterestService(
            baseURL: network.baseURL, urlSession: network.session, responseStore: try folder.store())
        let page = try await service.nearbyPlaces(request(1))
        await #expect(throws: RequestError.self) { try await service.nearbyPlaces(request(1)) }
        var kept = page
        kept.source = .kept
        #expect(await service.keptPage(of: try request(1)) == kept, "the last good page")
        let again = PointsOfInterestService(
            baseURL: network.baseURL, urlSession: network.session, responseStore: try folder.store())
        #expect(try await again.nearbyPlaces(request(1)).places == page.places)
        #expect(conditions.withLock { $0 } == [nil, "\"1\"", "\"1\""])
    }

    @Test("What is kept and can't be read is dropped, and asked for once without a condition")
    func dropsWhatCantBeRead() async throws {
        let conditions = Lock<[String?]>([])
        let network = try MockNetwork { request in
            let condition = request.value(forHTTPHeaderField: "If-None-Match")
            conditions.withLock { $0.append(condition) }
            let response = HTTPURLResponse(
                url: try #require(request.url), statusCode: condition == nil ? 200 : 304,
                httpVersion: "HTTP/1.1", headerFields: ["ETag": "\"1\"", "Content-Type": "application/json"])
            let body = try JSONEncoder().encode([PointOfInterest.fixture(id: 1)])
            return (try #require(response), condition == nil ? body : Data())
        }
        // As a client has left it that kept whatever arrived.
        let store = try folder.store()
        let sent = try endpoint(network, 1)
        let key = try #require(RevalidatingTransport.key(of: sent))
        let damaged = TaggedResponse(
            entityTag: "\"1\"", head: ResponseHead(status: 200, url: sent.url), body: Data("[{".utf8))
        await store.keep(damaged, for: key)
        let service = PointsOfInterestService(
            baseURL: network.baseURL, urlSession: network.session, responseStore: store)
        #expect(try await service.nearbyPlaces(request(1)).places.map(\.id) == [1])
        #expect(conditions.withLock { $0 } == ["\"1\"", nil])
        #expect(try await service.nearbyPlaces(request(1)).places.map(\.id) == [1])
        #expect(conditions.withLock { $0 } == ["\"1\"", nil, "\"1\""])
        // Without a network, the next best is shown.
        await store.keep(damaged, for: try #require(RevalidatingTransport.key(of: endpoint(network, 1.1))))
        #expect(await service.keptPage(of: try request(1))?.places.map(\.id) == [1])
        #expect(await service.keptPlaces(ids: [1])?.places.map(\.id) == [1])
        #expect(folder.responses.count == 1, "what can't be read is dropped")
    }

    private func endpoint(_ network: MockNetwork, _ latitude: Double) throws -> URLRequest {
        try NearbyPlacesEndpoint(baseURL: network.baseURL).makeRequest(from: .first(request(latitude)))
    }

    @Test("Only a response that gives a place counts as used, and once all are found no older one is read")
    func usesWhatGives() async throws {
        let network = try network()
        let store = try folder.store(count: 4)
        let service = PointsOfInterestService(
            baseURL: network.baseURL, urlSession: network.session, responseStore: store)
        for latitude in [1.0, 2, 3, 4] { _ = try await service.nearbyPlaces(request(latitude)) }
        // Damaged, as nobody notices who doesn't read it.
        let files = folder.responses.compactMap { ResponseFileName($0) }.sorted { $0.kept < $1.kept }
        try folder.write(Data("damaged".utf8), files[0].text)
        #expect(await service.keptPlaces(ids: [2, 4])?.places.map(\.id) == [2, 4])
        #expect(folder.responses.contains(files[0].text))
        // The damaged one and the one that gave nothing are the first to go.
        _ = try await service.nearbyPlaces(request(5))
        _ = try await service.nearbyPlaces(request(6))
        let ids = [1, 2, 3, 4, 5, 6]
        #expect(await service.keptPlaces(ids: ids)?.places.map(\.id) == [2, 4, 5, 6])
    }

    @Test("Looking for what is kept uses neither the network nor the app's header fields")
    func asksNobody() async throws {
        let network = try MockNetwork { _ in
            Issue.record("something was sent")
            return nil
        }
        let service = PointsOfInterestService(
            baseURL: network.baseURL, urlSession: network.session, responseStore: try folder.store(),
            headers: { _ in
                Issue.record("the header fields were made")
                return [:]
            })
        #expect(await service.keptPage(of: try request(1)) == nil)
        let forgetting = PointsOfInterestService(
            baseURL: network.baseURL, urlSession: network.session, responseStore: nil)
        #expect(await forgetting.keptPage(of: try request(1)) == nil)
    }

    @Test("Of a region, the newest response is found whose box holds it, for places and for clusters")
    func holdsTheRegion() async throws {
        let network = try MockNetwork { request in
            let url = try #require(request.url)
            let response = HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: ["ETag": "\"1\""])
            let zoom = url.query?.contains("zoom=") == true
            let clusters = PlaceClusters(zoom: 3, clusters: [try #require(PlaceCluster(.fixture(id: 4)))])
            let encoder = JSONEncoder()
            let body = zoom ? try encoder.encode(clusters) : try encoder.encode([PointOfInterest].fixtures(1))
            return (try #require(response), body)
        }
        let service = PointsOfInterestService(baseURL: network.baseURL, urlSession: network.session)
        let wide = try #require(BoundingBox(west: 170, south: -10, east: -170, north: 10))
        _ = try await service.nearbyPlaces(NearbyPlacesRequest(box: wide, limit: 100))
        _ = try await service.clusters(ClustersRequest(box: wide, zoom: 3))
        for (edges, isHeld) in [
            ([175, -1, -175, 1], true), ([172, -1, 178, 1], true), ([-178, -1, -172, 1], true),
            ([170, -10, -170, 10], true), ([169, -1, -175, 1], false), ([175, -11, -175, 1], false),
            ([-175, -1, 175, 1], false), ([175, -1, -169, 1], false),
        ] as [([Double], Bool)] {
            let box = try #require(
                BoundingBox(west: edges[0], south: edges[1], east: edges[2], north: edges[3]))
            let page = await service.keptPage(of: NearbyPlacesRequest(box: box, limit: 100))
            #expect((page != nil) == isHeld, "\(edges)")
            let clusters = await service.keptClusters(ClustersRequest(box: box, zoom: 9))
            #expect((clusters?.clusters.count == 1) == isHeld, "\(edges)")
            #expect(await service.keptPage(of: NearbyPlacesRequest(box: box, limit: 9)) == nil)
            #expect(await service.keptClusters(ClustersRequest(box: box, zoom: 9, featured: true)) == nil)
        }
        #expect(await service.keptPage(of: NearbyPlacesRequest(center: nil, limit: 100)) == nil)
    }

    @Test("Places are found by their ids in whatever response has them, details first")
    func findsIDs() async throws {
        let network = try MockNetwork { request in
            let url = try #require(request.url)
            let response = HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: ["ETag": "\"1\""])
            let encoder = JSONEncoder()
            if let id = Int(url.lastPathComponent) {
                return (
                    try #require(response), try encoder.encode(PointOfInterest.fixture(id: id, name: "Whole"))
                )
            }
            let places = [PointOfInterest].fixtures(3)
            return (try #require(response), try encoder.encode(places))
        }
        let service = PointsOfInterestService(
            baseURL: network.baseURL, urlSession: network.session, responseStore: try folder.store())
        #expect(await service.keptPlaces(ids: [1]) == nil)
        _ = try await service.place(id: 2)
        _ = try await service.place(id: 7, center: nil, languages: ["de"])
        _ = try await service.nearbyPlaces(request(1))
        _ = try await service.nearbyPlaces(
            NearbyPlacesRequest(center: try request(1).center, searchText: "a"))
        let dead = try deadService(like: network)
        let page = try #require(await dead.keptPlaces(ids: [3, 2, 9, 3, 7]))
        #expect(page.places.map(\.id) == [3, 2])
        #expect(page.places.map(\.name) == ["Place 3", "Whole"])
        #expect(page.places.map(\.distance) == [nil, nil])
        #expect(page.receivedAt != nil)
        #expect(await dead.keptPlaces(ids: [7], languages: ["DE"])?.places.map(\.id) == [7])
        let other = PointsOfInterestService(
            baseURL: try #require(URL(string: "https://other.example")), responseStore: try folder.store())
        #expect(await other.keptPlaces(ids: [3, 2]) == nil, "another service's places have the same ids")
    }

    @Test("What has one of some places is dropped, from a folder, too, and from searches; the rest stays")
    func drops() async throws {
        let network = try network()
        let service = PointsOfInterestService(
            baseURL: network.baseURL, urlSession: network.session, responseStore: try folder.store())
        for latitude in [1.0, 2, 12] { _ = try await service.nearbyPlaces(request(latitude)) }
        let search = NearbyPlacesRequest(center: try request(2).center, searchText: "a")
        _ = try await service.nearbyPlaces(search)
        #expect(await service.keptPage(of: search) != nil)
        await service.dropKept(withPlaces: [2, 3])
        #expect(await service.keptPage(of: search) == nil)
        let dead = try deadService(like: network)
        #expect(await dead.keptPlaces(ids: [1, 2, 12])?.places.map(\.id) == [1, 12])
    }

    @Test(
        "Places count as near up to 50 km",
        arguments: [
            (0, 0, 0.449, 0, true), (0, 0, 0.45, 0, false), (0, 179.8, 0, -179.8, true),
            (0, 179.7, 0, -179.7, false),
            (89.9, 0, 89.9, 180, true), (60, 10, 60, 10.89, true), (60, 10, 60, 10.91, false),
            (0, 0, 0, 180, false),
        ] as [(Double, Double, Double, Double, Bool)])
    func isNear(
        latitude: Double, longitude: Double, otherLatitude: Double, otherLongitude: Double, isNear: Bool
    ) throws {
        let one = try Coordinate(latitude: latitude, longitude: longitude)
        let other = try Coordinate(latitude: otherLatitude, longitude: otherLongitude)
        #expect(one.isNear(other) == isNear)
        #expect(other.isNear(one) == isNear)
    }
}

@Suite("A Link field")
struct LinkHeaderTests {
    @Test(
        "The target of the requested relation is found in a Link field",
        arguments: [
            (#"<?a=1>; rel="next""#, "?a=1"),
            ("<?a=1>;rel=next", "?a=1"),
            (#"<?a=1,2;3>; rel="next""#, "?a=1,2;3"),
            (#"</first>; rel="first", <?b>; rel="next""#, "?b"),
            (#"</first>; rel="first"; title="a, <b>; rel=\"next\"", <?b>; rel="next""#, "?b"),
            (#"<?c>; title*=UTF-8''x; rel="prev NEXT""#, "?c"),
            (#"<?d>; flag; rel = "next" ; rel="first""#, "?d"),
            (#",  ,<?e>;rel="next","#, "?e"),
            (##"<?f>; rel="next"; anchor="#other", <?g>; rel="next""##, "?g"),
            (#"<?h>;;; ;rel="next""#, "?h"), ("<?i>; REL=Next", "?i"), (#"<>; rel="next""#, ""),
        ])
    func findsTarget(field: String, target: String) {
        #expect(LinkHeader.target(of: "next", in: field) == target)
    }

    @Test(
        "A Link field without the relation, or a malformed one, has no target",
        arguments: [
            "", "?a=1", "<?a=1", "<?a=1>", #"<?a=1>; rel="prev""#, #"<?a=1>; rel="next"#, "<?a=1>; rel",
            #"<?a=1>; title="rel=next""#, #"<?a=1>; rel="first"; rel="next""#, #"x<?a=1>; rel="next""#,
            "<?a=1>; rel=\"\\", #"<?a=1>; rel="next"; anchor="/other""#, #"<?a=1>; rel="nextly""#, ";", "<>",
            String(repeating: "<", count: 20_000), "<a>" + String(repeating: ";", count: 20_000),
            "<a>;" + String(repeating: "\"", count: 20_000), String(repeating: "<a>;rel=x,", count: 2000),
        ])
    func findsNone(field: String) {
        #expect(LinkHeader.target(of: "next", in: field) == nil)
    }
}
