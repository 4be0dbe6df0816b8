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

        let cachePolicy = CachePolicy(configuration.caching, requiresKey: false)
        let ignored = configuration.ignoredParameters
        let limited = router.grouped(InFlightLimit(configuration.maxInFlightPerLoop))
        limited.add(
            .get, EndpointPath.locations,
            LocationsHandler(store: store, cachePolicy: cachePolicy, ignoredParameters: ignored))
        limited.add(
            .get, EndpointPath.location,
            LocationHandler(store: store, cachePolicy: cachePolicy, ignoredParameters: ignored))
        limited.add(
            .get, EndpointPath.categories,
            CategoriesHandler(store: store, cachePolicy: cachePolicy, ignoredParameters: ignored))
        limited.add(
            .get, EndpointPath.openAPI,
            OpenAPIHandler(store: store, cachePolicy: cachePolicy, requiresKey: false, limitsRate: false))
        return router
    }
}
