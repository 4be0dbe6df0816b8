import Foundation
import PointsOfInterestTesting

// What the snippets of the documentation take for granted: names that an app, or its test, has around them. A snippet
// that makes one of them itself hides the one here.

let baseURL = URL(fileURLWithPath: "/")
let serviceURL = baseURL
let mockURL = baseURL
let folder = baseURL
let configuration = AppConfiguration.mock
let service = PointsOfInterestService(baseURL: baseURL)
let finder = MockPlaceFinder([PointOfInterest].fixtures(3))
let place = PointOfInterest.fixture()
@MainActor let fetcher = MockLocationFetcher()
@MainActor let environment = AppEnvironment.mock()
@MainActor let list = environment.makeList()
@MainActor let location: any CurrentLocationSource = environment.locationProvider
@MainActor let scheduler = MockTimerScheduler()
@MainActor let manager = environment.makeFeaturedPlaceManager()
@MainActor let session = MockServerSession(server: mockURL)
@MainActor let app = XCUIApplication()

/// The centre of the examples.
let center: Coordinate = {
    guard let center = try? Coordinate(latitude: 37.3293, longitude: -121.8893) else { preconditionFailure() }
    return center
}()

/// Where an app has its keys.
struct Keys: Sendable {
    func current() async throws -> String { "" }
}
let keys = Keys()
let (dataKey, eventsKey) = ("", "")
func token() async throws -> String { "" }

/// A screen of an app.
struct Screen: Sendable {
    func open() async {}
}
let screen = Screen()
func show(_ places: [PointOfInterest]) {}

/// The example's commands, see `Examples/nearby`.
enum Command {
    enum Action: CaseIterable, Sendable {
        case list, watch, check
    }
}
let actions = Command.Action.allCases
@MainActor func run(_ action: Command.Action, _ environment: AppEnvironment) async {}

/// What XCTest has for UI tests on Apple's platforms.
@MainActor
final class XCUIApplication {
    var launchArguments: [String] = []
    func launch() {}
}

#if !canImport(CoreLocation)
    extension AppEnvironment {
        /// What the client itself has where there is Core Location.
        init(configuration: AppConfiguration, eventQueue: EventQueue? = nil) {
            self.init(
                configuration: configuration, locationFetcher: MockLocationFetcher(), eventQueue: eventQueue)
        }
    }
#endif
