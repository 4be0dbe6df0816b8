import HTTPServer
import PointsOfInterestAPI
@testable import Program
import Testing

@testable import POIService

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
