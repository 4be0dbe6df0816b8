import Foundation
import PointsOfInterestTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// What the snippets of the documentation take for granted: names that an app, or its test, has around them. A snippet
// that makes one of them itself hides the one here. Each snippet is a test of a subclass: what can change is its own.

let baseURL = AppConfiguration.mock.baseURL
let serviceURL = baseURL
let configuration = AppConfiguration.mock
let service = PointsOfInterestService(baseURL: baseURL)
let finder = MockPlaceFinder([PointOfInterest].fixtures(3, featured: true))
let place = PointOfInterest.fixture()

/// The centre of the examples.
let center: Coordinate = {
    guard let center = try? Coordinate(latitude: 37.3293, longitude: -121.8893) else { preconditionFailure() }
    return center
}()

/// A running `poi-mock`, see `scripts/with-mock`.
let mockURL =
    ProcessInfo.processInfo.environment["POI_MOCK_URL"].flatMap { URL(string: $0) } ?? baseURL

extension Trait where Self == ConditionTrait {
    /// What the snippets about the mock server need.
    static var needsMockServer: ConditionTrait {
        .enabled(if: mockURL != baseURL, "there is no mock server: run the check by scripts/with-mock")
    }
}

/// The parts of an app whose service sends recorded responses, and whose device is in San José.
@MainActor
class Surroundings {
    lazy var fetcher = MockLocationFetcher()
    lazy var environment = AppEnvironment.mock(locationFetcher: fetcher, handler: respond)
    lazy var list = environment.makeList()
    lazy var manager = environment.makeFeaturedPlaceManager()
    lazy var location: any CurrentLocationSource = environment.locationProvider
    lazy var scheduler = MockTimerScheduler()
    lazy var screen = Screen(environment: environment)
    lazy var app = XCUIApplication()
    /// A folder of the snippet's own.
    let folder = FileManager.default.temporaryDirectory.appending(path: "snippet-\(UUID().uuidString)")

    init() {}

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }
}

/// The person doesn't allow the app to use the location.
@MainActor
class NotAuthorized: Surroundings {
    override init() {
        super.init()
        fetcher = MockLocationFetcher(locationAuthorization: .denied)
    }
}

/// Somebody uses the app for a moment while the snippet observes it; then no more events come.
@MainActor
class ShortVisit: Surroundings {
    override init() {
        super.init()
        let model = environment.trackingModel
        Task {
            model.sendTrackingEvent(.launch)
            model.sendTrackingEvent(.search(query: "museum", page: 1, results: 3))
            EventRecorder(model).endScenario()
        }
    }
}

/// The person is an editor, and the service has a place to correct.
@MainActor
class Editing: Surroundings {
    let service = PointsOfInterestService(
        baseURL: baseURL, urlSession: MockURLProtocol.session(respondToEditor))
}

/// The service has no places for a region.
@MainActor
class Offline: Surroundings {
    let service = PointsOfInterestService(
        baseURL: baseURL,
        urlSession: MockURLProtocol.session { request in
            let isDigest = request.url?.lastPathComponent == "digest"
            guard let url = request.url,
                let response = HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: "HTTP/1.1",
                    headerFields: ["Content-Type": "application/json"])
            else { throw URLError(.badURL) }
            let sums = Array(repeating: #""""#, count: 64).joined(separator: ",")
            return (response, Data((isDigest ? #"{"dataset":"1","count":0,"sums":[\#(sums)]}"# : "[]").utf8))
        })
}

/// Responds to an editor: with one record, whatever is changed, and its one version.
@Sendable
func respondToEditor(to request: URLRequest) throws -> (HTTPURLResponse, Data) {
    let record = """
        {"id": 12, "version": 7, "updatedAt": "2026-11-30T23:45:12Z", "name": "Cafe", "category": "cafe",
         "latitude": 37.33, "longitude": -121.89}
        """
    let version = """
        {"version": 3, "changedAt": "2026-11-30T23:45:12Z", "who": "anna", "isRemoval": false, "changes": {}}
        """
    guard let url = request.url,
        let response = HTTPURLResponse(
            url: url, statusCode: 200, httpVersion: "HTTP/1.1",
            headerFields: ["Content-Type": "application/json"])
    else { throw URLError(.badURL) }
    return (response, Data((url.lastPathComponent == "versions" ? "[\(version)]" : record).utf8))
}

/// Responds to an app: with what was recorded, and after the first page with a last one. What people report is stored.
@Sendable
func respond(to request: URLRequest) throws -> (HTTPURLResponse, Data) {
    if request.url?.lastPathComponent == "reports", let url = request.url, let body = request.httpBody,
        let report = try? JSONDecoder().decode(PlaceReport.self, from: body),
        let response = HTTPURLResponse(
            url: url, statusCode: 201, httpVersion: nil, headerFields: ["Content-Type": "application/json"])
    {
        return (response, Data(#"{"id":"\#(report.id)"}"#.utf8))
    }
    return request.url?.query?.contains("cursor=") == true
        ? try MockURLProtocol.response(.fixtures(1), to: request) : try RecordedResponse.response(to: request)
}

// No snippet reaches a network: what it makes without a session gets a mocked one here.

extension PointsOfInterestService {
    init(baseURL: URL) {
        self.init(baseURL: baseURL, urlSession: MockURLProtocol.session(respond))
    }

    init(baseURL: URL, headers: @escaping HeaderProvider) {
        self.init(baseURL: baseURL, urlSession: MockURLProtocol.session(respond), headers: headers)
    }
}

extension APIRequestLoader {
    init(apiRequest: T) {
        self.init(apiRequest: apiRequest, urlSession: MockURLProtocol.session(respond))
    }
}

extension AppEnvironment {
    /// What the client itself has where there is Core Location.
    init(
        configuration: AppConfiguration, responseStore: ResponseStore? = ResponseStore(),
        timeLimits: TimeLimits = TimeLimits(),
        makePlaceFinder: ((PointsOfInterestService) -> any PlaceFinder)? = nil,
        locationFetcher: any LocationFetcher = MockLocationFetcher(), eventQueue: EventQueue? = nil,
        eventUploadPolicy: EventUploader.Policy = EventUploader.Policy(),
        eventUploadReport: @escaping @Sendable (EventUploader.Report) -> Void = { _ in }
    ) {
        self.init(
            configuration: configuration, urlSession: MockURLProtocol.session(respond),
            responseStore: responseStore, timeLimits: timeLimits, makePlaceFinder: makePlaceFinder,
            locationFetcher: locationFetcher,
            eventQueue: eventQueue, eventUploadPolicy: eventUploadPolicy,
            eventUploadReport: eventUploadReport)
    }
}

/// Where an app has its keys.
struct Keys: Sendable {
    func current() async throws -> String { "key" }
    func renew() async throws {}
}
let keys = Keys()
let (dataKey, eventsKey) = ("data", "events")
func token() async throws -> String { "token" }

/// A screen of an app.
@MainActor
struct Screen {
    let environment: AppEnvironment

    func open() async {
        environment.trackingModel.sendTrackingEvent(.pageView(page: .locationDetail, additional: "42"))
    }
}
func show(_ places: [PointOfInterest]) {}

/// Where an app stores the ids of a person's favourites.
func save(_ ids: [Int]) {}
let savedIDs = [1, 2, 3]

/// The example's commands, see `Examples/nearby`.
enum Command {
    enum Action: CaseIterable, Sendable {
        case list, watch, check
    }
}
let actions = Command.Action.allCases

/// Does what the example does for each of its commands, as far as events go.
@MainActor
func run(_ action: Command.Action, _ environment: AppEnvironment) async {
    let model = environment.trackingModel
    model.sendTrackingEvent(.launch)
    switch action {
    case .list: model.sendTrackingEvent(.pageView(page: .locationsList))
    case .watch:
        model.sendTrackingEvent(.pageView(page: .featured))
        model.sendTrackingEvent(.featuredShown(place: 1))
    case .check:
        model.sendTrackingEvent(.pageView(page: "location-check"))
        model.sendTrackingEvent(.locationCheck)
    }
    model.sendTrackingEvent(.background)
}

/// What XCTest has for UI tests on Apple's platforms. Its app has a key, and loads the first two pages of a list at its
/// launch.
@MainActor
final class XCUIApplication {
    var launchArguments: [String] = []

    func launch() {
        guard
            let configuration = try? AppConfiguration(
                defaultBaseURL: baseURL, headers: { _ in ["Authorization": "Bearer key"] },
                arguments: launchArguments, environment: [:])
        else { return }
        let environment = AppEnvironment(
            configuration: configuration, urlSession: .uncached, locationFetcher: MockLocationFetcher())
        Task {
            let list = environment.makeList()
            await list.load()
            await list.loadMore()
        }
    }
}
