import BruteForce
import Foundation
import Locking
import PointsOfInterestAPI
import PointsOfInterestClient
import PointsOfInterestHTTP
import PointsOfInterestServerAPI
import PointsOfInterestTesting
import Randomness
import SpatialIndex
import Testing

@testable import Places

/// A table of places and servers that have it in memory, some of them as it was earlier. A phone asks them through a `Link`.
final class Fleet: Sendable {
    /// The table after a transaction: the number of each place's content, by ids.
    typealias Table = [Int: Int]

    /// A dataset as servers have it.
    struct Version: Sendable {
        let number: Int
        let table: Table
        let snapshot: IndexSnapshot
    }

    fileprivate struct State {
        /// The newest versions, the last one last.
        var versions: [Version]
        /// How many versions behind the last one each server is.
        var lags: [Int]
        var contents: [StoredPlace]
        var attributions: [Attribution] = []
        var labels: CategoryLabels = .none
    }

    /// So many versions are kept.
    private static let maximumLag = 20

    private let state: Lock<State>

    init(_ places: [StoredPlace], serverCount: Int = 1, properties: FilterableProperties = .none) {
        let table = Dictionary(uniqueKeysWithValues: places.enumerated().map { ($1.place.id, $0) })
        let first = Version(
            number: 0, table: table, snapshot: Self.snapshot(places, IndexVocabulary(properties: properties)))
        state = Lock(
            State(versions: [first], lags: Array(repeating: 0, count: serverCount), contents: places))
    }

    private static var newVersion: IndexVersion {
        IndexVersion(
            revision: 1, datasetIDHigh: .random(in: 0 ... .max), datasetIDLow: .random(in: 0 ... .max))
    }

    private static func snapshot(_ places: [StoredPlace], _ vocabulary: IndexVocabulary) -> IndexSnapshot {
        IndexSnapshot(part: part(places, vocabulary), version: newVersion)
    }

    private static func part(_ places: [StoredPlace], _ vocabulary: IndexVocabulary) -> IndexPart {
        var builder = IndexPartBuilder(expecting: places.count, vocabulary: vocabulary)
        for place in places {
            let isAdded = builder.add(place.fields)
            #expect(isAdded)
        }
        return builder.build()
    }

    var current: Version { state.withLock { $0.versions[$0.versions.count - 1] } }

    func content(_ number: Int) -> StoredPlace { state.withLock { $0.contents[number] } }

    func set(_ attributions: [Attribution], _ labels: CategoryLabels) {
        state.withLock { ($0.attributions, $0.labels) = (attributions, labels) }
    }

    /// Says how far each server is behind.
    func lag(_ lags: [Int]) { state.withLock { $0.lags = lags } }

    /// Replaces and adds places, and removes those with some ids.
    func commit(_ changed: [StoredPlace], removing removed: [Int] = []) {
        state.withLock { state in
            let before = state.versions[state.versions.count - 1]
            var table = before.table
            for id in removed { table[id] = nil }
            for place in changed {
                table[place.place.id] = state.contents.count
                state.contents.append(place)
            }
            let snapshot = before.snapshot.applying(
                removedIDs: removed.map(Int64.init),
                added: changed.isEmpty ? nil : Self.part(changed, before.snapshot.vocabulary),
                version: Self.newVersion)
            state.add(Version(number: before.number + 1, table: table, snapshot: snapshot), Self.maximumLag)
        }
    }

    /// Makes the table what it was at an earlier time, or lets servers find places by other properties.
    func restore(_ table: Table, properties: FilterableProperties? = nil) {
        state.withLock { state in
            let before = state.versions[state.versions.count - 1]
            let vocabulary = properties.map { IndexVocabulary(properties: $0) } ?? before.snapshot.vocabulary
            let snapshot = Self.snapshot(table.values.map { state.contents[$0] }, vocabulary)
            state.add(Version(number: before.number + 1, table: table, snapshot: snapshot), Self.maximumLag)
        }
    }

    /// The version that one of the servers has.
    fileprivate func version(using generator: inout SeededGenerator) -> Version {
        let random = generator.next()
        return state.withLock { state in
            let lag = state.lags[Int(random % UInt64(state.lags.count))]
            return state.versions[max(0, state.versions.count - 1 - lag)]
        }
    }

    fileprivate var attributions: [Attribution] { state.withLock { $0.attributions } }
    fileprivate var labels: CategoryLabels { state.withLock { $0.labels } }
}

extension Fleet.State {
    mutating func add(_ version: Fleet.Version, _ maximumLag: Int) {
        versions.append(version)
        if versions.count > maximumLag + 1 { versions.removeFirst() }
    }
}

/// Between a phone and the servers: each request is answered by one of them, and may be the last one before the phone is killed.
final class Link: RequestMiddleware {
    private struct State {
        var generator: SeededGenerator
        var requestCount = 0
        var byteCount = 0
        /// After how many more requests the phone is killed; nil for never.
        var remaining: Int?
        /// What a request does before it is answered.
        var before: (@Sendable (DigestRequest) -> Void)?
        /// The version that the sums of groups were last told from.
        var compared: Fleet.Version?
    }

    private let fleet: Fleet
    private let state: Lock<State>
    private let cache = DigestCache()

    init(_ fleet: Fleet, seed: UInt64 = 1) {
        self.fleet = fleet
        state = Lock(State(generator: SeededGenerator(seed: seed)))
    }

    var service: PointsOfInterestService {
        PointsOfInterestService(
            baseURL: AppConfiguration.mock.baseURL, responseStore: nil,
            retryPolicy: RetryPolicy(attempts: 1), middleware: [self])
    }

    /// The version that the phone has compared its places with last.
    var compared: Fleet.Version? { state.withLock { $0.compared } }

    /// How many requests were answered, and the bytes of their bodies, since this was asked last.
    func takeCounts() -> (requests: Int, bytes: Int) {
        state.withLock { state in
            defer { (state.requestCount, state.byteCount) = (0, 0) }
            return (state.requestCount, state.byteCount)
        }
    }

    /// Kills the phone after so many more requests; nil lets it live.
    func kill(after count: Int?) { state.withLock { $0.remaining = count } }

    /// Does something before each request is answered.
    func before(_ body: (@Sendable (DigestRequest) -> Void)?) { state.withLock { $0.before = body } }

    func intercept(_ request: OutgoingRequest, next: RequestSender) async throws -> ServiceResponse {
        let url = try #require(request.urlRequest.url)
        let isKilled = state.withLock { state in
            guard let remaining = state.remaining else { return false }
            state.remaining = remaining - 1
            return remaining <= 0
        }
        if isKilled { throw CancellationError() }
        let query = Array(
            (URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedQuery ?? "").utf8)
        let response: ServiceResponse
        switch url.path {
        case EndpointPath.categories:
            let asked = try CategoriesRequest.decode(query: query)
            let snapshot = fleet.current.snapshot
            let counts = zip(snapshot.vocabulary.names, snapshot.categoryCounts)
                .map { CategoryCount(name: $0.0, count: $0.1) }
            response = .json(Data(counts.items(of: asked, fleet.labels).json))
        case EndpointPath.attributions: response = .json(try JSONEncoder().encode(fleet.attributions))
        case EndpointPath.locations: response = try places(query)
        default: response = try digest(query)
        }
        state.withLock { state in
            state.requestCount += 1
            state.byteCount += response.body.count
        }
        return response
    }

    /// The places with some ids.
    private func places(_ query: [UInt8]) throws -> ServiceResponse {
        let request = try NearbyPlacesRequest.decode(query: query)
        let page = try #require(RankedPage(byIDs: request, in: fleet.current.snapshot, FormerIDs()))
        var writer = JSONWriter()
        try PlaceStyle(.json, request.content).write(page.places, to: &writer)
        return .json(Data(writer.bytes))
    }

    private func digest(_ query: [UInt8]) throws -> ServiceResponse {
        let unchecked = try DigestRequest.decode(query: query)
        state.withLock { $0.before }?(unchecked)
        let version = state.withLock { fleet.version(using: &$0.generator) }
        let snapshot = version.snapshot
        let vocabulary = FilterVocabulary(
            categories: snapshot.vocabulary.names, datasets: snapshot.vocabulary.sources.map(\.dataset),
            properties: snapshot.vocabulary.properties)
        let request: DigestRequest
        do {
            request = try DigestRequest.decode(query: query, vocabulary: vocabulary)
        } catch {
            return .json(try JSONEncoder().encode(Problem(error)), status: 400, MediaType.problemJSON)
        }
        let page = try #require(
            snapshot.digestPage(
                for: request, request.encodedFilter, maximumCount: .max, compressedBy: nil, cache,
                until: SearchStop { false }))
        if request.part == .root { state.withLock { $0.compared = version } }
        return .json(Data(page.body))
    }
}

extension ServiceResponse {
    fileprivate static func json(
        _ body: Data, status: Int = 200, _ type: String = MediaType.json
    ) -> ServiceResponse {
        ServiceResponse(head: ResponseHead(status: status, fields: ["Content-Type": type]), body: body)
    }
}

/// A folder that is there for one test.
final class TestFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("regions-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The path of a region's file, or of its download.
    func path(_ region: UUID, _ suffix: String) -> String {
        url.appendingPathComponent(region.uuidString.lowercased() + suffix).path
    }
}

/// What places have in these tests.
enum Sample {
    static let categories = ["cafe", "museum", "zoo"]
    static let names = [
        "Alba", "Café \"Zur Post\"", "Museum für Naturkunde", "Bäckerei am Markt", "\\Strange/", "京都駅",
        "St. Mary's Church", "Zoo", "Große Straße", "Alba Nova",
    ]

    /// A place with some of what a place may have.
    static func place(
        _ id: Int, at position: Coordinate, using generator: inout SeededGenerator
    ) -> StoredPlace {
        func maybe<Value>(_ value: Value) -> Value? { Bool.random(using: &generator) ? value : nil }
        let status = Int.random(in: 0..<10, using: &generator)
        let place = PointOfInterest(
            id: id, name: names.pick(using: &generator), category: categories.pick(using: &generator),
            latitude: position.latitude, longitude: position.longitude,
            featured: Int.random(in: 0..<5, using: &generator) == 0,
            address: maybe("Hauptstraße \(id % 90), \(names.pick(using: &generator))"),
            website: maybe("https://example.com/\(id)?a=\"b\""),
            source: maybe(
                .init(dataset: ["osm", "city"].pick(using: &generator), id: "n/\(id)", license: "ODbL-1.0")),
            importance: [0, 0, 3, 700].pick(using: &generator),
            properties: maybe([
                "kind": ["a", "b"].pick(using: &generator), "n": 1.5, "deep": ["x": [1, .null]],
            ]),
            operatingStatus: status == 0 ? .permanentlyClosed : status == 1 ? .temporarilyClosed : nil,
            version: Int.random(in: 1...1000, using: &generator),
            updatedAt: Date(
                timeIntervalSince1970: Double(Int.random(in: 0...2_000_000_000, using: &generator))))
        return StoredPlace(
            place,
            names: maybe(["de": "Ä \"\(names.pick(using: &generator))\"", "zh-Hant": "動物園", "fr": "Musée"])
                ?? [:],
            otherNames: maybe(
                ["Old \(names.pick(using: &generator))", "\\C\t"].map { $0.replacing("\t", with: "") }) ?? [])
    }
}

extension BoundingBox {
    /// All of the Earth.
    static let world = BoundingBox(validWest: -180, south: -90, east: 180, north: 90)
}
