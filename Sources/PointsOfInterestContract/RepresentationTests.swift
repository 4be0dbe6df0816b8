import Foundation
import Locking
import PointsOfInterestClient
import PointsOfInterestTesting
import Testing

@Suite("Representations", .timeLimit(.minutes(2)))
struct RepresentationTests {
    private static let target = "/locations?lat=37.3293&long=-121.8893&limit=50&lang=en"

    @Test(
        "A GeoJSON response has the same places as JSON, with the longitude first",
        .contract(
            .invariant, .recorded, in: .forms,
            otherwise: "A map library puts the places on another continent, or leaves some out."))
    func geoJSON() async throws {
        let response = try await Service.response(
            to: Self.target, headers: ["Accept": "application/geo+json, application/json;q=0.5"])
        #expect(response.mediaType == "application/geo+json")
        let plain = try await Service.response(to: Self.target)
        let (collection, places) = (try JSON(response.body), try #require(try JSON(plain.body).array))
        #expect(collection["type"] == .string("FeatureCollection"))
        let features = try #require(collection["features"]?.array).map { Feature($0) }
        #expect(features == places.map { Feature(ofPlace: $0) })
        #expect(response.header("Link") == plain.header("Link"))
        #expect(response.header("ETag") == nil || response.header("ETag") != plain.header("ETag"))
    }

    /// What a place and its feature have in common; either may have more.
    private struct Feature: Equatable {
        private static let names = [
            "name", "language", "category", "featured", "distance", "address", "website", "source",
            "importance", "operatingStatus", "categoryLabel", "properties",
        ]

        let type: JSON?
        let id: JSON?
        let geometry: JSON?
        let properties: [JSON?]

        init(_ feature: JSON) {
            (type, id, geometry) = (feature["type"], feature["id"], feature["geometry"])
            properties = Self.names.map { feature["properties"]?[$0] }
        }

        init(ofPlace place: JSON) {
            (type, id) = (.string("Feature"), place["id"])
            let position = [place["longitude"], place["latitude"]].map { $0 ?? .null }
            geometry = .object(["type": .string("Point"), "coordinates": .array(position)])
            properties = Self.names.map { place[$0] }
        }
    }

    @Test(
        "A request that accepts no available form gets a 406 problem",
        .contract(.invariant, in: .forms, otherwise: "A client gets a form that it can't read."),
        arguments: Service.targets)
    func notAcceptable(target: String) async throws {
        let target = try await Service.resolved(target)
        for accept in ["text/csv", "application/json;q=0, text/html;q=0"] {
            let response = try await Service.response(to: target, headers: ["Accept": accept])
            #expect(response.status == 406)
            #expect(try response.problem.code == .notAcceptable)
        }
    }

    @Test(
        "A request that accepts several media types gets the one with the highest weight",
        .contract(
            .invariant, .recorded, in: .forms, otherwise: "A map library gets JSON that it can't draw."),
        arguments: [
            ("application/json;q=0.5, application/geo+json", "application/geo+json"),
            ("application/geo+json;q=0.5, application/json", "application/json"),
            ("application/*;q=0.2, application/geo+json;q=0.1", "application/json"),
            ("*/*", "application/json"), ("application/geo+json;charset=utf-8", "application/geo+json"),
        ])
    func weights(accept: String, type: String) async throws {
        let response = try await Service.response(to: Self.target, headers: ["Accept": accept])
        #expect(response.status == 200)
        #expect(response.mediaType == type)
    }

    @Test(
        "A place's details have the same distance as GeoJSON",
        .contract(
            .invariant, in: .place,
            otherwise: "A map library shows a place without its distance, or another one."),
        .needs(places: 1))
    func detailsAsGeoJSON() async throws {
        let target = try await Service.resolved("/locations/{id}") + "?lat=37.3293&long=-121.8893&lang=en"
        let response = try await Service.response(to: target, headers: ["Accept": "application/geo+json"])
        let plain = try await Service.response(to: target, headers: ["Accept": "application/json"])
        let place = try JSON(plain.body)
        #expect(place["distance"] != nil)
        #expect(try Feature(JSON(response.body)) == Feature(ofPlace: place))
    }

    @Test(
        "The page of an unknown problem code is a 404 problem",
        .contract(
            .invariant, in: .problems, otherwise: "A developer reads about a problem that nobody can have."))
    func noProblemPage() async throws {
        let problem = try #require(await Service.problem(of: "/problems/nothing-like-it"))
        #expect(problem.status == 404)
        #expect(problem.code == .notFound)
    }

    @Test(
        "A request with the tag of the first response gets a 304",
        .contract(
            .invariant, in: .conditional,
            otherwise:
                "The app loads the same list over and over on a metered connection, or shows an old one."),
        arguments: Service.targets)
    func conditional(target: String) async throws {
        let target = try await Service.resolved(target)
        let first = try await Service.response(to: target)
        // Without an index there are no clusters, and without any place none has details.
        guard first.status == 200 else { return #expect([404, 501].contains(first.status)) }
        let tag = try #require(first.header("ETag"))
        #expect(tag.hasPrefix("W/\""))
        let second = try await Service.response(to: target, headers: ["If-None-Match": tag])
        #expect(second.status == 304)
        #expect(second.body.isEmpty)
        #expect(second.header("ETag") == tag)
        #expect(second.header("Cache-Control") == first.header("Cache-Control"))
        let other = try await Service.response(to: target, headers: ["If-None-Match": "\"another\""])
        #expect(other.status == 200)
        #expect(other.body == first.body)
    }

    @Test(
        "A large response is compressed on request, and has the same content",
        .contract(
            .invariant, in: .forms,
            otherwise: "A user on a slow connection waits five times as long, or sees garbage."),
        arguments: Service.targets)
    func compression(target: String) async throws {
        let target = try await Service.resolved(target)
        let response = try await Service.response(to: target, headers: ["Accept-Encoding": "gzip"])
        let plain = try await Service.response(to: target, headers: ["Accept-Encoding": "identity"])
        #expect(plain.header("Content-Encoding") == nil)
        // The short response of a service with little data needs none.
        #expect(response.header("Content-Encoding") == "gzip" || plain.body.count < 1024)
        // The session has decompressed the first. A problem has the id of its request.
        #expect(response.body == plain.body || response.status >= 400)
    }

    @Test(
        "The client keeps responses, asks with their tags, and returns a kept one after a 304",
        .contract(.invariant, in: .conditional, otherwise: "The app shows no list after a 304."))
    func clientStore() async throws {
        let statuses = Lock<[Int]>([])
        let service = try await Service.client(
            responseStore: ResponseStore(),
            onResponse: { head in statuses.withLock { $0.append(head.status) } })
        let request = NearbyPlacesRequest(center: try await Service.center(), limit: 3)
        let first = try await service.nearbyPlaces(request)
        let second = try await service.nearbyPlaces(request)
        #expect(first.places == second.places)
        #expect(first.next == second.next)
        #expect(statuses.withLock { $0 } == [200, 304])
    }

    @Test(
        "A response to a position may be cached by that client alone",
        .contract(
            .invariant, .recorded, in: .conditional,
            otherwise: "A cache shows one user's surroundings to another user."))
    func position() async throws {
        let response = try await Service.response(to: Self.target)
        let directives = response.list("Cache-Control")
        #expect(directives.contains("private"))
        #expect(!directives.contains("public"))
    }

    @Test(
        "A response may be kept as long as the service's settings say, without a position or a key by anybody",
        .contract(
            .invariant, in: .conditional,
            otherwise: "Caches show a list that is hours old, or ask for every single one."),
        .needs(.cacheTimes))
    func cacheControl() async throws {
        let settings = ContractConfiguration.current.settings
        let (ofPosition, ofOthers) = (
            try #require(settings.privateMaxAge), try #require(settings.publicMaxAge)
        )
        let position = try await Service.response(to: Self.target)
        #expect(position.list("Cache-Control").contains("max-age=\(ofPosition)"))
        for target in ["/locations?bbox=-122,37,-121,38", "/categories", "/attributions"]
        where try await Service.offers(target) {
            let directives = try await Service.response(to: target).list("Cache-Control")
            let scope = ContractConfiguration.current.keys == nil ? "public" : "private"
            #expect(directives.contains("max-age=\(ofOthers)") && directives.contains(scope), "\(target)")
        }
    }

    @Test(
        "A condition may be a list of tags or any tag, and If-Match has to match (RFC 9110)",
        .contract(
            .invariant, in: .conditional,
            otherwise: "A cache that keeps several lists loads one that it has, or shows one that is over."))
    func conditions() async throws {
        let tag = try #require(try await Service.response(to: Self.target).header("ETag"))
        for condition in ["\"a\", \(tag), W/\"b\"", "*", String(tag.dropFirst(2))] {
            let response = try await Service.response(to: Self.target, headers: ["If-None-Match": condition])
            #expect(response.status == 304, "\(condition)")
        }
        let strong = try await Service.response(to: Self.target, headers: ["If-Match": tag])
        #expect(strong.status == 412)
        #expect(try strong.problem.code == .preconditionFailed)
        #expect(try await Service.response(to: Self.target, headers: ["If-Match": "*"]).status == 200)
    }

    @Test(
        "The service describes what this version's contract has, and may describe more",
        .contract(
            .invariant, in: .conventions,
            otherwise: "A generated client lacks a path, a parameter or a member."))
    func description() async throws {
        let own = try ContractDescription.own.get().document
        let service = try await Service.description().document
        // Which properties places can be filtered by is a choice of each service's operator.
        var missing = Growth(from: own, to: service).missing.filter {
            Service.isSeeded || !$0.contains("/parameters/property.")
        }
        // Whether anybody may edit, too: with the record all of it goes.
        if missing.contains("/paths//locations/{id}/record") {
            missing.removeAll { Self.ofEditing.contains(String($0.split(separator: "/").last ?? "")) }
        }
        // Whether it tells sums is a choice of the operator's, too.
        if missing.contains("/paths//locations/digest") {
            missing.removeAll {
                $0.split(separator: "/").last.map { Self.ofDigest.contains(String($0)) } ?? false
            }
        }
        #expect(missing == [])
    }

    /// What only a service that tells sums describes.
    private static let ofDigest: Set = [
        "digest", "Digest", "DigestSums", "DigestGroups", "DigestBuckets", "DigestPlace",
    ]

    /// What only a service with editors describes.
    private static let ofEditing: Set = [
        "Accept-Patch", "NewLocation", "Poi-Visible", "VersionTag", "VersionsLink", "ChangesLink",
        "CurrentVersionTag", "Merger", "PlaceDraft", "PlacePatch", "PlaceRecord", "PlaceVersion",
        "RecentChange", "Restoration", "securitySchemes", "editorKey", "post", "patch", "delete", "merge",
        "record", "restore", "versions", "changes",
    ]

    @Test(
        "A problem's type is a page that says what it means, for people and for programs",
        .contract(.invariant, in: .problems, otherwise: "A developer's link to a problem is dead."))
    func problemPages() async throws {
        let problem = try #require(await Service.problem(of: "/locations?lat=91&long=0"))
        let page = try await Service.response(to: problem.type, headers: ["Accept": "text/html"])
        #expect(page.status == 200)
        #expect(page.mediaType == "text/html")
        #expect(String(decoding: page.body, as: UTF8.self).contains(problem.code.rawValue))
        let json = ["Accept": "application/json"]
        let meaning = try JSON(try await Service.response(to: problem.type, headers: json).body)
        #expect(meaning["code"] == .string(problem.code.rawValue))
        let index = try await Service.response(to: "/problems", headers: json)
        let all = try #require(try JSON(index.body).array)
        #expect(all.contains(meaning))
        let codes = Set(all.compactMap { $0["code"]?.text })
        #expect(codes.isSuperset(of: try ContractDescription.own.get().problemCodes))
    }
}

@Suite("Recorded responses", .timeLimit(.minutes(2)))
struct RecordedResponsesTests {
    @Test(
        "A recorded response for apps is what the service sends: scripts/record/record-responses writes it anew",
        .contract(
            .seeded, .ownSettings, in: .locations,
            otherwise: "Apps' tests pass with responses that no service sends."),
        arguments: RecordedResponse.allCases)
    func isTrue(recording: RecordedResponse) async throws {
        try await expectTrue(try recording.exchange())
    }

    @Test(
        "A recorded response of this suite is what the service sends: scripts/record/record-contract writes it anew",
        .contract(
            .seeded, .ownSettings, in: .locations,
            otherwise: "The recorded target proves that the client understands what no service sends."))
    func suiteIsTrue() async throws {
        let exchanges = try RecordedService.exchanges()
        #expect(exchanges.count > 100)
        for exchange in exchanges { try await expectTrue(exchange) }
    }

    @Test(
        "The recorded description is the service's: scripts/record/record-contract writes it anew",
        .contract(
            .seeded, .ownSettings, in: .conventions,
            otherwise: "Responses are checked by a description that is out of date."))
    func descriptionIsTrue() async throws {
        let own = try ContractDescription.own.get().document
        let service = try await Service.description().document
        #expect(Growth(from: service, to: own).missing == [])
    }

    /// A body without what differs from one database with the seed to the next.
    private static func comparable(_ body: Data) -> String {
        String(decoding: body, as: UTF8.self).replacing(/"version":\d+,"updatedAt":"[^"]+"/, with: "")
    }

    private func expectTrue(
        _ recorded: RecordedExchange, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        var headers = recorded.requestHeaders
        // A problem contains its request's id.
        headers["X-Request-Id"] = "recorded"
        let response = try await Service.response(
            to: recorded.target, method: recorded.method, headers: headers)
        let hasIndex = try await Service.hasIndex
        if !hasIndex, response.status == 501 { return }
        #expect(response.status == recorded.status, "\(recorded.target)", sourceLocation: sourceLocation)
        #expect(
            Self.comparable(response.body) == Self.comparable(recorded.body),
            "\(recorded.target)", sourceLocation: sourceLocation)
        // `Vary` depends on the origins that are let in.
        for name in ["Content-Type", "Link", "Cache-Control"] where hasIndex || name != "Link" {
            #expect(
                response.header(name) == recorded.responseHeaders[name], "\(recorded.target)",
                sourceLocation: sourceLocation)
        }
    }
}

/// How a description differs from an earlier one that it has to include: the contract only grows.
struct Growth {
    /// What is no longer there, each with where it was.
    private(set) var missing: [String] = []

    /// Members of these names are for people, or depend on a service's data and settings.
    private static let free: Set<String> = ["description", "summary", "info", "servers", "tags", "security"]

    init(from old: JSON, to new: JSON) { compare(old, new, at: "") }

    private mutating func compare(_ old: JSON, _ new: JSON?, at place: String) {
        guard let new else { return missing.append(place) }
        switch (old, new) {
        case (.object(let old), .object(let new)):
            for (name, member) in old.sorted(by: { $0.key < $1.key }) where !Self.free.contains(name) {
                // The names of categories and of datasets are data.
                let isOfNames = ["/category/schema/items", "/dataset/schema/items"].contains(
                    where: place.hasSuffix)
                if name == "enum", isOfNames { continue }
                compare(member, new[name], at: place + "/" + name)
            }
        case (.array(let old), .array(let new)): compare(old, new, at: place)
        default: if old != new { missing.append(place) }
        }
    }

    /// An array has no order that means anything here; items with names are compared by them.
    private mutating func compare(_ old: [JSON], _ new: [JSON], at place: String) {
        for item in old {
            if let name = item["name"]?.text {
                compare(
                    item, new.first { $0["name"] == item["name"] && $0["in"] == item["in"] },
                    at: place + "/" + name)
            } else if item.members != nil {
                // Parts of a schema: one of the new ones has to include it.
                let includes = new.contains { Growth(from: item, to: $0).missing.isEmpty }
                if !includes { missing.append(place) }
            } else if !new.contains(item) {
                missing.append(place + "/" + (item.text ?? "…"))
            }
        }
    }
}
