import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension AppEnvironment {
    /// Makes the parts of an app whose outside world is a test's: no network, no device, no time, and a
    /// notification center of its own. Nothing is sent twice, since there is no time to pause.
    ///
    /// - Parameters:
    ///   - configuration: what the app is told at its launch; its service is nowhere.
    ///   - notificationCenter: where the app's parts tell each other what happens.
    ///   - timerScheduler: fires at once, unless the test says otherwise.
    ///   - locationFetcher: is in San José, unless the test says otherwise.
    ///   - tracker: takes tracking events.
    ///   - handler: answers requests, by default with the recorded response of their endpoint.
    public static func mock(
        configuration: AppConfiguration = .mock,
        notificationCenter: NotificationCenter = MockNotificationCenter(),
        timerScheduler: any TimerScheduler = MockTimerScheduler(),
        locationFetcher: any LocationFetcher = MockLocationFetcher(),
        tracker: any Tracker = MockTracker(),
        handler: @escaping MockURLProtocol.Handler = { try RecordedResponse.answer(to: $0) }
    ) -> AppEnvironment {
        AppEnvironment(
            configuration: configuration, urlSession: MockURLProtocol.session(handler), retryPolicy: .never,
            notificationCenter: notificationCenter, timerScheduler: timerScheduler,
            locationFetcher: locationFetcher, tracker: tracker)
    }
}

extension AppConfiguration {
    /// The configuration of a test: a service that is nowhere, no headers, and `isUnitTesting`.
    public static var mock: AppConfiguration {
        guard let url = URL(string: "https://service.test") else {
            preconditionFailure("Foundation does not take a plain URL")
        }
        return AppConfiguration(baseURL: url, isUnitTesting: true)
    }
}
