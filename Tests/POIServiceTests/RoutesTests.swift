import BruteForce
import EventLoop
import HTTPServer
import PointsOfInterestAPI
@testable import Program
import Testing

@testable import POIService
@testable import Places

/// The routes over a store of the test's, without a socket.
@Suite("The routes", .timeLimit(.minutes(1)))
struct RoutesTests {
    private static let places = [
        PointOfInterest(id: 1, name: "Far", category: "park", latitude: 0, longitude: 2),
        PointOfInterest(id: 2, name: "Near", category: "cafe", latitude: 0, longitude: 1, featured: true),
    ]

    @Test("GET /locations responds with a JSON array, nearest first, with distances")
    func locations() async throws {
        let response = try await ServiceSite(FixtureStore(Self.places)).ask("/locations?lat=0&long=0")
        #expect(response.status == .ok)
        #expect(response.headers.first(.contentType) == "application/json")
        #expect(
            String(decoding: response.body, as: UTF8.self) == """
                [{"id":2,"name":"Near","category":"cafe","latitude":0,"longitude":1,"featured":true,\
                "distance":111319.5},\
                {"id":1,"name":"Far","category":"park","latitude":0,"longitude":2,"featured":false,\
                "distance":222639}]
                """)
    }

    @Test("The store gets exactly the query of the request")
    func query() async throws {
        let store = StubStore()
        let site = try ServiceSite(store, environment: ["POI_IGNORED_PARAMETERS": "utm_*"])
        #expect(
            try await site.ask("/locations?long=-121.8893&radius=5e2&utm_source=x&limit=7&lat=37.3293").status
                == .ok)
        let center = try Coordinate(latitude: 37.3293, longitude: -121.8893)
        #expect(store.requests == [NearbyPlacesRequest(center: center, radiusMeters: 500, limit: 7)])
    }

    @Test("A bad query is refused with all its faults, and doesn't reach the store")
    func faults() async throws {
        let store = StubStore()
        let problem = try await ServiceSite(store).problem(
            "/locations?lat=91&limit=0&radius=-1&lon=3&limit=1")
        #expect(problem.status == 400)
        #expect(problem.requestId == "id-1")
        #expect(Set(problem.errors.map(\.parameter)) == ["lat", "long", "lon", "limit", "radius"])
        #expect(try await ServiceSite(store).ask("/locations").status == .badRequest)
        #expect(store.requests.isEmpty)
    }

    @Test(
        "Requests to unknown paths get a 404",
        arguments: [
            "/locations/", "/Locations", "//locations", "/livez/x", "/locations/1/", "/locations/1/2",
            "/categories/", "/categories/park", "/attributions/",
        ])
    func notFound(path: String) async throws {
        let problem = try await ServiceSite(StubStore()).problem(path)
        #expect(problem.status == 404)
        #expect(problem.code == .unknownPath)
    }

    @Test(
        "Requests with other methods are refused, with a list of the allowed ones",
        arguments: [
            "/locations", "/locations/1", "/locations/clusters", "/locations/digest", "/categories",
            "/attributions", "/livez", "/readyz",
        ])
    func methods(path: String) async throws {
        let site = try ServiceSite(StubStore(), environment: ["POI_DIGEST_MAX_PLACES": "10"])
        for method in [HTTPMethod.post, .put, .delete] {
            let response = try await site.ask(path, method)
            #expect(response.status == .methodNotAllowed)
            #expect(response.headers.first(.allow) == "GET, HEAD, OPTIONS")
            #expect(try await site.problem(path, method).code == .methodNotAllowed)
        }
        #expect(try await site.ask(path, .options).headers.first(.allow) == "GET, HEAD, OPTIONS")
    }

    @Test(
        "An error of the store becomes a problem",
        arguments: [
            (PlaceStoreError.unavailable(reason: "x"), ProblemCode.databaseUnavailable),
            (.busy, .databaseBusy), (.indexRequired, .indexRequired), (.timeout(.search), .queryTimeout),
            (.failed(reason: "x"), .internalError),
        ])
    func failures(error: PlaceStoreError, code: ProblemCode) async throws {
        let store = StubStore { (_) throws(PlaceStoreError) in throw error }
        #expect(try await ServiceSite(store).problem("/locations?lat=0&long=0").code == code)
    }

    @Test("Over the limit of requests in flight, locations are refused at once, and health isn't")
    func inFlightLimit() async throws {
        let thread = try EventLoopThread.start(name: "routes-test")
        let loop = thread.loop
        try await Task(executorPreference: loop) {
            let (entered, hasEntered) = AsyncStream<Void>.makeStream()
            let (leaves, leave) = AsyncStream<Void>.makeStream()
            let site = try ServiceSite(
                StubStore { (request) throws(PlaceStoreError) in
                    guard request.limit == 1 else { return [] }
                    hasEntered.finish()
                    for await _ in leaves {}
                    return []
                }, environment: ["POI_MAX_IN_FLIGHT": "1"])
            let bound = LoopBound(site, loop: loop)
            let first = Task(executorPreference: loop) {
                try await bound.value.ask("/locations?lat=0&long=0&limit=1").status
            }
            for await _ in entered {}
            let refusal = try await site.ask("/locations?lat=0&long=0")
            #expect(refusal.status == .serviceUnavailable)
            #expect(refusal.headers.first(.retryAfter) == "1")
            #expect(try await site.problem("/locations?lat=0&long=0").code == .overloaded)
            #expect(try await site.ask("/livez").status == .ok)
            #expect(try await site.problem("/readyz").code == .notReady)
            leave.finish()
            #expect(try await first.value == .ok)
        }.value
        thread.stopAndJoin()
    }

    @Test("The process is alive whatever its database's state, and ready as its health says")
    func health() async throws {
        let site = try ServiceSite(StubStore())
        let alive = try await site.ask("/livez")
        #expect(String(decoding: alive.body, as: UTF8.self) == #"{"status":"alive"}"#)
        #expect(alive.headers.first(.cacheControl) == "no-store")

        let starting = try await site.ask("/readyz")
        #expect(starting.status == .serviceUnavailable)
        #expect(starting.headers.first(.retryAfter) == "1")
        #expect(try await site.problem("/readyz").code == .notReady)
        #expect(try await site.problem("/readyz").detail == site.health.report.notReadyReason)

        _ = site.health.update(.reachable(missingMigrations: []))
        let ready = try await site.ask("/readyz")
        #expect(ready.status == .ok)
        let begin = #"{"status":"ready","version":"\#(BuildInformation.version)","database":"#
        #expect(String(decoding: ready.body, as: UTF8.self) == begin + #""reachable"}"#)
        _ = site.health.update(.unreachable(reason: "x"))
        let apart = try await site.ask("/readyz")
        #expect(apart.status == .ok)
        #expect(String(decoding: apart.body, as: UTF8.self) == begin + #""unreachable"}"#)
        _ = site.health.updateEvents(.unreachable(reason: "y"))
        #expect(
            String(decoding: try await site.ask("/readyz").body, as: UTF8.self)
                == begin + #""unreachable","eventsDatabase":"unreachable"}"#)
        site.health.drain()
        #expect(try await site.ask("/readyz").status == .serviceUnavailable)
        #expect(try await site.ask("/livez").status == .ok)
    }
}
