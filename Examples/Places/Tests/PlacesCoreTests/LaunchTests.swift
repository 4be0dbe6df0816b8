import Foundation
import PlacesCore
import PointsOfInterestTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("The service's address")
@MainActor
struct ServiceSettingsTests {
    private let suite = "places-\(UUID().uuidString)"

    private func defaults() throws -> UserDefaults {
        let defaults = try #require(UserDefaults(suiteName: suite))
        defaults.removePersistentDomain(forName: suite)
        return defaults
    }

    @Test("The app uses the mock server's address on the same computer until a person types another one")
    func hasADefault() throws {
        #expect(ServiceSettings(defaults: try defaults()).baseURL.absoluteString == "http://127.0.0.1:8080")
    }

    @Test(
        "An address that a person types is stored, without the white space around it",
        arguments: [
            "https://places.example.com", "https://places.example.com/api/v1", "http://localhost:8080",
            "http://192.168.1.20:8080", "http://[::1]:8080", "http://my-mac.local:8080",
            " https://a.example\n",
            "http://127.0.0.1:49152/~session/ui-test",
        ])
    func isKept(text: String) throws {
        let defaults = try defaults()
        try ServiceSettings(defaults: defaults).setBaseURL(text)
        let kept = text.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(ServiceSettings(defaults: defaults).baseURL.absoluteString == kept)
        defaults.removePersistentDomain(forName: suite)
    }

    @Test(
        "An unusable address is refused with a reason, and the address before stays",
        arguments: [
            ("", BaseURLError.notAnAddress), ("places.example.com", .neitherHTTPNorHTTPS),
            ("ftp://places.example.com", .neitherHTTPNorHTTPS), ("https://", .noHost),
            ("https:///path", .noHost),
            ("https://two words.example", .notAnAddress), ("https://a.example?x=1", .tooLong),
            ("https://a.example#x", .tooLong), ("https://me@a.example", .tooLong),
            ("http://places.example.com", .notEncrypted(host: "places.example.com")),
        ])
    func isRefused(text: String, error: BaseURLError) throws {
        let defaults = try defaults()
        let settings = ServiceSettings(defaults: defaults)
        try settings.setBaseURL("https://before.example")
        #expect(throws: error) { try settings.setBaseURL(text) }
        #expect(error.localizedDescription.hasSuffix("."))
        #expect(settings.baseURL.absoluteString == "https://before.example")
        defaults.removePersistentDomain(forName: suite)
    }

    @Test("An unusable address that an older version has stored is ignored")
    func forgetsWhatCantBeUsed() throws {
        let defaults = try defaults()
        defaults.set("http://places.example.com", forKey: "baseURL")
        #expect(ServiceSettings(defaults: defaults).baseURL == ServiceSettings.defaultBaseURL)
        defaults.removePersistentDomain(forName: suite)
    }
}

@Suite("A launch")
@MainActor
struct LaunchTests {
    private let folder = TemporaryFolder()
    private let defaults: TemporaryDefaults

    init() throws {
        defaults = try TemporaryDefaults()
    }

    private func window(_ launch: Launch) throws -> PlacesWindow {
        PlacesWindow(session: try launch.session())
    }

    private func launch(
        arguments: [String] = [], _ handler: @escaping MockURLProtocol.Handler = Service.pages
    ) -> Launch {
        Launch(
            settings: ServiceSettings(defaults: defaults.defaults),
            events: folder.url.appendingPathComponent("Events"),
            responses: folder.url.appendingPathComponent("Responses"), arguments: arguments, variables: [:],
            urlSession: MockURLProtocol.session(handler), makeLocationFetcher: { MockLocationFetcher() })
    }

    @Test("A launch uses the service that a person has chosen, and the next one when they choose again")
    func usesTheSettings() throws {
        let launch = launch()
        let first = try launch.session()
        #expect(first.environment.configuration.baseURL == ServiceSettings.defaultBaseURL)
        try launch.settings.setBaseURL("https://places.example.com")
        let second = try launch.session()
        #expect(second.environment.configuration.baseURL.absoluteString == "https://places.example.com")
        // They share the queue, so that no event is lost by the change.
        #expect(first.environment.eventUploader != nil)
        #expect(second.environment.eventUploader != nil)
    }

    @Test("A launch uses the service that a UI test names")
    func usesTheArguments() throws {
        let launch = launch(arguments: ["-POI_BASE_URL", "http://127.0.0.1:1"])
        #expect(try launch.session().environment.configuration.baseURL.absoluteString == "http://127.0.0.1:1")
    }

    @Test("A launch finds the responses of the launch before, and asks whether they have changed")
    func keepsResponses() async throws {
        let tags = Locked<[String?]>([])
        let recording: MockURLProtocol.Handler = { request in
            tags.update { $0.append(request.value(forHTTPHeaderField: "If-None-Match")) }
            return try Service.pages(request)
        }
        for _ in 0..<2 { try await window(launch(recording)).perform(.loadList) }
        #expect(tags.value == [nil, "\"1\""])
    }

    @Test("A launch without a network shows the places of the launch before, their age and the failure")
    func showsWhatItKept() async throws {
        let before = try window(launch())
        await before.perform(.loadList)
        let now = try window(launch(Service.offline))
        await now.perform(.loadList)
        let display = Display(now.list.state)
        #expect(display.content == .value(now.list.places))
        #expect(now.list.places.map(\.id) == before.list.places.map(\.id))
        #expect(now.list.places.count == 20)
        #expect(display.notice == "You are offline. As of just now.")
    }

    @Test("A launch without a network shows the favourites of the launch before, in the person's order")
    func keepsFavorites() async throws {
        let before = try window(launch())
        await before.perform(.loadList)
        for place in before.list.places.prefix(3) { before.session.change(.toggle(place)) }
        before.session.change(.move([2], to: 0))
        let now = try window(launch(Service.offline))
        await now.perform(.loadFavorites)
        #expect(now.session.favorites.places.map(\.id) == [3, 1, 2])
        #expect(Display(now.session.favorites.state).notice == "You are offline. As of just now.")
    }

    @Test("A launch shows the favourites of the service that it uses")
    func hasFavoritesOfAService() async throws {
        let first = try window(launch())
        first.session.change(.toggle(.fixture(id: 7)))
        try launch().settings.setBaseURL("https://places.example.com")
        #expect(try launch().session().favorites.ids == [])
        try launch().settings.setBaseURL(ServiceSettings.defaultBaseURL.absoluteString)
        #expect(try launch().session().favorites.ids == [7])
    }

    @Test("A launch with a wrong argument throws an error")
    func refusesArguments() throws {
        let launch = launch(arguments: ["-POI_BASE_URL", "nowhere"])
        #expect(throws: AppConfigurationError.self) { try launch.session() }
    }

    @Test("A launch works without a queue if another process has it")
    func goesOnWithoutAQueue() throws {
        let other = try EventQueue(directory: folder.url.appendingPathComponent("Events"))
        defer { other.close() }
        #expect(try launch().session().environment.eventUploader == nil)
    }
}
