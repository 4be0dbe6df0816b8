import HTTPServer
import PointsOfInterestAPI
import Testing

@testable import POIService
@testable import Places
@testable import Program

@Suite("Keys")
struct KeyTests {
    private static let key = "0123456789-ABCDEF"
    private static let environment = ["POI_API_KEYS": "fedcba9876543210,\(key)", "POI_CORS_ORIGINS": "*"]

    private static func ask(_ target: String, _ fields: [String], _ method: HTTPMethod = .get) async throws
        -> HTTPResponse
    {
        var headers = HTTPHeaders()
        for field in fields { headers.add(.authorization, field) }
        return try await ServiceSite(StubStore(), environment: environment)
            .ask(target, method, headers: headers)
    }

    @Test("Data need a key", arguments: ["/locations?lat=0&long=0", "/categories", "/attributions"])
    func accepted(target: String) async throws {
        for field in ["Bearer \(Self.key)", "bearer   \(Self.key)", "BEARER fedcba9876543210"] {
            let answer = try await Self.ask(target, [field])
            #expect(answer.status == .ok)
            // No shared cache may hand it on.
            #expect(answer.headers.first(.cacheControl)?.hasPrefix("private") == true)
        }
    }

    @Test(
        "A request without a key gets a 401 that says how to send one",
        arguments: [
            [], [""], ["Bearer"], ["Bearer "], ["Basic \(key)"], [key], ["Bearer\(key)"],
            ["Bearer \(key)", "Bearer \(key)"],
        ])
    func unauthorized(fields: [String]) async throws {
        for target in ["/locations?lat=0&long=0", "/locations/1", "/categories", "/locations?lat=91"] {
            let answer = try await Self.ask(target, fields)
            #expect(answer.status == .unauthorized)
            #expect(answer.headers.first(.wwwAuthenticate) == "Bearer")
            #expect(try answer.problem().code == .unauthorized)
        }
    }

    @Test(
        "A request with a wrong key gets a 401 with invalid_token",
        arguments: [
            "x", "0123456789-ABCDEf", "0123456789-ABCDE", "0123456789-ABCDEF0", "0123456789-ABCDEF 0",
        ])
    func invalidToken(token: String) async throws {
        let answer = try await Self.ask("/categories", ["Bearer \(token)"])
        #expect(answer.status == .unauthorized)
        #expect(answer.headers.first(.wwwAuthenticate) == #"Bearer error="invalid_token""#)
        #expect(try answer.problem().code == .unauthorized)
        #expect(!answer.text.contains(token) || token == "x")
    }

    @Test(
        "Health, pages, documents and unknown paths need no key",
        arguments: [
            ("/livez", 200), ("/", 200), ("/problems", 200), ("/problems/forbidden", 200), ("/nowhere", 404),
        ])
    func open(target: String, status: Int) async throws {
        #expect(try await Self.ask(target, []).status.code == status)
    }

    @Test("OPTIONS and preflights need no key: a browser sends none")
    func preflight() async throws {
        #expect(try await Self.ask("/locations", [], .options).status == .noContent)
        let answer = try await ServiceSite(StubStore(), environment: Self.environment).ask(
            "/locations", .options,
            headers: [.origin: "https://a.example", "Access-Control-Request-Method": "GET"])
        #expect(answer.status == .noContent)
        #expect(answer.headers.first("Access-Control-Allow-Headers")?.contains("Authorization") == true)
    }

    @Test("A key has 16 to 256 characters of a token")
    func form() {
        #expect(AccessKey(settingText: String(repeating: "a", count: 15)) == nil)
        #expect(AccessKey(settingText: String(repeating: "a", count: 16)) != nil)
        #expect(AccessKey(settingText: String(repeating: "a", count: 256)) != nil)
        #expect(AccessKey(settingText: String(repeating: "a", count: 257)) == nil)
        for text in ["0123456789abcde f", "0123456789abcdé", "================", "0123456789=abcdef"] {
            #expect(AccessKey(settingText: text) == nil)
        }
    }
}

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
                == "Link, ETag, Location, Poi-Stale-Seconds, Poi-Visible, Retry-After, X-Request-Id")
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
                headers == "Accept, Authorization, Content-Encoding, Content-Type, Idempotency-Key, "
                    + "If-Match, If-None-Match, X-Request-Id, traceparent")
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
                == "Link, ETag, Location, Poi-Stale-Seconds, Poi-Visible, Retry-After, X-Request-Id")
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
