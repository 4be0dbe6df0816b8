import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The parts that an app's screens share, made once at its launch; `AppEnvironment.mock()` in
/// `PointsOfInterestTesting` makes those of a test.
///
/// A file that imports SwiftUI too says `AppEnvironment`.
@MainActor
public struct AppEnvironment {
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
    /// What screens tell their tracking events to.
    public let trackingModel: TrackingModel
    /// Sends the events of the queue; nil where there is none. The app runs it, and flushes it when it goes to the
    /// background.
    public let eventUploader: EventUploader?

    /// Makes an app's parts, or a test's where the outside world is replaced.
    ///
    /// - Parameters:
    ///   - configuration: what the app was told at its launch.
    ///   - urlSession: what carries requests.
    ///   - retryPolicy: how often and when a request is sent again.
    ///   - notificationCenter: where the app's parts tell each other what happens.
    ///   - timerScheduler: what timers are scheduled on.
    ///   - locationFetcher: the device's sense of place.
    ///   - eventQueue: where tracking events wait for the service; without one they only get to observers.
    ///   - tracker: takes tracking events in the place of the queue, as a test's does.
    public init(
        configuration: AppConfiguration, urlSession: URLSession = .uncached,
        retryPolicy: RetryPolicy = RetryPolicy(), notificationCenter: NotificationCenter = .default,
        timerScheduler: any TimerScheduler = RunLoop.main,
        locationFetcher: any LocationFetcher,
        eventQueue: EventQueue? = nil,
        tracker: (any Tracker)? = nil
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
        trackingModel = TrackingModel(
            actionCreator: TrackingActionCreator(
                userID: configuration.userID, isTest: configuration.isUnitTesting),
            dispatcher: TrackingDispatcher(tracker: tracker ?? eventQueue ?? NowhereTracker()))
        eventUploader = eventQueue.map { [service] in EventUploader(queue: $0, service: service) }
    }

    /// Makes a list of the places nearby.
    public func makeList(request: NearbyPlacesRequest = NearbyPlacesRequest(center: nil))
        -> PointsOfInterestList
    {
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
