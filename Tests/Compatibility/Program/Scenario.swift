import Foundation
import PointsOfInterestClient
import PointsOfInterestEditing
import PointsOfInterestOffline

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Something that an app does with its client, and what must come of it with any server.
struct Scenario: Sendable {
    /// Where the client works.
    struct Site: Sendable {
        let baseURL: URL
        let session: URLSession
        /// Of an editor.
        let editorKey: String
    }

    /// What came of a scenario, other than it has to be.
    struct Unsound: Error, CustomStringConvertible {
        let description: String
    }

    /// The name of its file.
    let name: String
    /// Runs it and returns what the app gets, as JSON. Throws where that can't be right.
    let run: @Sendable (Site) async throws -> Data

    init<Outcome: Encodable & SendableMetatype>(
        _ name: String, _ run: @escaping @Sendable (Site) async throws -> Outcome,
        isSound: @escaping @Sendable (Outcome) -> Bool
    ) {
        self.name = name
        self.run = { site in
            let outcome = try await run(site)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let json = try encoder.encode(outcome)
            guard isSound(outcome) else {
                throw Unsound(description: String(decoding: json, as: UTF8.self))
            }
            return json
        }
    }
}

/// A scenario as it went when a release was recorded.
struct RecordedScenario: Codable {
    let exchanges: [Exchange]
    /// What the app got, as JSON.
    let outcome: String

    init(exchanges: [Exchange], outcome: String) {
        self.exchanges = exchanges
        self.outcome = outcome
    }

    init(_ file: URL) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: file))
    }

    /// The places of its lists.
    var places: [PointOfInterest] {
        exchanges.flatMap { exchange in
            (try? JSONDecoder().decode([PointOfInterest].self, from: Data(exchange.response.body.utf8))) ?? []
        }
    }
}

extension Scenario {
    /// What an app of this release does.
    static let all: [Scenario] = [
        loading, searching, describing, paging, mapping, keeping, tracking, editing, refusals,
    ].flatMap(\.self)

    /// San José's convention centre, which the seeds surround.
    private static func center() throws -> Coordinate {
        try Coordinate(latitude: 37.3293, longitude: -121.8893)
    }

    private static func isRanked(_ places: [PointOfInterest]) -> Bool {
        let distances = places.compactMap(\.distance)
        return distances.count == places.count && distances == distances.sorted()
    }

    /// A search around the centre.
    private static func search(
        _ name: String, _ change: @escaping @Sendable (inout NearbyPlacesRequest) -> Void,
        isSound: @escaping @Sendable ([PointOfInterest]) -> Bool
    ) -> Scenario {
        Scenario(name) { site in
            var request = NearbyPlacesRequest(center: try center(), limit: 10)
            change(&request)
            return try await site.service.nearbyPlaces(request).places
        } isSound: { places in
            !places.isEmpty && isRanked(places) && isSound(places)
        }
    }

    private static let loading: [Scenario] = [
        Scenario("loader") { site in
            let request = PointsOfInterestRequest(baseURL: site.baseURL, radiusMeters: 1000, limit: 20)
            return try await APIRequestLoader(apiRequest: request, urlSession: site.session)
                .loadAPIRequest(requestData: center())
        } isSound: { places in
            places.count == 20 && isRanked(places) && places.allSatisfy { ($0.distance ?? .infinity) <= 1000 }
        },
        Scenario("place") { site in
            try await site.service.place(id: 84, center: center())
        } isSound: { place in
            // An id is never given to another place, so this one is the same for good.
            place.id == 84 && place.distance != nil
                && place.source?.id == "san-jose-mcenery-convention-center"
        },
        Scenario("categories") { site in
            try await site.service.categories()
        } isSound: { categories in
            let counts = categories.map(\.count)
            return counts == counts.sorted(by: >) && categories.contains { $0.name == "park" && $0.count > 0 }
        },
        Scenario("unchanged") { site -> [[PointOfInterest]] in
            // The second time the client asks with the tag that it has kept.
            let service = site.service
            let request = NearbyPlacesRequest(center: try center(), limit: 3)
            let first = try await service.nearbyPlaces(request).places
            return [first, try await service.nearbyPlaces(request).places]
        } isSound: { responses in
            responses.map(\.count) == [3, 3] && responses.first == responses.last
        },
    ]

    private static let searching: [Scenario] = [
        search("category") {
            $0.categories = ["park", "museum"]
        } isSound: { places in
            places.allSatisfy { ["park", "museum"].contains($0.category) }
        },
        search("text") {
            $0.searchText = "SAN jose mus"
        } isSound: { places in
            places.contains { $0.source?.id == "san-jose-museum-of-art" }
        },
        search("featured") {
            $0.featured = true
        } isSound: { places in
            places.allSatisfy(\.featured)
        },
        Scenario("box") { site in
            guard let box = BoundingBox(west: -122, south: 37, east: -121, north: 38) else { return [] }
            return try await site.service.nearbyPlaces(NearbyPlacesRequest(box: box, limit: 10)).places
        } isSound: { (places: [PointOfInterest]) in
            places.count == 10 && places.allSatisfy { $0.distance == nil && (37...38).contains($0.latitude) }
        },
        Scenario("box-across-the-antimeridian") { site in
            guard let box = BoundingBox(west: 170, south: -60, east: -170, north: 60) else { return [] }
            return try await site.service.nearbyPlaces(NearbyPlacesRequest(box: box, limit: 10)).places
        } isSound: { (places: [PointOfInterest]) in
            !places.isEmpty && places.allSatisfy { abs($0.longitude) >= 170 }
        },
    ]

    /// Lists of places.
    private static let describing: [Scenario] = [
        Scenario("relevance") { site in
            var pages: [[PointOfInterest]] = []
            let request = NearbyPlacesRequest(searchText: "tower", center: try center(), limit: 2)
            let pager = site.service.pager(for: request)
            while pages.count < 2, let page = try await pager.loadNext() { pages.append(page.places) }
            return pages
        } isSound: { pages in
            let places = pages.flatMap(\.self)
            return pages.count == 2 && Set(places.map(\.id)).count == places.count
                && places.contains { $0.source?.id == "eiffel-tower" }
        },
        Scenario("ids") { site in
            try await site.service.nearbyPlaces(NearbyPlacesRequest(ids: [84, 83, .max], center: center()))
                .places
        } isSound: { places in
            isRanked(places) && Set(places.map(\.id)) == [83, 84]
        },
        Scenario("names") { site in
            var request = NearbyPlacesRequest(searchText: "エッフェル塔")
            request.languages = ["ja-JP", "en"]
            request.properties = ["height_metres", "material"]
            return try await site.service.nearbyPlaces(request).places
        } isSound: { places in
            let names = places.map(\.name)
            return names.contains("エッフェル塔") && places[0].language == "ja"
                && places[0].properties?["height_metres"] != nil
        },
        search("property") {
            $0.propertyFilters = [PropertyFilter("world_heritage", is: true)]
            $0.properties = ["world_heritage"]
        } isSound: { places in
            places.allSatisfy { $0.properties?["world_heritage"] != nil }
        },
    ]

    private static let paging: [Scenario] = [
        Scenario("pages") { site in
            var pages: [[PointOfInterest]] = []
            let request = NearbyPlacesRequest(center: try center(), radiusMeters: 2000, limit: 15)
            let pager = site.service.pager(for: request)
            while let page = try await pager.loadNext() { pages.append(page.places) }
            return pages
        } isSound: { pages in
            let places = pages.flatMap(\.self)
            return pages.count > 2 && isRanked(places) && Set(places.map(\.id)).count == places.count
                && pages.dropLast().allSatisfy { $0.count == 15 }
        }
    ]

    private static let mapping: [Scenario] = [
        Scenario("clusters") { site in
            guard let box = BoundingBox(west: -122, south: 37, east: -121, north: 38) else {
                throw URLError(.badURL)
            }
            return try await site.service.clusters(ClustersRequest(box: box, zoom: 10))
        } isSound: { response in
            let clusters = response.clusters
            let places = clusters.map(\.count).reduce(0, +)
            return response.zoom == 10 && places >= 20
                && clusters.allSatisfy { ($0.place == nil) == ($0.count > 1) }
        },
        Scenario("attributions") { site in
            try await site.service.attributions()
        } isSound: { attributions in
            !attributions.isEmpty && attributions.allSatisfy { $0.places > 0 && !$0.license.isEmpty }
        },
    ]

    /// A region on the device, which is compared once more when it is whole.
    private static let keeping: [Scenario] = [
        Scenario("region") { site -> [[PointOfInterest]] in
            let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: folder) }
            let regions = try OfflineRegions(directory: folder)
            let region = try OfflineRegion(name: "San José", around: center(), radiusMeters: 500)
            try regions.add(region)
            try await regions.update(region.id, from: site.service)
            try await regions.update(region.id, from: site.service)
            let kept = OfflinePlaceFinder(regions: regions)
            let byWords = NearbyPlacesRequest(searchText: "convention", center: try center(), limit: 2)
            return [
                try await kept.nearbyPlaces(NearbyPlacesRequest(center: center(), limit: 5)).places,
                try await kept.nearbyPlaces(byWords).places,
            ]
        } isSound: { lists in
            lists.count == 2 && lists[0].count == 5 && isRanked(lists[0])
                && lists[1].first?.source?.id == "san-jose-mcenery-convention-center"
        }
    ]

    private static let tracking: [Scenario] = [
        Scenario("events") { site in
            // Sent twice, as where the response to the first is lost.
            let event = TrackedEvent(
                userID: "scenario", time: Date.now.timeIntervalSince1970, event: .featuredShown(place: 84),
                isTest: true)
            return [try await site.service.send([event]), try await site.service.send([event])]
        } isSound: { responses in
            responses == [
                EventsResponse(accepted: 1, duplicates: 0), EventsResponse(accepted: 0, duplicates: 1),
            ]
        }
    ]

    /// What a person with an editor's key does with a place, which is gone at the end.
    private struct Edited: Encodable {
        var records: [EditablePlace] = []
        var versions: [PlaceVersion] = []
        /// The place as it is for one who has seen an older version.
        var current: EditablePlace?
    }

    private static let editing: [Scenario] = [
        Scenario("editing") { site -> Edited in
            let editor = PlaceEditor(
                service: site.service, headers: { _ in ["Authorization": "Bearer \(site.editorKey)"] })
            let draft = PlaceDraft(
                name: "Scenario", category: "cafe", latitude: -48.8767, longitude: -123.3933,
                address: "1 Scenario Street", names: ["ja": "例"], properties: ["phone": "1"])
            var edited = Edited()
            let made = try await editor.create(draft, dataset: "editorial-scenario")
            let corrected = try await editor.correct(made) { draft in
                (draft.name, draft.address, draft.properties["phone"]) = ("Corrected", nil, "2")
            }
            do {
                try await editor.remove(made)
            } catch PlaceEditorError.conflict(let conflict) {
                edited.current = conflict.current
            }
            edited.records = [
                made, corrected, try await editor.reset(corrected, members: ["name"]),
                try await editor.record(of: made.id),
            ]
            try await editor.remove(edited.records[2])
            edited.versions = try await editor.versions(of: made.id).versions
            return edited
        } isSound: { edited in
            let names = edited.records.map(\.draft.name)
            return names == ["Scenario", "Corrected", "Scenario", "Scenario"]
                && edited.current == edited.records[1] && edited.records[2] == edited.records[3]
                && edited.records[1].sourceValues.count == 3
                && edited.versions.map(\.isRemoval) == [true, false, false]
        },
        Scenario("changes") { site -> [RecentChange] in
            let editor = PlaceEditor(
                service: site.service, headers: { _ in ["Authorization": "Bearer \(site.editorKey)"] })
            let draft = PlaceDraft(
                name: "Scenario", category: "cafe", latitude: -48.9, longitude: -123.5)
            let made = try await editor.create(draft, dataset: "editorial-scenario")
            try await editor.remove(try await editor.correct(made) { $0.name = "Corrected" })
            let box = BoundingBox(west: -123.51, south: -48.91, east: -123.49, north: -48.89)
            return try await editor.changes(in: box, limit: 2).changes
        } isSound: { changes in
            changes.map(\.version.isRemoval) == [true, false]
                && changes.map(\.name) == ["Corrected", "Scenario"]
                && Set(changes[1].version.changes.keys) == ["name", "source of name"]
        },
        Scenario("report") { site -> UUID in
            let id = UUID(uuidString: "5C1F2E2A-7C55-4B1E-9C5E-0B6B2B2C9D11") ?? UUID()
            try await site.service.report(PlaceReport(id: id, place: 84, reason: .closed, text: "a scenario"))
            return id
        } isSound: { _ in
            true
        },
    ]

    private static let refusals: [Scenario] = [
        refusal("wrong-parameters", .outOfRange, of: ["radius", "q"]) { service in
            let request = NearbyPlacesRequest(
                center: try center(), radiusMeters: -1, searchText: String(repeating: "a", count: 101),
                featured: true)
            _ = try await service.nearbyPlaces(request)
        },
        refusal("unknown-category", .unknownCategory, of: ["category"]) { service in
            _ = try await service.nearbyPlaces(
                NearbyPlacesRequest(center: try center(), categories: ["no_such_category"]))
        },
        refusal("unknown-property", .unknownProperty, of: ["property.no_such_property"]) { service in
            var request = NearbyPlacesRequest(center: try center())
            request.propertyFilters = [PropertyFilter("no_such_property", is: true)]
            _ = try await service.nearbyPlaces(request)
        },
        refusal("no-such-place", .notFound, of: []) { service in
            _ = try await service.place(id: .max)
        },
    ]

    /// A request that is refused: the app gets the code, and the parameters' names.
    private static func refusal(
        _ name: String, _ code: ProblemCode, of parameters: Set<String>,
        _ ask: @escaping @Sendable (PointsOfInterestService) async throws -> Void
    ) -> Scenario {
        Scenario(name) { site in
            do {
                try await ask(site.service)
                return Problem(.unspecified)
            } catch let error as RequestError {
                guard let problem = error.problem else { throw error }
                return problem
            }
        } isSound: { problem in
            problem.code == code && Set(problem.errors.map(\.parameter)) == parameters
        }
    }
}

extension Scenario.Site {
    /// The client; without retries, so that each request is asked once.
    var service: PointsOfInterestService {
        PointsOfInterestService(
            baseURL: baseURL, urlSession: session, retryPolicy: .never)
    }
}
