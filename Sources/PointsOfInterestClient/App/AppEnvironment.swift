import Foundation
// An app that imports this module also sees requests, pages and errors, and the types of the contract.
@_exported import PointsOfInterestHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The parts that an app's screens share. The app makes them once at its launch; a test makes its own with
/// `AppEnvironment.mock()` of `PointsOfInterestTesting`.
@MainActor
public struct AppEnvironment {
    /// The configuration of this launch.
    public let configuration: AppConfiguration
    /// The session that sends the requests.
    public let urlSession: URLSession
    /// The service, which gets the events, too.
    public let service: PointsOfInterestService
    /// Finds the places that the models show: the service, unless the app or a test has another one.
    public let placeFinder: any PlaceFinder
    /// The notification center that the app's parts post to.
    public let notificationCenter: NotificationCenter
    /// Schedules the timers.
    public let timerScheduler: any TimerScheduler
    /// Finds out where the device is.
    public let locationProvider: CurrentLocationProvider
    /// Takes the screens' tracking events.
    public let trackingModel: TrackingModel
    /// Sends the events and reports of the queue; nil where there is no queue. The app runs it, and flushes it when it goes to the
    /// background.
    public let eventUploader: EventUploader?

    private let eventQueue: EventQueue?

    /// Makes the parts of an app, or of a test that replaces the outside world.
    ///
    /// - Parameters:
    ///   - configuration: the configuration of this launch.
    ///   - urlSession: the session that sends the requests.
    ///   - responseStore: where responses are kept; nil keeps none. With one in a folder the last places are there
    ///     without a network, too.
    ///   - retryPolicy: how often and when a request is sent again.
    ///   - timeLimits: how long a request may take.
    ///   - middleware: what stands between the service's client and the network; the first one is called first.
    ///   - placeFinder: finds the places in the service's place: the app's own store, or a test's `MockPlaceFinder`.
    ///   - makePlaceFinder: makes what finds the places of the service, where there is no `placeFinder`: the module
    ///     `PointsOfInterestOffline` has one that also looks into the regions on the device.
    ///   - requestObserver: called after each attempt of a request, on any thread, for the app's log for instance.
    ///   - notificationCenter: the notification center that the app's parts post to.
    ///   - timerScheduler: schedules the timers.
    ///   - locationFetcher: the device's location manager, or a stand-in.
    ///   - eventQueue: where tracking events and reports wait for the service; without one only observers see the events.
    ///   - eventUploadPolicy: how many events are sent at once, and when they and reports are sent again.
    ///   - eventUploadReport: called with the outcome of each request with events or a report, on any thread: that the
    ///     service wants another key and nothing is sent until `EventUploader.resume()`, or that events are dropped, for instance.
    ///   - tracker: takes the tracking events in place of the queue, for a test.
    public init(
        configuration: AppConfiguration, urlSession: URLSession = .uncached,
        responseStore: ResponseStore? = ResponseStore(),
        retryPolicy: RetryPolicy = RetryPolicy(), timeLimits: TimeLimits = TimeLimits(),
        middleware: [any RequestMiddleware] = [], placeFinder: (any PlaceFinder)? = nil,
        makePlaceFinder: ((PointsOfInterestService) -> any PlaceFinder)? = nil,
        requestObserver: (@Sendable (RequestAttempt) -> Void)? = nil,
        notificationCenter: NotificationCenter = .default,
        timerScheduler: any TimerScheduler = RunLoop.main,
        locationFetcher: any LocationFetcher,
        eventQueue: EventQueue? = nil, eventUploadPolicy: EventUploader.Policy = EventUploader.Policy(),
        eventUploadReport: @escaping @Sendable (EventUploader.Report) -> Void = { _ in },
        tracker: (any Tracker)? = nil
    ) {
        self.configuration = configuration
        self.urlSession = urlSession
        self.notificationCenter = notificationCenter
        self.timerScheduler = timerScheduler
        service = PointsOfInterestService(
            baseURL: configuration.baseURL, urlSession: urlSession, responseStore: responseStore,
            retryPolicy: retryPolicy,
            timeLimits: timeLimits, coordinateDecimals: configuration.coordinateDecimals,
            headers: configuration.headers, renewKey: configuration.renewKey, middleware: middleware,
            observer: requestObserver)
        self.placeFinder = placeFinder ?? makePlaceFinder?(service) ?? service
        locationProvider = CurrentLocationProvider(
            locationFetcher: locationFetcher, notificationCenter: notificationCenter,
            placeFinder: self.placeFinder, timerScheduler: timerScheduler)
        trackingModel = TrackingModel(
            tracker: tracker ?? eventQueue ?? NowhereTracker(), isTest: configuration.isUnitTesting,
            userID: configuration.userID)
        self.eventQueue = eventQueue
        eventUploader = eventQueue.map { [service] queue in
            EventUploader(
                queue: queue, service: service, policy: eventUploadPolicy, report: eventUploadReport)
        }
    }

    /// Reports what is wrong with a place, or missing.
    ///
    /// With a queue it returns as soon as the report is in its file: the queue's `EventUploader` sends it once there is a
    /// network, also after the app was killed, and it counts once. Without one the report is sent now.
    ///
    /// - Throws: without a queue, what `PointsOfInterestService.report(_:)` throws.
    public func report(_ report: PlaceReport) async throws {
        guard let eventQueue else { return try await service.report(report) }
        eventQueue.report(report)
    }

    /// Makes a list of the places nearby.
    public func makeList(
        request: NearbyPlacesRequest = NearbyPlacesRequest(center: nil), policy: LoadPolicy = .cacheAndNetwork
    ) -> PointsOfInterestList {
        PointsOfInterestList(
            placeFinder: placeFinder, locationSource: locationProvider,
            notificationCenter: notificationCenter,
            request: request, policy: policy)
    }

    /// Makes a manager of the featured places.
    public func makeFeaturedPlaceManager(policy: LoadPolicy = .cacheAndNetwork) -> FeaturedPlaceManager {
        FeaturedPlaceManager(
            placeFinder: placeFinder, locationSource: locationProvider, timerScheduler: timerScheduler,
            policy: policy)
    }

    /// Makes the places of a map.
    public func makeMap(
        request: NearbyPlacesRequest = NearbyPlacesRequest(center: nil), policy: LoadPolicy = .cacheAndNetwork
    ) -> PlacesMap {
        PlacesMap(placeFinder: placeFinder, request: request, policy: policy)
    }

    /// Makes a search that finds places while somebody types.
    public func makeSearch(
        scope: PlaceSearch.Scope = .nearby, request: NearbyPlacesRequest = NearbyPlacesRequest(center: nil),
        policy: LoadPolicy = .cacheAndNetwork, clock: any Clock<Duration> = ContinuousClock()
    ) -> PlaceSearch {
        PlaceSearch(
            placeFinder: placeFinder, locationSource: locationProvider, scope: scope, request: request,
            policy: policy, clock: clock)
    }

    /// Makes the favourites of a person from the ids that the app has stored.
    public func makeFavorites(
        ids: [Int], properties: [String] = [], languages: [String] = [],
        policy: LoadPolicy = .cacheAndNetwork
    ) -> FavoritePlaces {
        FavoritePlaces(
            ids: ids, placeFinder: placeFinder, locationSource: locationProvider, properties: properties,
            languages: languages, policy: policy)
    }

    /// Makes the details of a place, with its distance from the last location if that is known.
    ///
    /// - Parameters:
    ///   - id: the place's id.
    ///   - place: the place as another screen has it; it is shown until the details are there.
    ///   - languages: the languages of the user, the preferred one first, at most 10.
    ///   - policy: whether what is kept of the place is shown until the service has responded.
    public func makeDetails(
        id: Int, place: PointOfInterest? = nil, languages: [String] = [],
        policy: LoadPolicy = .cacheAndNetwork
    ) -> Loadable<PointOfInterest> {
        Loadable(place, policy: policy) { [placeFinder] in
            let page = await placeFinder.keptPlaces(ids: [id], languages: languages)
            return page.flatMap { page in
                page.places.first.map { ($0.at(distance: place?.distance), page.receivedAt) }
            }
        } fetch: { [placeFinder, locationProvider] in
            try await placeFinder.place(
                id: id, center: await locationProvider.lastLocation, languages: languages)
        }
    }

    /// Makes the categories, the most frequent one first.
    ///
    /// - Parameters:
    ///   - languages: the languages of the user, the preferred one first, at most 10: categories come with their labels in these.
    ///   - policy: whether the kept categories are shown until the service has responded.
    public func makeCategories(
        languages: [String] = [], policy: LoadPolicy = .cacheAndNetwork
    ) -> Loadable<[CategoryCount]> {
        Loadable(policy: policy) { [placeFinder] in
            await placeFinder.keptCategories(languages: languages)
                .map { ($0.categories.uniqued(by: \.name), $0.receivedAt) }
        } fetch: { [placeFinder] in
            try await placeFinder.categories(languages: languages, searchText: nil).uniqued(by: \.name)
        }
    }

    /// Makes the datasets that places came from, whose credits a map shows.
    public func makeAttributions(policy: LoadPolicy = .cacheAndNetwork) -> Loadable<[Attribution]> {
        Loadable(policy: policy) { [placeFinder] in
            await placeFinder.keptAttributions().map { ($0.attributions.uniqued(by: \.self), $0.receivedAt) }
        } fetch: { [placeFinder] in
            try await placeFinder.attributions().uniqued(by: \.self)
        }
    }
}
