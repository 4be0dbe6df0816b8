import Foundation
import HTTPServer
import Places
import PointsOfInterestAPI
import Testing

@testable import POIService
@testable import Program

@Suite("Who may edit", .timeLimit(.minutes(1)))
struct EditorAccessTests {
    private static let routes: [(target: String, method: HTTPMethod, body: String)] = [
        ("/locations/5/record", .get, ""), ("/locations/5/record", .head, ""),
        ("/locations/5/versions", .get, ""), ("/locations", .post, "{}"), ("/locations/5", .patch, "{}"),
        ("/locations/5", .delete, ""), ("/locations/5/restore", .post, #"{"version": 1}"#),
        ("/locations/5/merge", .post, #"{"into": 6}"#), ("/changes", .get, ""), ("/changes", .head, ""),
    ]

    private func code(_ response: HTTPResponse, _ status: Int) throws -> ProblemCode {
        #expect(response.status.code == status)
        return try response.problem().code
    }

    // MARK: Keys

    @Test("Every request of editors needs an editor's key, and one for data isn't enough")
    func keys() async throws {
        for (target, method, body) in Self.routes {
            // Who tries ten wrong keys is refused.
            let site = try EditingSite(["POI_API_KEYS": "a-key-for-reading"])
            let missing = try await site.ask(target, method, body, key: nil)
            #expect(try code(missing, 401) == .unauthorized)
            #expect(missing.headers.first(.wwwAuthenticate) == "Bearer")
            let reader = try await site.ask(target, method, body, key: "a-key-for-reading")
            #expect(try code(reader, 403) == .notAnEditor)
            #expect(try await site.ask(target, method, body).status.code != 401)
        }
    }

    @Test("A wrong key gets a 401 with invalid_token, also where it is an editor's but for its end")
    func wrongKeys() async throws {
        for key in ["x", EditorsFile.key + "0", String(EditorsFile.key.dropLast()), "an-other-editors-key"] {
            let response = try await EditingSite().ask("/locations/5", .delete, key: key)
            #expect(try code(response, 401) == .unauthorized)
            #expect(response.headers.first(.wwwAuthenticate) == #"Bearer error="invalid_token""#)
        }
    }

    @Test("An editor's key is good for reading, too, and nothing is read without one")
    func reading() async throws {
        let site = try EditingSite(["POI_API_KEYS": "a-key-for-reading"])
        for target in ["/categories", "/locations?lat=0&long=0"] {
            #expect(try await site.ask(target).status == .ok)
            #expect(try await site.ask(target, key: "a-key-for-reading").status == .ok)
            #expect(try await site.ask(target, key: nil).status.code == 401)
            #expect(try await site.ask(target, key: "an-other-editors-key").status.code == 401)
        }
    }

    @Test("What isn't an editor's changes nothing")
    func refusals() async throws {
        let site = try EditingSite()
        for (target, method, body) in Self.routes { _ = try await site.ask(target, method, body, key: nil) }
        #expect(try await site.ask("/locations/5/versions").text == "[]")
    }

    // MARK: Origins

    private static let ours = "https://map.example"
    private static let allowOrigin: HTTPHeaderName = "Access-Control-Allow-Origin"

    @Test(
        "A page of another origin may not edit, whatever key it has",
        arguments: [
            "https://evil.example", "http://map.example:8080", "null", "", "https://map.example.evil", "é",
        ])
    func foreignOrigins(origin: String) async throws {
        // Who may read isn't asked.
        for environment in [[:], ["POI_CORS_ORIGINS": "*"], ["POI_CORS_ORIGINS": "https://evil.example"]] {
            let site = try EditingSite(environment)
            let headers: HTTPHeaders = ["Host": "map.example", .origin: origin]
            for (target, method, body) in Self.routes {
                #expect(try code(await site.ask(target, method, body, headers: headers), 403) == .notAnEditor)
            }
            #expect(try await site.ask("/categories", headers: headers).status == .ok)
        }
    }

    @Test("A page of the service's own origin may edit, and so may one that is allowed to")
    func allowedOrigins() async throws {
        let site = try EditingSite(["POI_EDITOR_ORIGINS": "https://other.example, \(Self.ours)"])
        for origin in ["http://a.example:8080", "https://a.example:8080", Self.ours] {
            let headers: HTTPHeaders = ["Host": "a.example:8080", .origin: origin]
            let response = try await site.ask("/locations/5", .patch, "{}", headers: headers)
            #expect(response.status == .ok)
            #expect(response.headers.all(Self.allowOrigin) == (origin == Self.ours ? [origin] : []))
        }
        // A script may read why its edit was refused.
        let refused = try await site.ask(
            "/locations/5", .patch, "{}", ifMatch: #""0""#, headers: ["Host": "a", .origin: Self.ours])
        #expect(refused.status.code == 412)
        #expect(refused.headers.all(Self.allowOrigin) == [Self.ours])
        #expect(refused.headers.first("Access-Control-Expose-Headers")?.contains("ETag") == true)
        // It may edit, and not read places.
        let list = try await site.ask("/categories", headers: ["Host": "a", .origin: Self.ours])
        #expect(list.status == .ok && !list.headers.contains(Self.allowOrigin))
    }

    @Test("A preflight of an origin that may edit allows the methods and fields of edits")
    func preflights() async throws {
        func preflight(
            _ target: String, _ method: String, _ origin: String, _ environment: [String: String]
        ) async throws -> HTTPResponse {
            try await EditingSite(environment).ask(
                target, .options, headers: [.origin: origin, "Access-Control-Request-Method": method],
                key: nil)
        }
        let environment = ["POI_EDITOR_ORIGINS": Self.ours]
        for (target, method) in [
            ("/locations/5", "PATCH"), ("/locations/5", "DELETE"), ("/locations", "POST"),
            ("/locations/5/merge", "POST"), ("/locations/5/record", "GET"),
        ] {
            let allowed = try await preflight(target, method, Self.ours, environment)
            #expect(allowed.status == .noContent)
            #expect(allowed.headers.all(Self.allowOrigin) == [Self.ours])
            #expect(allowed.headers.first("Access-Control-Allow-Methods")?.contains(method) == true)
            for field in ["Authorization", "Content-Type", "If-Match", "Idempotency-Key"] {
                #expect(allowed.headers.first("Access-Control-Allow-Headers")?.contains(field) == true)
            }
            let foreign = try await preflight(target, method, "https://evil.example", environment)
            #expect(!foreign.headers.contains(Self.allowOrigin))
            #expect(!foreign.headers.contains("Access-Control-Allow-Methods"))
        }
        // Reading places has origins of its own.
        let reading = try await preflight("/locations/5", "GET", Self.ours, environment)
        #expect(!reading.headers.contains(Self.allowOrigin))
        // Where everybody may read, a browser asks, and the edit itself is refused.
        let both = environment.merging(["POI_CORS_ORIGINS": "*"]) { $1 }
        let any = try await preflight("/locations/5", "PATCH", Self.ours, both)
        #expect(any.status == .noContent)
        #expect(any.headers.first("Access-Control-Allow-Methods")?.contains("PATCH") == true)
    }

    // MARK: Names from a proxy

    @Test("A trusted proxy names the editor, and nobody else does")
    func proxies() async throws {
        let environment = ["POI_EDITOR_HEADER": "X-Editor", "POI_TRUSTED_PROXIES": "192.0.2.0/24"]
        let site = try EditingSite(environment)
        func ask(_ names: [String], from address: String?) async throws -> HTTPResponse {
            var headers = HTTPHeaders()
            for name in names { headers.add("X-Editor", name) }
            return try await site.ask(
                "/locations/5", .patch, #"{"name": "\#(UUID())"}"#, headers: headers, key: nil, from: address)
        }
        #expect(try await ask(["Grace Hopper"], from: "192.0.2.7").status == .ok)
        let versions = try JSONDecoder().decode(
            [JSONValue.Object].self, from: Data(try await site.ask("/locations/5/versions").body))
        #expect(versions.map { $0["who"] } == ["Grace Hopper (poi_edit)"])
        for address in ["198.51.100.1", nil] {
            #expect(try code(await ask(["Grace Hopper"], from: address), 401) == .unauthorized)
        }
        let long = String(repeating: "a", count: 101)
        for names in [[], [""], ["A", "B"], [long], ["A\tB"]] {
            #expect(try code(await ask(names, from: "192.0.2.7"), 401) == .unauthorized, "\(names)")
        }
        // Keys are good through it, too.
        #expect(try await site.ask("/locations/5/record", from: "192.0.2.7").status == .ok)
    }

    @Test("The field of a proxy needs proxies that are trusted, and isn't that of keys")
    func proxySettings() throws {
        func configuration(_ environment: [String: String]) throws -> EditingConfiguration {
            var reader = SettingsReader(flags: [:], environment: environment)
            return try ServiceConfiguration(from: &reader, processorCount: 1).editing
        }
        #expect(throws: ConfigurationError.self) { try configuration(["POI_EDITOR_HEADER": "X-Editor"]) }
        for header in ["Authorization", "X Editor"] {
            #expect(throws: ConfigurationError.self) {
                try configuration(["POI_EDITOR_HEADER": header, "POI_TRUSTED_PROXIES": "192.0.2.1"])
            }
        }
        #expect(try configuration([:]).access == nil)
        #expect(
            try configuration(["POI_EDITOR_HEADER": "X-Editor", "POI_TRUSTED_PROXIES": "192.0.2.1"]).access
                != nil)
        for origins in ["*", "https://a.example/", "a.example"] {
            #expect(throws: ConfigurationError.self) { try configuration(["POI_EDITOR_ORIGINS": origins]) }
        }
    }

    @Test("The editor of this machine alone is let in by the names of this machine")
    func thisMachine() throws {
        var reader = SettingsReader(flags: [:], environment: [:])
        var configuration = try ServiceConfiguration(from: &reader, processorCount: 1)
        configuration.editing.allow(AccessKey(), named: "dev")
        let access = try #require(configuration.editing.access)
        func isForeign(_ host: String?) throws -> Bool {
            access.isForeign(
                try HTTPRequest(method: .get, target: "/", headers: host.map { ["Host": $0] } ?? [:]))
        }
        for host in ["localhost", "localhost:8080", "127.0.0.1:1", "[::1]:8080", "[::1]"] {
            #expect(try !isForeign(host), "\(host)")
        }
        for host in [
            nil, "", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "[::2]", "::1",
        ] {
            #expect(try isForeign(host), "\(host ?? "none")")
        }
    }

    // MARK: Limits

    @Test("An editor's requests have a limit of their own, and readers have theirs")
    func limits() async throws {
        let site = try EditingSite(["POI_EDITOR_RATE_LIMIT": "2/h", "POI_RATE_LIMIT": "3/h"])
        func ask(_ target: String, from address: String) async throws -> HTTPResponse {
            try await site.ask(target, from: address)
        }
        for _ in 0..<2 { #expect(try await ask("/locations/5/record", from: "192.0.2.1").status == .ok) }
        let refused = try await ask("/locations/5/record", from: "192.0.2.1")
        #expect(try code(refused, 429) == .tooManyRequests)
        #expect(refused.headers.first(.retryAfter).flatMap { Int($0) } ?? 0 > 0)
        // Another address, and reading, aren't meant.
        #expect(try await ask("/locations/5/record", from: "192.0.2.2").status == .ok)
        for _ in 0..<3 { #expect(try await ask("/categories", from: "192.0.2.1").status == .ok) }
        #expect(try await ask("/categories", from: "192.0.2.1").status.code == 429)
    }

    @Test("Who has tried ten wrong keys in a minute is refused, with the right one, too")
    func failedTries() async throws {
        let site = try EditingSite(["POI_API_KEYS": "a-key-for-reading"])
        for number in 0..<10 {
            let key = number == 0 ? "a-key-for-reading" : "a-guess-of-number-\(number)"
            let response = try await site.ask("/locations/5/record", key: key, from: "192.0.2.1")
            #expect(response.status.code == (number == 0 ? 403 : 401))
        }
        let refused = try await site.ask("/locations/5/record", from: "192.0.2.1")
        #expect(try code(refused, 429) == .tooManyRequests)
        #expect(try await site.ask("/locations/5/record", from: "192.0.2.2").status == .ok)
        // A request without a key tries none.
        for _ in 0..<12 { _ = try await site.ask("/locations/5/record", key: nil, from: "192.0.2.3") }
        #expect(try await site.ask("/locations/5/record", from: "192.0.2.3").status == .ok)
    }

    @Test(
        "A field of combining marks takes a time in proportion to its bytes",
        arguments: [
            "Access-Control-Request-Method", "Authorization", "Host", "Idempotency-Key", "If-Match", "Origin",
            "X-Editor",
        ] as [HTTPHeaderName])
    func hostileFields(name: HTTPHeaderName) async throws {
        let site = try EditingSite([
            "POI_EDITOR_HEADER": "X-Editor", "POI_TRUSTED_PROXIES": "192.0.2.1",
            "POI_EDITOR_ORIGINS": Self.ours,
        ])
        // To compare two strings takes 0.1 s for one of these.
        let marks = "*" + String(repeating: "\u{301}\u{323}", count: 4000)
        for _ in 0..<100 {
            var headers: HTTPHeaders = [name: marks]
            if name == "Access-Control-Request-Method" {
                headers.add(.origin, Self.ours)
                // It is no method, so it isn't compared with any.
                let request = try HTTPRequest(method: .options, target: "/locations/5", headers: headers)
                #expect(CrossOriginPolicy.method(ofPreflight: request) == nil)
                _ = try await site.ask("/locations/5", .options, headers: headers, key: nil)
            } else {
                _ = try await site.ask(
                    "/locations/5", .patch, "{}", ifMatch: name == .ifMatch ? nil : "*", headers: headers,
                    key: name == .authorization || name == "X-Editor" ? nil : EditorsFile.key,
                    from: "192.0.2.1")
            }
        }
    }

    // MARK: The file

    @Test("A line of the file is a name and the hash of a key, or a remark")
    func file() throws {
        let file = try EditorsFile(
            "# Those who may edit\n\n  \t\r\n" + EditorsFile.line("Ada  Lovelace", "0123456789abcdef")
                + EditorsFile.line("Bob\t", "fedcba9876543210").uppercased() + "\r\n"
                + EditorsFile.line("Ada Lovelace", "another-key-of-hers").dropLast())
        let editors = try Editors(path: file.url.path)
        #expect(editors.count == 3)
        func name(_ key: String) -> String? { editors.name(ofKey: Array(key.utf8)) }
        #expect(name("0123456789abcdef") == "Ada Lovelace")
        #expect(name("fedcba9876543210") == "BOB")
        #expect(name("another-key-of-hers") == "Ada Lovelace")
        #expect(name("0123456789abcdeF") == nil)
        // A hash is no key.
        #expect(name(String(EditorsFile.line("", "0123456789abcdef").dropFirst().dropLast())) == nil)
    }

    @Test(
        "A file with a line that is none is refused with the line's number, and no part of the line",
        arguments: [
            "Ada", "Ada 0123", String(repeating: "a", count: 64), "Ada " + String(repeating: "g", count: 64),
            "Ada " + String(repeating: "a", count: 65), "A\u{7}a " + String(repeating: "a", count: 64),
            String(repeating: "A", count: 101) + " " + String(repeating: "a", count: 64),
            EditorsFile.line("Bob", "0123456789abcdef"),
        ])
    func faultsOfFile(line: String) throws {
        let file = try EditorsFile(EditorsFile.line("Ada", "0123456789abcdef") + line + "\n")
        let error = #expect(throws: SettingRejection.self) { try Editors(path: file.url.path) }
        #expect(error?.expected.contains("line 2 is none") == true)
        #expect(error?.expected.contains(line) == false)
        #expect(throws: SettingRejection.self) { try Editors(path: file.url.path + "-that-isn't-there") }
    }

    @Test("The file is read again, and one with a fault changes nothing")
    func reloading() throws {
        let file = try EditorsFile(EditorsFile.line("Ada", "0123456789abcdef"))
        let editors = try Editors(path: file.url.path)
        #expect(editors.hasFile)
        try file.write(EditorsFile.line("Bob", "fedcba9876543210"))
        #expect(editors.name(ofKey: Array("0123456789abcdef".utf8)) == "Ada")
        #expect(editors.reload() == nil)
        #expect(editors.name(ofKey: Array("0123456789abcdef".utf8)) == nil)
        #expect(editors.name(ofKey: Array("fedcba9876543210".utf8)) == "Bob")
        try file.write("Bob\n")
        #expect(editors.reload()?.contains("line 1 is none") == true)
        #expect(editors.name(ofKey: Array("fedcba9876543210".utf8)) == "Bob")
        #expect(Editors().reload() == nil)
    }
}
