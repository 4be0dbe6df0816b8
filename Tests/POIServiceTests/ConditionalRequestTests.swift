import Foundation
import HTTPServer
import PointsOfInterestServerAPI
import PointsOfInterestAPI
import Testing

@testable import POIService
@testable import Places

@Suite("Conditional requests")
struct ConditionalRequestTests {
    private static let place = PointOfInterest(
        id: 7, name: "Seven", category: "park", latitude: 1, longitude: 2)
    /// Those that are also there as GeoJSON.
    private static let placeTargets = [
        "/locations?lat=0&long=0", "/locations?bbox=0,0,1,1", "/locations/7", "/locations/7?lat=0&long=0",
    ]
    private static let targets =
        placeTargets + ["/locations/clusters?zoom=3&bbox=0,0,1,1", "/categories", "/attributions"]
    /// Sums are of places in memory, whose dataset is known.
    private static let digest = "/locations/digest?group=1"

    private static func store() -> StubStore {
        let store = StubStore()
        store.currentDatasetID = DatasetID(high: 1, low: 2)
        store.places = [place]
        return store
    }

    private static func site(_ store: StubStore) throws -> ServiceSite {
        try ServiceSite(store, environment: ["POI_DIGEST_MAX_PLACES": "10"])
    }

    private static func askCount(_ store: StubStore) -> Int {
        store.requests.count + store.categoriesCount
            + store.attributionsCount + store.clustersCount + store.digestCount
    }

    @Test(
        "A client that has the current response gets 304, without a query of the store",
        arguments: targets + [digest])
    func notModified(target: String) async throws {
        let store = Self.store()
        let site = try Self.site(store)
        let fresh = try await site.ask(target)
        #expect(fresh.status == .ok)
        let tag = try #require(fresh.headers.first(.eTag))
        #expect(tag.hasPrefix("W/\""))
        #expect(Self.askCount(store) == 1)

        for field in [tag, String(tag.dropFirst(2)), "\"x\", \(tag)"] {
            for method in [HTTPMethod.get, .head] {
                let answer = try await site.ask(target, method, headers: [.ifNoneMatch: field])
                #expect(answer.status == .notModified)
                #expect(answer.body.isEmpty)
                #expect(answer.headers.first(.eTag) == tag)
                #expect(answer.headers.first(.cacheControl) == fresh.headers.first(.cacheControl))
                #expect(!answer.headers.contains(.contentType))
            }
        }
        #expect(Self.askCount(store) == 1)
    }

    @Test(
        "A response says how old its data are where they may not be the newest any more",
        arguments: targets + [digest])
    func staleness(target: String) async throws {
        let store = Self.store()
        let site = try Self.site(store)
        let tag = try #require(try await site.ask(target).headers.first(.eTag))
        for (isRead, headers): (Bool, HTTPHeaders) in [(true, [:]), (false, [.ifNoneMatch: tag])] {
            for respondsAtOnce in [false, true] {
                store.respondsAtOnce = respondsAtOnce
                store.staleSeconds = nil
                let fresh = try await site.ask(target, headers: headers)
                #expect(fresh.status == (isRead ? .ok : .notModified))
                #expect(!fresh.headers.contains(.staleSeconds))
                store.staleSeconds = 42
                let stale = try await site.ask(target, headers: headers)
                #expect(stale.status == fresh.status)
                #expect(stale.headers.first(.staleSeconds) == "42")
                // The same response otherwise: caches keep it as long, and its tag is confirmed.
                #expect(stale.headers.first(.eTag) == tag)
                #expect(stale.headers.first(.cacheControl) == fresh.headers.first(.cacheControl))
            }
        }
    }

    @Test(
        "An If-Match with tags never holds, since all tags are weak; with * it does",
        arguments: targets + [digest, "/livez", "/", "/openapi.json"])
    func ifMatch(target: String) async throws {
        let store = Self.store()
        store.vocabulary = FilterVocabulary(categories: ["park"])
        let site = try Self.site(store)
        let tag = try await site.ask(target).headers.first(.eTag) ?? "\"x\""
        for method in [HTTPMethod.get, .head] {
            for headers: HTTPHeaders in [
                [.ifMatch: tag], [.ifMatch: "\"x\", \(tag)"], [.ifMatch: ""],
                [.ifMatch: tag, .ifNoneMatch: tag],
            ] {
                let response = try await site.ask(target, method, headers: headers)
                #expect(response.status == .preconditionFailed)
                #expect(try response.problem().code == .preconditionFailed)
            }
            #expect(try await site.ask(target, method, headers: [.ifMatch: "*"]).status == .ok)
        }
        let both = try await site.ask(target, headers: [.ifMatch: "*", .ifNoneMatch: tag])
        #expect(both.status == (tag.hasPrefix("W") ? .notModified : .ok))
    }

    @Test("A request that fails anyway gets its own problem, whatever its If-Match is")
    func ifMatchOfFailure() async throws {
        let site = try Self.site(Self.store())
        for (target, status) in [("/locations/8", 404), ("/locations?lat=91&long=0", 400), ("/nowhere", 404)]
        {
            #expect(try await site.ask(target, headers: [.ifMatch: "\"x\""]).status.code == status)
        }
    }

    @Test(
        "A new dataset, announced or only noticed, gives another tag and a full response",
        arguments: targets + [digest])
    func newDataset(target: String) async throws {
        let store = Self.store()
        let site = try Self.site(store)
        let tag = try #require(try await site.ask(target).headers.first(.eTag))

        store.currentDatasetID = DatasetID(high: 1, low: 3)
        let told = try await site.ask(target, headers: [.ifNoneMatch: tag])
        #expect(told.status == .ok)
        #expect(try #require(told.headers.first(.eTag)) != tag)

        // What the store answers from is what the tag vouches for, not what it was last known to be.
        store.answeredDatasetID = DatasetID(high: 2, low: 2)
        let found = try await site.ask(target)
        #expect(found.headers.first(.eTag)?.isEmpty == false)
        #expect(found.headers.first(.eTag) != told.headers.first(.eTag))
    }

    @Test("A response that turns out to be the client's is 304", arguments: targets + [digest])
    func foundOut(target: String) async throws {
        let store = Self.store()
        let site = try Self.site(store)
        let tag = try #require(try await site.ask(target).headers.first(.eTag))
        store.answeredDatasetID = store.currentDatasetID
        store.currentDatasetID = nil
        let answer = try await site.ask(target, headers: [.ifNoneMatch: tag])
        #expect(answer.status == .notModified)
        #expect(Self.askCount(store) == 2)
    }

    @Test("A response from an older dataset has that dataset's tag, and is 304 for a client that has it")
    func olderDataset() async throws {
        let store = Self.store()
        let site = try Self.site(store)
        let tag = try #require(try await site.ask("/categories").headers.first(.eTag))
        store.answeredDatasetID = store.currentDatasetID
        store.currentDatasetID = DatasetID(high: 1, low: 3)
        let older = try await site.ask("/categories")
        #expect(older.status == .ok)
        #expect(older.headers.first(.eTag) == tag)
        let answer = try await site.ask("/categories", headers: [.ifNoneMatch: tag])
        #expect(answer.status == .notModified)
        #expect(answer.headers.first(.eTag) == tag)
    }

    @Test("A response has no tag if the dataset isn't known", arguments: targets)
    func noDataset(target: String) async throws {
        let store = StubStore()
        store.places = [Self.place]
        let site = try Self.site(store)
        let answer = try await site.ask(target, headers: [.ifNoneMatch: "\"x\""])
        #expect(answer.status == .ok)
        #expect(!answer.headers.contains(.eTag))
        #expect(try await site.ask(target, headers: [.ifNoneMatch: "*"]).status == .notModified)
    }

    @Test("If-None-Match: * holds only for an existing place, so the place is looked up first")
    func any() async throws {
        let store = Self.store()
        let site = try Self.site(store)
        let star: HTTPHeaders = [.ifNoneMatch: "*"]
        #expect(try await site.ask("/locations?lat=0&long=0", headers: star).status == .notModified)
        #expect(try await site.ask("/locations/8", headers: star).status == .notFound)
        #expect(try await site.ask("/locations/7", headers: star).status == .notModified)
        #expect(store.requests.map(\.ids) == [[8], [7]])
    }

    @Test("Tags differ by query, resource and media type, but not by the spelling of a query")
    func tags() async throws {
        let site = try Self.site(Self.store())
        func tag(_ target: String, _ accept: String = "*/*") async throws -> String {
            try #require(try await site.ask(target, headers: [.accept: accept]).headers.first(.eTag))
        }
        var tags: Set<String> = []
        for target in Self.targets + [
            Self.digest, "/locations/digest", "/locations?lat=0&long=0&limit=5", "/locations?lat=0&long=0.1",
        ] {
            #expect(tags.insert(try await tag(target)).inserted, "\(target)")
        }
        for target in Self.placeTargets {
            #expect(tags.insert(try await tag(target, MediaType.geoJSON)).inserted, "\(target)")
        }
        #expect(
            try await tag("/locations?lat=0.10&long=1e1&limit=%2B5")
                == tag("/locations?limit=5&long=10&lat=0.1"))
    }

    @Test("A bad or unacceptable request is refused whatever its tags")
    func refusedFirst() async throws {
        let site = try Self.site(Self.store())
        let star: HTTPHeaders = [.ifNoneMatch: "*", .accept: "text/html"]
        #expect(
            try await site.ask("/locations?lat=91&long=0", headers: [.ifNoneMatch: "*"]).status == .badRequest
        )
        #expect(try await site.ask("/locations?lat=0&long=0", headers: star).status == .notAcceptable)
        #expect(try await site.ask("/categories?x=1", headers: [.ifNoneMatch: "*"]).status == .badRequest)
    }
}

@Suite("The revision of the contract, which entity tags depend on")
struct ContractRevisionTests {
    /// What the responses of each revision hash to, the last one's first. A row is never changed, only a new one is added.
    /// Revision 3 finds more by `q` as well, also by other names, and revision 5 places into which those with an id were merged,
    /// which these responses don't show.
    private static let digests: [(revision: UInt64, digest: UInt64)] = [
        (5, 15_115_476_132_231_361_127),
        (4, 15_115_476_132_231_361_127), (3, 16_402_478_870_604_706_678), (2, 7_201_531_876_882_399_918),
    ]

    private static let places = [
        PointOfInterest(
            id: 1, name: "Plain", category: "park", latitude: 1.25, longitude: -2.5, featured: true,
            distance: 12.34, version: 9_007_199_254_740_991, updatedAt: Date(timeIntervalSince1970: 1e9)),
        PointOfInterest(
            id: 2, name: "Caf\u{E9} \"\u{1F600}\" </a>", category: "cafe", latitude: -90, longitude: 180,
            distance: 0,
            address: "1 First St", website: "https://example.org/?a=b",
            source: PointOfInterest.Source(dataset: "set", id: "a/1", license: "CC0-1.0"), importance: 7,
            properties: ["opening_hours": "24/7", "a \"b\"": [1, 2.5, .null, ["c": true]]],
            operatingStatus: .temporarilyClosed, version: 0, updatedAt: Date(timeIntervalSince1970: 1e9)),
    ]

    private static let targets = [
        "/locations?lat=1&long=2", "/locations?bbox=-1,-1,1,1",
        "/locations?lat=1&long=2&properties=opening_hours",
        "/locations/2", "/locations/2?lat=1&long=2",
        "/locations/clusters?bbox=0,0,1,1&zoom=3", "/categories", "/attributions",
    ]

    @Test(
        "A response that changes over the same places has a new revision, so that no tag of before is confirmed"
    )
    func raised() async throws {
        let store = StubStore { (_) throws(PlaceStoreError) in Self.places }
        store.places = Self.places
        let site = try ServiceSite(store)
        var digest = StableHash.basis
        for target in Self.targets {
            for type in ["application/json", "application/geo+json"] {
                let response = try await site.ask(target, headers: [.accept: type])
                guard response.status == .ok else { continue }
                digest = StableHash.hash("\(target) \(type) \(response.text)", seed: digest)
            }
        }
        let current = try #require(Self.digests.first)
        #expect(
            RepresentationHash.contractRevision == current.revision && digest == current.digest,
            "raise RepresentationHash.contractRevision, and add a row with the digest \(digest)")
    }
}
