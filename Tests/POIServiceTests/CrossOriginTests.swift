import HTTPServer
import PointsOfInterestAPI
import Testing

@testable import POIService
@testable import Places

@Suite("Scripts of other origins")
struct CrossOriginTests {
    private static let ours = "https://map.example"
    private static let listed = ["POI_CORS_ORIGINS": "https://other.example, \(ours)"]
    private static let allowOrigin: HTTPHeaderName = "Access-Control-Allow-Origin"

    private static func preflight(_ origin: String) -> HTTPHeaders {
        [.origin: origin, "Access-Control-Request-Method": "GET"]
    }

    @Test(
        "A listed origin may read every response, errors too",
        arguments: [
            ("/locations?lat=0&long=0", 200), ("/locations?lat=x", 400), ("/locations/9", 404),
            ("/nowhere", 404),
            ("/livez", 200), ("/readyz", 503), ("/", 200), ("/problems/not-found", 200),
        ])
    func listedOrigin(target: String, status: Int) async throws {
        let answer = try await ServiceSite(StubStore(), environment: Self.listed)
            .ask(target, headers: [.origin: Self.ours])
        #expect(answer.status.code == status)
        #expect(answer.headers.all(Self.allowOrigin) == [Self.ours])
        #expect(answer.headers.first("Timing-Allow-Origin") == Self.ours)
        #expect(
            answer.headers.first("Access-Control-Expose-Headers")
                == "Link, ETag, Poi-Stale-Seconds, Retry-After, X-Request-Id")
        #expect(!answer.headers.contains("Access-Control-Allow-Credentials"))
    }

    @Test("A listed origin may read 304, 405, 406 and 503")
    func otherStatuses() async throws {
        let store = StubStore { (_) throws(PlaceStoreError) in throw .busy }
        store.currentDatasetID = DatasetID(high: 0, low: 1)
        let site = try ServiceSite(store, environment: Self.listed)
        let target = "/locations?lat=0&long=0"
        for (method, extra, status) in [
            (HTTPMethod.get, [:] as HTTPHeaders, 503), (.get, [.ifNoneMatch: "*"], 304), (.post, [:], 405),
            (.get, [.accept: "text/x"], 406), (.options, [:], 204),
        ] {
            var headers: HTTPHeaders = [.origin: Self.ours]
            headers.add(contentsOf: extra)
            let answer = try await site.ask(target, method, headers: headers)
            #expect(answer.status.code == status)
            #expect(answer.headers.first(Self.allowOrigin) == Self.ours)
        }
    }

    @Test(
        "A script of another origin gets responses, but may not read them",
        arguments: [
            "https://evil.example", "http://map.example", "https://map.example:8443", "null", "", "*",
        ])
    func otherOrigins(origin: String) async throws {
        let site = try ServiceSite(StubStore(), environment: Self.listed)
        let answer = try await site.ask("/categories", headers: [.origin: origin])
        #expect(answer.status == .ok)
        #expect(!answer.headers.contains(Self.allowOrigin))
        let preflight = try await site.ask("/categories", .options, headers: Self.preflight(origin))
        #expect(!preflight.headers.contains(Self.allowOrigin))
        #expect(!preflight.headers.contains("Access-Control-Allow-Methods"))
    }

    @Test(
        "The response to a preflight has methods, headers and a maximum age",
        arguments: ["*", "https://map.example"])
    func preflights(setting: String) async throws {
        let site = try ServiceSite(StubStore(), environment: ["POI_CORS_ORIGINS": setting])
        for target in ["/locations?lat=0&long=0", "/locations/1", "/categories", "/livez", "/nowhere"] {
            let answer = try await site.ask(target, .options, headers: Self.preflight(Self.ours))
            #expect(answer.status == .noContent)
            #expect(answer.headers.first("Access-Control-Allow-Methods") == "GET, HEAD, OPTIONS")
            let headers = try #require(answer.headers.first("Access-Control-Allow-Headers"))
            #expect(
                headers
                    == "Accept, Authorization, Content-Encoding, Content-Type, If-None-Match, X-Request-Id, traceparent"
            )
            #expect(answer.headers.first("Access-Control-Max-Age") == "7200")
            #expect(answer.headers.first(Self.allowOrigin) == (setting == "*" ? nil : Self.ours))
        }
        // An OPTIONS that is none is answered as ever.
        let plain = try await site.ask("/categories", .options, headers: [.origin: Self.ours])
        #expect(plain.headers.first(.allow) == "GET, HEAD, OPTIONS")
        #expect(!plain.headers.contains("Access-Control-Allow-Methods"))
    }

    @Test("If any origin may read, every response says so, and none varies by origin")
    func anyOrigin() throws {
        let fields = ServiceDispatcher.commonFields(CrossOriginPolicy([.any]))
        #expect(fields.first(.vary) == "Accept, Accept-Encoding")
        #expect(fields.first(Self.allowOrigin) == "*")
        #expect(fields.first("Timing-Allow-Origin") == "*")
        #expect(
            fields.first("Access-Control-Expose-Headers")
                == "Link, ETag, Poi-Stale-Seconds, Retry-After, X-Request-Id")
    }

    @Test("Responses vary by origin if there is a list of origins, and only then")
    func vary() {
        let listed = ServiceDispatcher.commonFields(CrossOriginPolicy([.origin(Self.ours)]))
        #expect(listed.map(\.value) == ["Accept, Accept-Encoding, Origin"])
        let none = ServiceDispatcher.commonFields(CrossOriginPolicy([]))
        #expect(none.map(\.value) == ["Accept, Accept-Encoding"])
    }

    @Test("No origin is allowed without a setting")
    func off() async throws {
        let site = try ServiceSite(StubStore())
        let answer = try await site.ask("/categories", .options, headers: Self.preflight(Self.ours))
        #expect(answer.headers.first(.allow) == "GET, HEAD, OPTIONS")
        #expect(answer.headers.count == 1)
    }
}
