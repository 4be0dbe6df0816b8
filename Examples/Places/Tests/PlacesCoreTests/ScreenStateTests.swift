import Foundation
import PlacesCore
import PointsOfInterestTesting
import Testing

/// What each screen shows in each of its states: the table in README.md. Only the network below the client is a mock.
@Suite("The screens' states", .timeLimit(.minutes(1)))
@MainActor
struct ScreenStateTests {
    /// A screen, by its row in the table.
    enum Screen: String, CaseIterable, Sendable {
        case list = "Nearby"
        case featured = "Featured strip"
        case map = "Map"
        case search = "Search"
        case favorites = "Favourites"
        case details = "A place"
    }

    /// A state, by its column in the table.
    enum ScreenState: String, CaseIterable, Sendable {
        case loading, kept, fresh, offline, nothing, refused, failed
    }

    private let service = Switch()
    /// Whether the service doesn't respond at all: what is kept is shown until it does.
    private let isStalled = Locked(false)
    private let defaults: TemporaryDefaults

    init() throws {
        defaults = try TemporaryDefaults()
    }

    @Test(
        "A screen shows in each state what the table in README.md says", arguments: Screen.allCases,
        ScreenState.allCases)
    func shows(screen: Screen, state: ScreenState) async throws {
        let cell = try StateTable.read()[screen.rawValue]?[state.rawValue]
        #expect(await shown(on: screen, in: state) == cell)
    }

    @Test("The table in README.md has the screens and their states, and no others")
    func tableIsComplete() throws {
        let table = try StateTable.read()
        #expect(Set(table.keys) == Set(Screen.allCases.map(\.rawValue)))
        for row in table.values { #expect(Set(row.keys) == Set(ScreenState.allCases.map(\.rawValue))) }
    }

    private func shown(on screen: Screen, in state: ScreenState) async -> String {
        let responses = ResponseStore()
        if state == .kept || state == .offline {
            // An earlier window, which leaves its responses.
            _ = await shown(on: screen, of: await window(responses), while: .loaded)
        }
        isStalled.set(state == .kept)
        switch state {
        case .loading, .kept, .fresh, .refused: service.set(Service.pages)
        case .nothing: service.set(Service.empty)
        case .offline: service.set(Service.offline)
        case .failed: service.set(Service.unavailable)
        }
        let authorization = state == .refused ? LocationAuthorization.denied : .fullAccuracy
        return await shown(
            on: screen, of: await window(responses, authorization),
            while: state == .loading ? .loading : state == .kept ? .kept : .loaded)
    }

    /// Makes a window that knows where it is, if it may.
    private func window(
        _ responses: ResponseStore, _ authorization: LocationAuthorization = .fullAccuracy
    ) async -> PlacesWindow {
        let (_, events) = AsyncStream.makeStream(of: MockURLProtocol.Event.self)
        let session = MockURLProtocol.session(events: events) { [service, isStalled] request in
            if isStalled.value { return .nothing }
            let (response, body) = try service.handler(request)
            return .response(response, body)
        }
        let environment = AppEnvironment(
            configuration: .mock, urlSession: session,
            responseStore: responses, retryPolicy: .never, notificationCenter: MockNotificationCenter(),
            timerScheduler: MockTimerScheduler(firesAtOnce: false),
            locationFetcher: MockLocationFetcher(locationAuthorization: authorization))
        defaults.favoriteIDs().store([7, 3])
        let window = PlacesWindow(
            session: PlacesSession(environment: environment, favoriteIDs: defaults.favoriteIDs()))
        _ = await window.here()
        return window
    }

    /// When a screen is looked at: as soon as it loads, once it shows what is kept, or at the end.
    private enum Moment {
        case loading, kept, loaded
    }

    private func shown(on screen: Screen, of window: PlacesWindow, while moment: Moment) async -> String {
        let now = Date() + 300
        switch screen {
        case .list:
            return await shown(window.list, \.phase, \.isKept, moment) {
                await window.perform(.loadList)
            } by: {
                Display($0, now: now)
            } as: {
                text(of: $0)
            }
        case .featured:
            return await shown(window.featured, \.phase, \.isKept, moment) {
                await window.featured.load()
            } by: {
                Display($0, now: now)
            } as: { _ in
                "a place"
            }
        case .map:
            let box = BoundingBox(west: -122, south: 37, east: -121, north: 38)
            return await shown(window.map, \.phase, \.isKept, moment) {
                if let box { await window.perform(.showOnMap(box, width: 375)) }
            } by: {
                Display($0, now: now)
            } as: {
                text(of: $0)
            }
        case .search:
            window.search.text = "place"
            return await shown(window.search, \.phase, \.isKept, moment) {
                await window.perform(.search)
            } by: {
                Display($0)
            } as: {
                text(of: $0.map(\.place))
            }
        case .favorites:
            return await shown(window.session.favorites, \.phase, \.isKept, moment) {
                await window.perform(.loadFavorites)
            } by: {
                Display($0, now: now)
            } as: {
                text(of: $0)
            }
        case .details:
            let details = window.makeDetails(id: 7)
            return await shown(details, \.phase, \.isKept, moment) {
                await details.load()
            } by: {
                Display($0, now: now)
            } as: {
                $0.place.distance == nil ? "the place" : "the place, distance"
            }
        }
    }

    private func shown<State, Value>(
        _ model: ObservableModel<State>, _ phase: KeyPath<State, LoadPhase>, _ isKept: KeyPath<State, Bool>,
        _ moment: Moment, load: @escaping @MainActor () async -> Void, by display: (State) -> Display<Value>,
        as text: (Value) -> String
    ) async -> String {
        let updates = model.updates()
        let loading = Task { await load() }
        if moment != .kept { await loading.value }
        var states: [State] = []
        for await state in updates {
            states.append(state)
            if moment == .kept ? state[keyPath: isKept] : state == model.state { break }
        }
        loading.cancel()
        await loading.value
        let shown =
            switch moment {
            case .loading: states.first { $0[keyPath: phase] == .loading }
            case .kept, .loaded: states.last
            }
        guard let shown else { return "never so" }
        let seen = display(shown)
        let content =
            switch seen.content {
            case .idle: "–"
            case .firstLoad: "loading"
            case .value(let value): text(value)
            case .nothing(let sentence), .failed(let sentence): sentence
            }
        return [content, seen.notice].compactMap(\.self).joined(separator: "; ")
    }

    private func text(of places: [PointOfInterest]) -> String {
        places.contains { $0.distance != nil } ? "places, distances" : "places"
    }

    private func text(of items: [MapItem]) -> String {
        let hasClusters = items.contains { if case .cluster = $0 { true } else { false } }
        return hasClusters ? "clusters, places" : "places"
    }
}

/// The table of the screens' states in README.md.
private enum StateTable {
    struct Missing: Error {}

    /// The cells by the names of screen and state.
    static func read() throws -> [String: [String: String]] {
        let file = URL(filePath: #filePath).appending(path: "../../../README.md").standardized
        let lines = try String(contentsOf: file, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        guard let first = lines.firstIndex(where: { $0.hasPrefix("| screen |") }) else { throw Missing() }
        let states = cells(of: lines[first]).dropFirst()
        var table: [String: [String: String]] = [:]
        for line in lines[first...].dropFirst(2).prefix(while: { $0.hasPrefix("|") }) {
            let row = cells(of: line)
            guard let screen = row.first, row.count == states.count + 1 else { throw Missing() }
            table[screen] = Dictionary(uniqueKeysWithValues: zip(states, row.dropFirst()))
        }
        return table
    }

    private static func cells(of line: Substring) -> [String] {
        line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
