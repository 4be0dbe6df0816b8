import Bytes
import BruteForce
import EventLoop
import Foundation
import HTTPServer
import Locking
import Loopback
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Randomness
import Testing

@testable import POIService
@testable import Places
@testable import Program

/// Phones that keep a region equal to the service's by sums, by the protocol as it is documented.
@Suite("Sums of places for phones", .timeLimit(.minutes(5)))
struct DigestTests {
    /// What a phone has of a place.
    private struct Kept: Equatable {
        let hash: UInt64
        let place: JSONValue.Object
    }

    private static func number(_ text: String) throws -> UInt64 {
        try #require(Base64URL.decode(text.utf8)).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// A phone with a filter, which asks the service as an app does.
    private final class Phone {
        let filter: String
        let site: ServiceSite
        private(set) var places: [Int64: Kept] = [:]
        private(set) var requestCount = 0

        init(_ filter: String, _ site: ServiceSite) { (self.filter, self.site) = (filter, site) }

        private var sums: [PlaceSum] {
            var sums = Array(repeating: PlaceSum(), count: PlaceDigest.bucketCount)
            for (id, kept) in places { sums[PlaceDigest.bucket(ofID: id)].add(id: id, hash: kept.hash) }
            return sums
        }

        private func ask(_ part: String) async throws -> JSONValue.Object {
            requestCount += 1
            let query = [filter, part].filter { !$0.isEmpty }.joined(separator: "&")
            let response = try await site.ask("/locations/digest?\(query)")
            try #require(response.status == .ok, "\(query): \(response.text)")
            guard
                case .object(let object) = try JSONDecoder().decode(
                    JSONValue.self, from: Data(response.text.utf8))
            else { throw CocoaError(.coderInvalidValue) }
            return object
        }

        private static func texts(_ value: JSONValue?) -> [String] {
            if case .array(let values) = value { values.compactMap(\.text) } else { [] }
        }

        /// Three rounds at most; returns how many places were sent.
        func compare() async throws -> Int {
            requestCount = 0
            let own = sums
            let root = Self.texts(try await ask("")["sums"])
            try #require(root.count == PlaceDigest.groupCount)
            let groups = (0..<64).filter { group in
                let sum = own[group * 64..<group * 64 + 64].reduce(into: PlaceSum()) { $0.add($1) }
                return DigestRequest.text(sum.value) != root[group]
            }
            guard !groups.isEmpty else { return 0 }
            let list = groups.map(String.init).joined(separator: ",")
            guard case .object(let found) = try await ask("group=\(list)")["groups"] else { return 0 }
            var buckets: [Int] = []
            for (name, values) in found.members {
                let (group, texts) = (try #require(Int(name)), Self.texts(values))
                try #require(texts.count == 64)
                buckets += (0..<64).map { group * 64 + $0 }.filter {
                    DigestRequest.shortText(own[$0].value) != texts[$0 % 64]
                }
            }
            var count = 0
            while !buckets.isEmpty {
                let names = buckets.prefix(64).map(PlaceDigest.name(ofBucket:)).joined(separator: ",")
                buckets.removeFirst(min(64, buckets.count))
                count += try take(try await ask("bucket=\(names)&names=all"))
            }
            return count
        }

        /// Replaces whole buckets.
        func take(_ response: JSONValue.Object) throws -> Int {
            guard case .object(let buckets) = response["buckets"] else { return 0 }
            var count = 0
            for (name, value) in buckets.members {
                let bucket = try #require(PlaceDigest.bucket(named: name))
                places = places.filter { PlaceDigest.bucket(ofID: $0.key) != bucket }
                guard case .array(let sent) = value else { continue }
                for case .object(let place) in sent {
                    guard case .integer(let id) = place["id"] else { continue }
                    places[Int64(id)] = Kept(
                        hash: try number(try #require(place["hash"]?.text)), place: place)
                    count += 1
                }
            }
            return count
        }

        /// All of a group, as a first download asks for it.
        func download() async throws {
            for group in 0..<64 { _ = try take(try await ask("group=\(group)&places=true&names=all")) }
        }
    }

    private static let categories = NameVocabulary(["cafe", "museum", "zoo"])

    private static func place(_ id: Int, _ generator: inout SeededGenerator) -> StoredPlace {
        let categories = Array(categories.sortedNames)
        let place = PointOfInterest(
            id: id, name: "\"\(Int.random(in: 0..<5, using: &generator))\" Alba",
            category: categories[Int.random(in: 0..<3, using: &generator)],
            latitude: .random(in: -60...60, using: &generator),
            longitude: .random(in: -180...180, using: &generator),
            featured: .random(using: &generator),
            operatingStatus: Int.random(in: 0..<9, using: &generator) == 0 ? .permanentlyClosed : nil,
            version: Int.random(in: 1...1000, using: &generator), updatedAt: Date(timeIntervalSince1970: 0))
        let hasNames = Bool.random(using: &generator)
        return StoredPlace(
            place, names: hasNames ? ["de": "Ä \"\(id)\""] : [:],
            otherNames: hasNames ? ["B\(id)", "\\C"] : [])
    }

    @Test("Phones that compare are equal to the service, whatever changed meanwhile, by few requests")
    func phones() async throws {
        try await onLoop { loop in
            var generator = SeededGenerator()
            var places: [Int: StoredPlace] = [:]
            for id in 1...3000 { places[id] = Self.place(id, &generator) }
            let index = try #require(ServedIndex(places.values.map(\.fields), categories: Self.categories))
            let store = IndexedPlaceStore(index, requestTimeout: .seconds(60), loop: loop)
            let site = try ServiceSite(store, environment: ["POI_DIGEST_MAX_PLACES": "5000"])
            let filters: [(query: String, matches: (PointOfInterest) -> Bool)] = [
                ("", { _ in true }),
                (
                    "bbox=100,-30,-60,50",
                    { place in
                        (place.longitude >= 100 || place.longitude <= -60)
                            && (-30...50).contains(place.latitude)
                    }
                ),
                (
                    "bbox=-10,-30,60,50&category=cafe,zoo&featured=true",
                    { place in
                        (-10...60).contains(place.longitude) && (-30...50).contains(place.latitude)
                            && place.featured
                            && place.category != "museum"
                    }
                ),
            ]
            let phones = filters.map { Phone($0.query, site) }
            try await phones[0].download()
            for round in 0..<12 {
                for (phone, filter) in zip(phones, filters) where round == 0 || Bool.random(using: &generator)
                {
                    let sent = try await phone.compare()
                    let expected = places.values.filter {
                        $0.place.operatingStatus != .permanentlyClosed && filter.matches($0.place)
                    }
                    #expect(Set(phone.places.keys) == Set(expected.map { Int64($0.place.id) }))
                    for stored in expected {
                        let kept = try #require(phone.places[Int64(stored.place.id)]?.place)
                        #expect(kept["name"]?.text == stored.place.name)
                        #expect(kept["category"]?.text == stored.place.category)
                        #expect(kept["longitude"] == .number(stored.place.longitude))
                    }
                    if round == 0, filter.query.isEmpty { #expect(sent == 0 && phone.requestCount == 1) }
                    #expect(try await phone.compare() == 0)
                    #expect(phone.requestCount == 1)
                }
                for _ in 0..<[0, 1, 30, 400].pick(using: &generator) {
                    let id = Int.random(in: 1...3200, using: &generator)
                    places[id] = Bool.random(using: &generator) ? nil : Self.place(id, &generator)
                }
                _ = index.serve(places.values.map(\.fields), categories: Self.categories, properties: .none)
            }
            await store.close()
        }
    }

    @Test("Names in languages and searched ones come with a place where they are asked for")
    func names() async throws {
        try await onLoop { loop in
            var generator = SeededGenerator()
            let place = PointOfInterest(id: 7, name: "A", category: "cafe", latitude: 1, longitude: 2)
            let stored = [StoredPlace(place, names: ["de": "Ä \"1\""], otherNames: ["B", "\\C"])]
            let index = try #require(ServedIndex(stored.map(\.fields), categories: Self.categories))
            let store = IndexedPlaceStore(index, requestTimeout: .seconds(60), loop: loop)
            let site = try ServiceSite(store, environment: ["POI_DIGEST_MAX_PLACES": "1"])
            let bucket = PlaceDigest.name(ofBucket: PlaceDigest.bucket(ofID: 7))
            let all = try await site.ask("/locations/digest?bucket=\(bucket)&names=all")
            #expect(all.text.contains(#","names":{"de":"Ä \"1\""},"otherNames":["B","\\C"]}"#), "\(all.text)")
            #expect(!(try await site.ask("/locations/digest?bucket=\(bucket)").text.contains("names")))
            let tag = try #require(all.headers.first(.eTag))
            let again = try await site.ask(
                "/locations/digest?bucket=\(bucket)&names=all", headers: [.ifNoneMatch: tag])
            #expect(again.status == .notModified)
            let more = [Self.place(8, &generator), Self.place(9, &generator), Self.place(10, &generator)]
            _ = index.serve((stored + more).map(\.fields), categories: Self.categories, properties: .none)
            let problem = try await site.problem("/locations/digest")
            #expect(problem.code == .areaTooLarge && problem.status == 400)
            await store.close()
        }
    }

    @Test("A long body is compressed where it was written, and not on the loop, and the handler sends it so")
    func compression() async throws {
        try await onLoop { loop in
            var generator = SeededGenerator()
            let places = (1...3000).map { Self.place($0, &generator) }
            let index = try #require(ServedIndex(places.map(\.fields), categories: Self.categories))
            let store = IndexedPlaceStore(index, requestTimeout: .seconds(60), loop: loop)
            let onLoop = Lock<[Bool]>([])
            func page(_ part: DigestRequest.Part) async throws -> DigestPage {
                try await store.digest(
                    for: DigestRequest(part: part), maximumCount: 5000,
                    compressedBy: { body in
                        onLoop.withLock { $0.append(loop.isInEventLoop) }
                        return ResponseCompression.gzip(body)
                    }, from: .unknown
                ).value()
            }
            for part in [
                DigestRequest.Part.places(group: 7), .groups(Array(0..<64)), .buckets(Array(0..<64)),
            ] {
                #expect(try await page(part).isCompressed)
            }
            #expect(onLoop.withLock { $0 } == [false, false, false])
            #expect(try await !page(.buckets([0])).isCompressed)

            var reader = SettingsReader(flags: [:], environment: [:])
            let configuration = try ServiceConfiguration(from: &reader, processorCount: 1)
            let handler = DigestHandler(
                store: store, cachePolicy: CachePolicy(configuration.caching, requiresKey: false),
                ignoredParameters: [], loggedCoordinates: .off,
                clients: ClientIdentification(trustedProxies: configuration.access.trustedProxies),
                maximumCount: 5000)
            func response(_ method: HTTPMethod, _ headers: HTTPHeaders) async throws -> HTTPResponse {
                let request = try HTTPRequest(
                    method: method, target: "/locations/digest?group=7&places=true", headers: headers)
                return try await handler.respond(
                    to: request, context: RequestContext(requestID: "id-1")
                ).value()
            }
            let plain = try await response(.get, [:])
            let coded = try await response(.get, [.acceptEncoding: "gzip"])
            #expect(plain.headers.first(.contentEncoding) == nil)
            #expect(coded.headers.first(.contentEncoding) == "gzip")
            let sent = try HTTPRequest(
                method: .post, target: "/", headers: [.contentEncoding: "gzip"], body: coded.body)
            #expect(try RequestDecompression().body(of: sent) == plain.body)
            #expect(try await response(.head, [.acceptEncoding: "gzip"]).body == plain.body)
            await store.close()
        }
    }

    @Test(
        "What is no digest's query is refused",
        arguments: [
            ("q=a", "q"), ("group=64", "group"), ("group=01", "group"), ("group=1,,2", "group"),
            ("bucket=1", "bucket"),
            ("bucket=1.64", "bucket"), ("bucket=1.1&group=1", "bucket"), ("places=true", "places"),
            ("places=true&group=1,2", "places"), ("places=yes&group=1", "places"),
            ("names=de&bucket=1.1", "names"),
            ("names=all", "names"), ("zoom=1", "zoom"), ("bbox=1", "bbox"), ("category=pub", "category"),
        ])
    func refused(query: String, parameter: String) async throws {
        let store = StubStore()
        store.vocabulary = FilterVocabulary(categories: ["cafe"])
        let site = try ServiceSite(store, environment: ["POI_DIGEST_MAX_PLACES": "1"])
        let problem = try await site.problem("/locations/digest?\(query)")
        #expect(problem.status == 400)
        #expect(problem.errors.contains { $0.parameter == parameter }, "\(problem)")
    }

    @Test("Without a key there is no digest, unless it is asked for; and none where it is 0")
    func off() async throws {
        for (environment, isThere) in [
            ([:], false), (["POI_API_KEYS": "0123456789abcdef0123456789abcdef"], true),
            (["POI_DIGEST_MAX_PLACES": "5"], true),
            (["POI_DIGEST_MAX_PLACES": "0", "POI_API_KEYS": "0123456789abcdef0123456789abcdef"], false),
        ] as [([String: String], Bool)] {
            let site = try ServiceSite(environment: environment)
            let response = try await site.ask(
                "/locations/digest", headers: [.authorization: "Bearer 0123456789abcdef0123456789abcdef"])
            #expect(response.status == (isThere ? .ok : .notFound))
        }
    }
}
