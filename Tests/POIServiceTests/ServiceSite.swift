import PointsOfInterestServerAPI
import BruteForce
import EventLoop
import Foundation
import HTTPServer
import MockService
import PointsOfInterestAPI

@testable import POIService
@testable import Places
@testable import Program
@testable import Telemetry

/// The service on one loop, without a socket: all that stands between a request and the store.
final class ServiceSite {
    let health = Health(requiresDatabase: false)
    private let handler: ServiceDispatcher
    private let log: LogFile

    init(
        _ store: any PlaceStore = StubStore(), events: any EventStore = MemoryEventStore(),
        edits: (any EditStore)? = nil, reports: (any ReportStore)? = nil, environment: [String: String] = [:]
    ) throws {
        var reader = SettingsReader(flags: [:], environment: environment)
        let configuration = try ServiceConfiguration(from: &reader, processorCount: 1)
        log = try LogFile()
        handler = ServiceDispatcher(
            store: store, events: events, edits: edits, reports: reports, health: health,
            configuration: configuration,
            errorResponder: ProblemResponder(observability: log.observability),
            observability: log.observability, limits: SharedLimits(configuration))
    }

    /// Sends a request as the server does.
    func ask(
        _ target: String, _ method: HTTPMethod = .get, headers: HTTPHeaders = [:], body: [UInt8] = [],
        from remoteAddress: String? = nil, in context: RequestContext? = nil
    ) async throws -> HTTPResponse {
        let request = try HTTPRequest(method: method, target: target, headers: headers, body: body)
        let context = context ?? RequestContext(requestID: "id-1", remoteAddress: remoteAddress)
        var response = await handler.response(to: request, context: context)
        response.headers.add(contentsOf: context.responseFields)
        return response
    }

    /// Sends a request as the server does; nil where its response has to be waited for.
    func askAtOnce(
        _ target: String, headers: HTTPHeaders = [:], in context: RequestContext? = nil
    ) throws -> HTTPResponse? {
        let request = try HTTPRequest(method: .get, target: target, headers: headers)
        let context = context ?? RequestContext(requestID: "id-1")
        let handler = try handler.admit(request, context: context).handler
        return try handler.respond(to: request, context: context).atOnce
    }

    func problem(
        _ target: String, _ method: HTTPMethod = .get, headers: HTTPHeaders = [:], body: [UInt8] = []
    ) async throws -> Problem {
        try await ask(target, method, headers: headers, body: body).problem()
    }

    /// The process's metrics without labels, by name.
    var metrics: [String: Double] {
        var snapshot = MetricsSnapshot()
        log.observability.collectMetrics(into: &snapshot)
        var numbers: [String: Double] = [:]
        for (metric, series) in snapshot.families {
            if case .number(let number) = series[[]] { numbers[metric.name] = number }
        }
        return numbers
    }

    deinit { log.observability.finish() }
}

extension HTTPResponse {
    /// The body as text.
    var text: String { String(decoding: body, as: UTF8.self) }

    /// The response's problem.
    func problem() throws -> Problem { try JSONDecoder().decode(Problem.self, from: Data(body)) }
}

/// A store that does what a test tells it to, and counts what it is asked.
final class StubStore: PlaceStore {
    typealias Answer = (NearbyPlacesRequest) async throws(PlaceStoreError) -> [PointOfInterest]

    /// What the store knows without being asked.
    var currentDatasetID: DatasetID?
    var vocabulary: FilterVocabulary?
    /// What an answer given now rests on; nil where that is `currentDatasetID`.
    var answeredDatasetID: DatasetID?
    /// The vocabulary for those who ask.
    var freshVocabulary: FilterVocabulary?
    /// Why it can't be read now.
    var vocabularyError: PlaceStoreError?
    /// Where pages end.
    var end: PagePosition?
    var databaseDuration: Duration?
    var staleSeconds: Int?
    /// Whether the store has pages and clusters of `places` at once.
    var respondsAtOnce = false
    /// The places that there are by their ids.
    var places: [PointOfInterest] = []
    /// What became of places that aren't there.
    var former: [Int: FormerPlace] = [:]
    /// Whether edits are served when their requests are responded to.
    var servesEdits = true
    private let answer: Answer
    /// The requests so far.
    private(set) var requests: [NearbyPlacesRequest] = []
    private(set) var categoriesCount = 0
    private(set) var clustersCount = 0
    private(set) var digestCount = 0
    private(set) var attributionsCount = 0
    private(set) var vocabularyCount = 0

    init(_ answer: @escaping Answer = { (_) throws(PlaceStoreError) in [] }) {
        self.answer = answer
    }

    func currentVocabulary() -> Stored<FilterVocabulary> {
        .later { [self] () throws(PlaceStoreError) in
            vocabularyCount += 1
            if let vocabularyError { throw vocabularyError }
            return freshVocabulary ?? vocabulary ?? FilterVocabulary(categories: [])
        }
    }

    private func page(_ places: [PointOfInterest]) -> RankedPage {
        RankedPage(
            places: PlainPlaces(places), end: end, datasetID: answeredDatasetID ?? currentDatasetID,
            databaseDuration: databaseDuration)
    }

    func places(
        for request: NearbyPlacesRequest, from client: @autoclosure () -> IPAddress
    ) -> Stored<RankedPage> {
        let ids = Set(request.ids)
        let named = places.filter { ids.contains($0.id) }
        if respondsAtOnce { return .now(page(ids.isEmpty ? places : named)) }
        return .later { [self] () throws(PlaceStoreError) in
            requests.append(request)
            return page(ids.isEmpty ? try await answer(request) : named)
        }
    }

    func place(for request: PlaceRequest) -> Stored<RankedPage> {
        guard let former = former[request.id] else {
            return places(for: NearbyPlacesRequest(request), from: .unknown)
        }
        let page = RankedPage(places: NoPlaces(former: former), datasetID: currentDatasetID)
        return respondsAtOnce ? .now(page) : .later { page }
    }

    func clusters(
        for request: ClustersRequest, from client: @autoclosure () -> IPAddress
    ) -> Stored<ClusterPage> {
        let sums = places.map { place in
            var sum = ClusterSum()
            sum.add(latitude: place.latitude, longitude: place.longitude)
            return sum
        }
        let page = ClusterPage(
            sums: sums, places: PlainPlaces(places), datasetID: answeredDatasetID ?? currentDatasetID)
        if respondsAtOnce { return .now(page) }
        return .later { [self] () throws(PlaceStoreError) in
            clustersCount += 1
            return page
        }
    }

    func digest(
        for request: DigestRequest, maximumCount: Int, compressedBy compress: DigestPage.Compression?,
        from client: @autoclosure () -> IPAddress
    ) -> Stored<DigestPage> {
        let datasetID = answeredDatasetID ?? currentDatasetID ?? DatasetID(high: 0, low: 0)
        let page = DigestPage(count: places.count, body: Array("{}".utf8), datasetID: datasetID)
        if respondsAtOnce { return .now(page) }
        return .later { [self] () throws(PlaceStoreError) in
            digestCount += 1
            return page
        }
    }

    func categories() -> Stored<DatasetCounts<CategoryCount>> {
        .later { [self] () throws(PlaceStoreError) in
            categoriesCount += 1
            return DatasetCounts(
                [CategoryCount(name: "park", count: 2)], datasetID: answeredDatasetID ?? currentDatasetID,
                databaseDuration: databaseDuration)
        }
    }

    func attributions() -> Stored<DatasetCounts<Attribution>> {
        .later { [self] () throws(PlaceStoreError) in
            attributionsCount += 1
            return DatasetCounts(
                [Attribution(dataset: "set", license: "CC0-1.0", places: 2)],
                datasetID: answeredDatasetID ?? currentDatasetID,
                databaseDuration: databaseDuration)
        }
    }

    func waitUntilServed(_ revision: Int64, atMost time: Duration) async -> Bool { servesEdits }

    func checkHealth() async -> StoreHealth? { .reachable(missingMigrations: []) }

    func close() async {}
}

/// A log that a test reads when all is written.
struct LogFile {
    let observability: Observability
    private let file: FileHandle
    private let url = FileManager.default.temporaryDirectory.appending(path: "poi-\(UUID()).log")

    init(format: LogFormat = .json) throws {
        try Data().write(to: url)
        file = try FileHandle(forUpdating: url)
        try FileManager.default.removeItem(at: url)
        observability = try Observability(
            format: format, logsAccess: true, descriptor: file.fileDescriptor)
    }

    /// Ends the log, and returns its lines.
    func finish() throws -> [String] {
        observability.finish()
        try file.seek(toOffset: 0)
        let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        return text.split(separator: "\n").map(String.init)
    }
}

extension NowOrLaterResponse {
    /// The response, if it is there at once.
    var atOnce: HTTPResponse? {
        if case .now(let response) = self { response } else { nil }
    }
}
