import Foundation
import PointsOfInterestClient
import Testing

@Suite("Representations", .timeLimit(.minutes(2)))
struct RepresentationTests {
    private static let target = "/locations?lat=37.3293&long=-121.8893&limit=50"
    private static let targets = [target, "/locations?bbox=-122,37,-121,38", "/categories", "/openapi.json"]

    private func places() async throws -> [PointOfInterest] {
        let center = try Coordinate(latitude: 37.3293, longitude: -121.8893)
        return try await Service.places(around: center, limit: 50)
    }

    @Test("As GeoJSON the same places come, longitude first", .contract(.invariant, .recorded))
    func geoJSON() async throws {
        let response = try await Service.response(
            to: Self.target, headers: ["Accept": "application/geo+json, application/json;q=0.5"])
        #expect(response.header("Content-Type") == "application/geo+json")
        let collection = try JSONDecoder().decode(Collection.self, from: response.body)
        #expect(collection.type == "FeatureCollection")
        let places = try await places()
        #expect(collection.features.map(\.id) == places.map(\.id))
        #expect(
            collection.features.map(\.geometry.coordinates) == places.map { [$0.longitude, $0.latitude] })
        #expect(collection.features.map(\.properties.distance) == places.map(\.distance))
        #expect(collection.features.map(\.properties.name) == places.map(\.name))
        #expect(response.header("Link") == (try await Service.response(to: Self.target).header("Link")))
    }

    private struct Collection: Decodable {
        struct Feature: Decodable {
            struct Geometry: Decodable {
                let type: String
                let coordinates: [Double]
            }
            struct Properties: Decodable {
                let name: String
                let distance: Double?
            }
            let id: Int
            let geometry: Geometry
            let properties: Properties
        }
        let type: String
        let features: [Feature]
    }

    @Test(
        "A request that accepts no available form gets a 406 problem", .contract(.invariant, .recorded),
        arguments: ["text/csv", "application/json;q=0"])
    func notAcceptable(accept: String) async throws {
        let response = try await Service.response(to: Self.target, headers: ["Accept": accept])
        #expect(response.status == 406)
        #expect(try JSONDecoder().decode(Problem.self, from: response.body).code == .notAcceptable)
    }

    @Test(
        "A request with the tag of the first response gets a 304", .contract(.invariant), arguments: targets)
    func conditional(target: String) async throws {
        let first = try await Service.response(to: target)
        #expect(first.status == 200)
        let tag = try #require(first.header("ETag"))
        #expect(tag.hasPrefix("W/\""))
        let second = try await Service.response(to: target, headers: ["If-None-Match": tag])
        #expect(second.status == 304)
        #expect(second.body.isEmpty)
        #expect(second.header("ETag") == tag)
        let other = try await Service.response(to: target, headers: ["If-None-Match": "\"another\""])
        #expect(other.status == 200)
        #expect(other.body == first.body)
    }

    @Test(
        "A large response is compressed on request, and has the same content", .contract(.invariant),
        arguments: targets)
    func compression(target: String) async throws {
        let response = try await Service.response(to: target, headers: ["Accept-Encoding": "gzip"])
        let plain = try await Service.response(to: target, headers: ["Accept-Encoding": "identity"])
        #expect(plain.header("Content-Encoding") == nil)
        // The short response of a service with little data needs none.
        #expect(response.header("Content-Encoding") == "gzip" || plain.body.count < 1024)
        #expect(plain.body.count >= 1024 || !Service.isSeeded)
        // The session has decompressed the first.
        #expect(response.body == plain.body)
    }

    @Test("The client keeps tags, asks with them, and hands out what it has kept", .contract(.invariant))
    func clientStore() async throws {
        let store = CountingStore()
        let service = try await Service.client(entityTagStore: store)
        let request = NearbyPlacesRequest(center: try await Service.center(), limit: 3)
        let first = try await service.nearbyPlaces(request)
        let second = try await service.nearbyPlaces(request)
        #expect(first.places == second.places)
        #expect(first.next == second.next)
        // The second response was a 304: there was nothing new to keep.
        #expect(await store.counts() == CountingStore.Counts(hits: 1, kept: 1, renewed: 1))
    }

    @Test("A response to a position may be cached by that client alone", .contract(.invariant, .recorded))
    func position() async throws {
        let response = try await Service.response(to: Self.target)
        let directives = try #require(response.header("Cache-Control"))
            .split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(directives.contains("private"))
        #expect(!directives.contains("public"))
    }

    @Test(
        "A response may be cached for a minute, without a position by anybody",
        .contract(.invariant, .ownSettings))
    func cacheControl() async throws {
        #expect(try await Service.response(to: Self.target).header("Cache-Control") == "private, max-age=60")
        for target in ["/locations?bbox=-122,37,-121,38", "/categories"] {
            #expect(try await Service.response(to: target).header("Cache-Control") == "public, max-age=60")
        }
    }

    @Test(
        "Vary names the fields that the response depends on", .contract(.invariant),
        arguments: targets + ["/nowhere", "/locations?lat=91"])
    func vary(target: String) async throws {
        let vary = try #require(await Service.response(to: target).header("Vary")).lowercased()
        #expect(vary.contains("accept") && vary.contains("accept-encoding"))
    }

    @Test("The description has the service's paths, and a problem's type is a page", .contract(.invariant))
    func documents() async throws {
        let response = try await Service.response(to: "/openapi.json")
        let document = try #require(try JSONSerialization.jsonObject(with: response.body) as? [String: Any])
        let paths = try #require(document["paths"] as? [String: Any])
        #expect(Set(paths.keys).isSuperset(of: ["/locations", "/locations/{id}", "/categories", "/livez"]))
        let problem = try #require(await Service.problem(of: "/locations?lat=91&long=0"))
        let page = try await Service.response(to: problem.type, headers: ["Accept": "text/html"])
        #expect(page.status == 200)
        #expect(page.header("Content-Type")?.hasPrefix("text/html") == true)
        #expect(String(decoding: page.body, as: UTF8.self).contains(problem.code.rawValue))
    }
}

/// A store that counts what it does.
private actor CountingStore: EntityTagStore {
    struct Counts: Equatable {
        var hits = 0
        var kept = 0
        var renewed = 0
    }

    private var responses: [EntityTagKey: TaggedResponse] = [:]
    private var current = Counts()

    func response(for key: EntityTagKey) async -> TaggedResponse? {
        let response = responses[key]
        if response != nil { current.hits += 1 }
        return response
    }

    func keep(_ response: TaggedResponse, for key: EntityTagKey) async {
        responses[key] = response
        current.kept += 1
    }

    func renew(_ response: TaggedResponse, for key: EntityTagKey) async {
        responses[key] = response
        current.renewed += 1
    }

    func newestResponse(like key: EntityTagKey) async -> TaggedResponse? { nil }

    func counts() -> Counts { current }
}
