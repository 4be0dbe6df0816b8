import Foundation
import Locking
import PointsOfInterestTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What each screen shows when the network or the service fails: "Network faults" in `Documentation/mock-server.md`.
///
/// A screen that was shown before has something kept; one that never was has nothing. The first launch of the app asks a
/// service that works, the second one that fails.
@Suite("The table of network faults", .timeLimit(.minutes(5)))
@MainActor
struct NetworkFaultTests {
    @Test("Each fault shows what is kept, or nothing and why, on every screen", arguments: NetworkFault.all)
    func isShown(fault: NetworkFault) async throws {
        let row = try await Self.row(fault)
        #expect(row.shown == Screen.allCases.flatMap { _ in ["kept", "nothing"] }, "\(fault)")
        #expect(ErrorText.allCases.map(\.english).contains(row.text), "a library's words: \(row.text)")
    }

    @Test("The guide's table is what was seen")
    func isTheGuides() async throws {
        var rows: [(text: String, faults: [String])] = []
        for fault in NetworkFault.all {
            let text = try await Self.row(fault).text
            if let known = rows.firstIndex(where: { $0.text == text }) {
                rows[known].faults.append("\(fault)")
            } else {
                rows.append((text, ["\(fault)"]))
            }
        }
        let lines =
            ["| what people read | what happens |", "|---|---|"]
            + rows.map { "| \($0.text) | \($0.faults.joined(separator: "; ")) |" }
        // Other packages have this folder by a symbolic link.
        let guide = URL(filePath: #filePath).deletingLastPathComponent().resolvingSymlinksInPath()
            .appending(path: "../../Documentation/mock-server.md").standardized
        let sections = try String(contentsOf: guide, encoding: .utf8).components(separatedBy: "\n## ")
        let section = try #require(sections.first { $0.hasPrefix("Network faults\n") })
        let table = section.split(separator: "\n").filter { $0.hasPrefix("|") }.map(String.init)
        #expect(table == lines, "\(lines.joined(separator: "\n"))")
    }

    private struct Row {
        /// For each screen, with something kept and with nothing.
        var shown: [String] = []
        var text = ""
    }

    private static func row(_ fault: NetworkFault) async throws -> Row {
        var row = Row()
        for screen in Screen.allCases {
            for isKept in [true, false] {
                let store = ResponseStore()
                let working = environment(store) { try Self.respond(to: $0) }
                if isKept { _ = await screen.show(working) }
                let failing = environment(store) { try fault.respond($0) }
                let outcome = await screen.show(failing)
                row.shown.append(outcome.ids.isEmpty ? "nothing" : "kept")
                guard case .failed(let error) = outcome.phase else {
                    row.text = "\(screen.rawValue): \(outcome.phase)"
                    continue
                }
                #expect(outcome.isKept == !outcome.ids.isEmpty)
                let text = error.localizedDescription
                #expect(row.text.isEmpty || row.text == text)
                row.text = text
            }
        }
        return row
    }

    private static func environment(
        _ store: ResponseStore, _ handler: @escaping MockURLProtocol.Handler
    ) -> AppEnvironment {
        AppEnvironment(
            configuration: .mock, urlSession: MockURLProtocol.session(handler), responseStore: store,
            retryPolicy: .never, timerScheduler: MockTimerScheduler(firesAtOnce: false),
            locationFetcher: MockLocationFetcher())
    }

    /// What a service that works responds.
    private nonisolated static func respond(to request: URLRequest) throws -> (HTTPURLResponse, Data) {
        let headers = ["Content-Type": "application/json", "ETag": "\"1\""]
        let path = request.url?.lastPathComponent
        let encoder = JSONEncoder()
        let body: Data
        switch path {
        case "clusters":
            let clusters = [PlaceCluster(.fixture(id: 1))].compactMap(\.self)
            body = try encoder.encode(PlaceClusters(zoom: 3, clusters: clusters))
        case "1": body = try encoder.encode(PointOfInterest.fixture(id: 1))
        default: body = try encoder.encode([PointOfInterest].fixtures(2))
        }
        return (try HTTPURLResponse.fixture(for: request, headers: headers), body)
    }
}

/// A screen of an app.
private enum Screen: String, CaseIterable {
    case list, map, details, featured, search, favourites

    @MainActor
    func show(_ environment: AppEnvironment) async -> (ids: [Int], phase: LoadPhase, isKept: Bool) {
        switch self {
        case .list:
            let list = environment.makeList()
            await list.load()
            return (list.places.map(\.id), list.phase, list.isKept)
        case .map:
            let map = environment.makeMap()
            if let box = BoundingBox(west: 1, south: 1, east: 2, north: 2) { await map.load(box, zoom: 3) }
            return (map.places.map(\.id), map.phase, map.isKept)
        case .details:
            let details = environment.makeDetails(id: 1)
            await details.load()
            return (details.value.map { [$0.id] } ?? [], details.phase, details.isKept)
        case .featured:
            let featured = environment.makeFeaturedPlaceManager()
            await featured.load()
            return (featured.places.map(\.id), featured.phase, featured.isKept)
        case .search:
            let search = environment.makeSearch()
            search.text = "pla"
            await search.load()
            return (search.results.map(\.id), search.phase, search.isKept)
        case .favourites:
            let favorites = environment.makeFavorites(ids: [2, 1])
            await favorites.load()
            return (favorites.places.map(\.id), favorites.phase, favorites.isKept)
        }
    }
}

/// A way in which a request for data fails.
struct NetworkFault: Sendable, CustomStringConvertible {
    let description: String
    /// Responds to a request, or fails it.
    let respond: MockURLProtocol.Handler

    private init(_ description: String, _ code: URLError.Code) {
        self.description = description
        respond = { _ in throw URLError(code, userInfo: [NSLocalizedDescriptionKey: "transfer closed"]) }
    }

    private init(
        _ description: String, _ status: Int, _ mediaType: String?, _ body: String,
        _ fields: [String: String] = [:]
    ) {
        self.description = description
        let headers = fields.merging(mediaType.map { ["Content-Type": $0] } ?? [:]) { $1 }
        respond = {
            (try HTTPURLResponse.fixture(for: $0, status: status, headers: headers), Data(body.utf8))
        }
    }

    private init(_ description: String, _ problem: Problem) {
        self.description = description
        respond = { try MockURLProtocol.response(problem, to: $0) }
    }

    private static let page = "<!doctype html><title>Sign in</title>"
    private static let portal = "http://portal.test/sign-in"

    static let all = [
        NetworkFault("no network", .notConnectedToInternet),
        NetworkFault("no response in time", .timedOut),
        NetworkFault("the connection is lost on the way", .networkConnectionLost),
        NetworkFault("the connection is refused", .cannotConnectToHost),
        NetworkFault("the host isn't found", .cannotFindHost),
        NetworkFault("names can't be looked up", .dnsLookupFailed),
        NetworkFault("no secure connection", .secureConnectionFailed),
        NetworkFault("a certificate that isn't trusted", .serverCertificateUntrusted),
        NetworkFault("a certificate that has expired", .serverCertificateHasBadDate),
        NetworkFault("mobile data aren't allowed", .dataNotAllowed),
        NetworkFault("roaming is off", .internationalRoamingOff),
        NetworkFault("a call is active", .callIsActive),
        NetworkFault("a response that isn't HTTP", .badServerResponse),
        NetworkFault("a body that can't be unpacked", .cannotDecodeContentData),
        NetworkFault("200 with a sign-in page", 200, "text/html", page),
        NetworkFault("200 with plain text", 200, "text/plain", "Welcome"),
        NetworkFault("200 with a page, without a media type", 200, nil, page),
        NetworkFault("403 with a page", 403, "text/html", page),
        NetworkFault("511 with a sign-in page", 511, "text/html", page),
        NetworkFault("a redirect to a sign-in page", 302, nil, "", ["Location": portal]),
        NetworkFault("a temporary redirect to another server", 307, nil, "", ["Location": portal]),
        NetworkFault("404 with a page", 404, "text/html", page),
        NetworkFault("502 with a proxy's page", 502, "text/html", page),
        NetworkFault("503 with a proxy's page", 503, "text/html", page),
        NetworkFault("504 without a body", 504, nil, ""),
        NetworkFault("the service is overloaded", Problem(.overloaded)),
        NetworkFault("the database is busy", Problem(.databaseBusy)),
        NetworkFault("the query takes too long", Problem(.queryTimeout)),
        NetworkFault("too many requests", Problem(.tooManyRequests)),
        NetworkFault("the service has failed", Problem(.internalError)),
        NetworkFault("JSON that ends too early", 200, "application/json", #"[{"id":1,"na"#),
        NetworkFault("JSON of another shape", 200, "application/json", #"{"hello":"world"}"#),
    ]
}
