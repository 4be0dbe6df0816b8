import HTTPServer
import PointsOfInterestAPI

/// What the service answers to, in one place.
enum Routes {
    /// The router of one loop.
    ///
    /// Health doesn't count towards the in-flight limit: a busy process is alive, and says so.
    static func router(
        store: any LocationStore, health: Health, configuration: ServiceConfiguration
    ) -> HTTPRouter {
        let router = HTTPRouter()
        router.add(.get, EndpointPath.livez, LivenessHandler())
        router.add(.get, EndpointPath.readyz, ReadinessHandler(health: health))

        let limited = router.grouped(InFlightLimit(configuration.maxInFlightPerLoop))
        limited.add(
            .get, EndpointPath.locations,
            LocationsHandler(store: store, ignoredParameters: configuration.ignoredParameters))
        limited.add(
            .get, EndpointPath.openAPI, OpenAPIHandler(store: store, requiresKey: false, limitsRate: false))
        return router
    }
}
