import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The parts that an app's screens share, made once at its launch; `Environment.mock()` in
/// `PointsOfInterestTesting` makes those of a test.
///
/// A file that imports SwiftUI too says `PointsOfInterestClient.Environment`.
@MainActor
public struct Environment {
    /// What the app was told at its launch.
    public let configuration: AppConfiguration
    /// What carries requests.
    public let urlSession: URLSession
    /// The service.
    public let service: PointsOfInterestService
    /// Where the app's parts tell each other what happens.
    public let notificationCenter: NotificationCenter
    /// What timers are scheduled on.
    public let timerScheduler: any TimerScheduler
    /// Knows where the device is.
    public let locationProvider: CurrentLocationProvider

    /// Makes an app's parts, or a test's where the outside world is replaced.
    public init(
        configuration: AppConfiguration, urlSession: URLSession = .uncached,
        retryPolicy: RetryPolicy = RetryPolicy(), notificationCenter: NotificationCenter = .default,
        timerScheduler: any TimerScheduler = RunLoop.main,
        locationFetcher: any LocationFetcher
    ) {
        self.configuration = configuration
        self.urlSession = urlSession
        self.notificationCenter = notificationCenter
        self.timerScheduler = timerScheduler
        service = PointsOfInterestService(
            baseURL: configuration.baseURL, urlSession: urlSession, retryPolicy: retryPolicy,
            headers: configuration.headers)
        locationProvider = CurrentLocationProvider(
            locationFetcher: locationFetcher, notificationCenter: notificationCenter,
            placeFinder: service, timerScheduler: timerScheduler)
    }

    /// Makes a list of the places nearby.
    public func makeList(request: LocationsRequest = LocationsRequest(center: nil)) -> PointsOfInterestList {
        PointsOfInterestList(
            placeFinder: service, locationSource: locationProvider,
            notificationCenter: notificationCenter,
            request: request)
    }

    /// Makes a manager of the featured place.
    public func makeFeaturedPlaceManager() -> FeaturedPlaceManager {
        FeaturedPlaceManager(
            placeFinder: service, locationSource: locationProvider, timerScheduler: timerScheduler)
    }
}
