import Foundation
import PointsOfInterestTesting
import Testing

@testable import PointsOfInterestClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("An app's environment", .timeLimit(.minutes(1)))
@MainActor
struct EnvironmentTests {
    @Test("The environment passes its store of responses and its time limits to the service")
    func handsOnSettings() async throws {
        let store = ResponseStore()
        let (requests, continuation) = AsyncStream.makeStream(of: URLRequest.self)
        let environment = AppEnvironment(
            configuration: .mock,
            urlSession: MockURLProtocol.session { request in
                continuation.yield(request)
                let url = try #require(request.url)
                let response = HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: ["ETag": "\"1\""])
                return (try #require(response), Data("[]".utf8))
            },
            responseStore: store, timeLimits: TimeLimits(firstByte: .seconds(7)),
            locationFetcher: MockLocationFetcher())
        _ = try await environment.service.categories()
        var received = requests.makeAsyncIterator()
        let request = try #require(await received.next())
        #expect(request.timeoutInterval == 7)
        let other = PointsOfInterestService(baseURL: AppConfiguration.mock.baseURL, responseStore: store)
        #expect(await other.keptCategories()?.categories == [])
    }

    @Test("The models show the places of any place finder, and the service's client is left alone")
    func takesAnyPlaceFinder() async throws {
        let finder = MockPlaceFinder(.fixtures(2))
        let environment = AppEnvironment(
            configuration: .mock, urlSession: MockURLProtocol.session { _ in throw URLError(.badURL) },
            placeFinder: finder, locationFetcher: MockLocationFetcher())
        let (list, featured, map) = (
            environment.makeList(), environment.makeFeaturedPlaceManager(), environment.makeMap()
        )
        let (search, favorites) = (environment.makeSearch(), environment.makeFavorites(ids: [2]))
        let (details, categories) = (environment.makeDetails(id: 1), environment.makeCategories())
        search.text = "Place"
        await list.load()
        await featured.load()
        await map.load(try #require(BoundingBox(west: 0, south: 0, east: 1, north: 1)))
        await search.load()
        await favorites.load()
        await details.load()
        await categories.load()
        #expect(list.places == .fixtures(2))
        #expect(featured.places == .fixtures(2))
        #expect(map.places == .fixtures(2))
        #expect(search.results.map(\.place) == .fixtures(2))
        #expect(favorites.places.map(\.id) == [2])
        #expect(details.value?.id == 1)
        #expect(categories.value?.map(\.count) == [2])
        guard case .atPointOfInterest = await environment.locationProvider.checkCurrentLocation() else {
            Issue.record("the provider asks somebody else")
            return
        }
    }

    @Test("The service's problem is thrown")
    func handsOnProblems() async throws {
        let environment = AppEnvironment.mock { request in
            try MockURLProtocol.response(Problem(.databaseBusy), to: request)
        }
        #expect(
            await environment.locationProvider.checkCurrentLocation()
                == .requestFailed(.problem(Problem(.databaseBusy))))
    }

    @Test("The environment makes parts that work together")
    func makesParts() async {
        let center = MockNotificationCenter()
        let fetcher = MockLocationFetcher(locationAuthorization: .denied)
        let scheduler = MockTimerScheduler(firesAtOnce: false)
        let environment = AppEnvironment.mock(
            notificationCenter: center, timerScheduler: scheduler, locationFetcher: fetcher)
        let list = environment.makeList()
        let featured = environment.makeFeaturedPlaceManager()
        await list.load()
        #expect(list.phase == .failed(.location(.notAuthorized)))
        let updates = list.updates()
        fetcher.locationAuthorization = .fullAccuracy
        for await state in updates where state.phase == .loaded { break }
        #expect(!list.places.isEmpty)
        await featured.load()
        #expect(featured.currentPlace == list.places.first)
        featured.scheduleNextPlace()
        #expect(scheduler.delays.last == 10)
        #expect(center.postedNames == [CurrentLocationProvider.authChangedNotification])
    }
}

@Suite("The default session")
struct SessionTests {
    @Test("The default session keeps nothing, on disk or elsewhere")
    func keepsNothing() {
        for configuration in [URLSessionConfiguration.uncached, URLSession.uncached.configuration] {
            #expect(configuration.urlCache == nil)
            #expect(configuration.httpCookieStorage == nil)
            #expect(!configuration.httpShouldSetCookies)
            #expect(configuration.urlCredentialStorage == nil)
        }
        #expect(URLSession.uncached === URLSession.uncached)
    }

    @Test("The default session is used where no other is passed")
    func isTheDefault() throws {
        let url = try #require(URL(string: "https://h"))
        #expect(PointsOfInterestService(baseURL: url).urlSession === URLSession.uncached)
        #expect(
            APIRequestLoader(apiRequest: PointsOfInterestRequest(baseURL: url)).urlSession
                === URLSession.uncached)
    }
}

@Suite("The privacy manifest")
struct PrivacyManifestTests {
    @Test("The privacy manifest is in the bundle and declares locations, reports and events")
    func comesAlong() throws {
        let url = try #require(Bundle.module.url(forResource: "PrivacyInfo", withExtension: "xcprivacy"))
        let plist = try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil)
        let manifest = try #require(plist as? [String: Any])
        #expect(
            Set(manifest.keys) == [
                "NSPrivacyTracking", "NSPrivacyTrackingDomains", "NSPrivacyCollectedDataTypes",
                "NSPrivacyAccessedAPITypes",
            ])
        #expect(manifest["NSPrivacyTracking"] as? Bool == false)
        let data = try #require(manifest["NSPrivacyCollectedDataTypes"] as? [[String: Any]])
        #expect(
            data.map { $0["NSPrivacyCollectedDataType"] as? String } == [
                "NSPrivacyCollectedDataTypePreciseLocation", "NSPrivacyCollectedDataTypeOtherUserContent",
                "NSPrivacyCollectedDataTypeUserID", "NSPrivacyCollectedDataTypeProductInteraction",
                "NSPrivacyCollectedDataTypeSearchHistory",
            ])
        #expect(
            data.map { $0["NSPrivacyCollectedDataTypeLinked"] as? Bool } == [false, false, true, true, true])
        #expect(data.allSatisfy { $0["NSPrivacyCollectedDataTypeTracking"] as? Bool == false })
        // The user's id is in UserDefaults, for the app itself alone.
        let interfaces = try #require(manifest["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        #expect(
            interfaces.map { $0["NSPrivacyAccessedAPIType"] as? String } == [
                "NSPrivacyAccessedAPICategoryUserDefaults"
            ])
        #expect(interfaces.map { $0["NSPrivacyAccessedAPITypeReasons"] as? [String] } == [["CA92.1"]])
    }
}

@Suite("An app's configuration")
struct AppConfigurationTests {
    private let appURL: URL

    init() throws {
        appURL = try #require(URL(string: "https://poi.example/api"))
    }

    private func configuration(
        _ arguments: [String] = [], _ environment: [String: String] = [:],
        headers: @escaping HeaderProvider = { _ in [:] }
    ) throws -> AppConfiguration {
        try AppConfiguration(
            defaultBaseURL: appURL, headers: headers, arguments: ["/app"] + arguments,
            environment: environment)
    }

    @Test("The app's own configuration is used where the launch sets nothing")
    func isTheAppsOwn() async throws {
        let configuration = try configuration(headers: { _ in ["Authorization": "Bearer t"] })
        #expect(configuration.baseURL == appURL)
        #expect(try await configuration.headers(.nearbyPlaces) == ["Authorization": "Bearer t"])
        #expect(!configuration.isUnitTesting)
    }

    @Test("The service's address comes from a launch argument, or else from the environment")
    func takesTheAddress() throws {
        let environment = ["POI_BASE_URL": "http://127.0.0.1:8080"]
        let arguments = ["-x", "-POI_BASE_URL", "http://127.0.0.1:9090/~a"]
        #expect(try configuration([], environment).baseURL.absoluteString == "http://127.0.0.1:8080")
        #expect(
            try configuration(arguments, environment).baseURL.absoluteString == "http://127.0.0.1:9090/~a")
        #expect(try configuration([], ["POI_BASE_URL": ""]).baseURL == appURL)
    }

    @Test(
        "A URL that isn't absolute HTTP is refused",
        arguments: ["poi", "ftp://h", "http:", "file:///x", "http:///x", " "])
    func refusesAddresses(text: String) {
        let error = AppConfigurationError.invalidValue(
            name: "POI_BASE_URL", expected: "an absolute http or https URL")
        #expect(throws: error) { try configuration([], ["POI_BASE_URL": text]) }
        #expect(throws: error) { try configuration(["-POI_BASE_URL", text]) }
        #expect(error.localizedDescription == "POI_BASE_URL must be an absolute http or https URL.")
    }

    @Test(
        "A launch argument without its value is refused",
        arguments: ["POI_BASE_URL", "POI_HEADERS", "IS_UNIT_TESTING"])
    func refusesMissingValues(name: String) {
        #expect(throws: AppConfigurationError.missingValue(name: "-" + name)) {
            try configuration(["-" + name], [name: "1"])
        }
    }

    @Test(
        "The setting for unit tests is read from an argument or the environment",
        arguments: [
            ("YES", true), ("yes", true), ("true", true), ("1", true), ("NO", false), ("false", false),
            ("0", false),
        ])
    func knowsUnitTests(text: String, expected: Bool) throws {
        #expect(try configuration([], ["IS_UNIT_TESTING": text]).isUnitTesting == expected)
        #expect(
            try configuration(["-IS_UNIT_TESTING", text], ["IS_UNIT_TESTING": "YES"]).isUnitTesting
                == expected)
    }

    @Test("A value that is neither yes nor no is refused")
    func refusesOtherFlags() {
        #expect(throws: AppConfigurationError.invalidValue(name: "IS_UNIT_TESTING", expected: "YES or NO")) {
            try configuration([], ["IS_UNIT_TESTING": "maybe"])
        }
    }

    @Test("The launch's header fields replace the app's own of the same name")
    func mergesHeaders() async throws {
        let text = "X-Session: a:b\r\nAuthorization:Bearer launch \n\nX-Empty:"
        let configuration = try configuration(
            [], ["POI_HEADERS": text], headers: { _ in ["Authorization": "Bearer app", "X-App": "1"] })
        #expect(
            try await configuration.headers(.nearbyPlaces)
                == ["X-Session": "a:b", "Authorization": "Bearer launch", "X-App": "1", "X-Empty": ""])
    }

    @Test("Malformed headers are refused", arguments: ["Bearer t", ": x", "A b: c", "Ä: x", "A: b\nc"])
    func refusesHeaders(text: String) {
        let error = AppConfigurationError.invalidValue(
            name: "POI_HEADERS", expected: "lines of the form Name: value")
        #expect(throws: error) { try configuration(["-POI_HEADERS", text]) }
        #expect(!error.localizedDescription.contains(text))
    }

    @Test("The error of a token that can't be fetched is thrown")
    func handsOnTokenErrors() async throws {
        let configuration = try configuration(
            [], ["POI_HEADERS": "A: b"], headers: { _ in throw URLError(.userAuthenticationRequired) })
        await #expect(throws: URLError.self) { try await configuration.headers(.nearbyPlaces) }
    }
}
