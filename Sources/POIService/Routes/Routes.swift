import HTTPServer
import PointsOfInterestAPI

/// What the service answers to, in one place.
enum Routes {
    /// The router of one loop.
    ///
    /// Health counts towards no limit and needs no key: a busy process is alive, and says so. Pages and
    /// documents, which say how to ask, need no key either.
    /// - Parameter rateLimiter: counts the requests of all loops; nil where there is no limit.
    static func router(
        store: any LocationStore, health: Health, configuration: ServiceConfiguration,
        rateLimiter: RateLimiter? = nil
    ) -> HTTPRouter {
        let router = HTTPRouter()
        let access = configuration.access
        let cachePolicy = CachePolicy(configuration.caching, requiresKey: !access.keys.isEmpty)
        var limits: [any HTTPMiddleware] = []
        if let rateLimiter {
            limits.append(
                RateLimiting(
                    limiter: rateLimiter,
                    identification: ClientIdentification(trustedProxies: access.trustedProxies)))
        }
        router.add(.get, EndpointPath.livez, LivenessHandler())
        router.add(.get, EndpointPath.readyz, ReadinessHandler(health: health))
        let documents = router.grouped(limits)
        addDocuments(to: documents, cachePolicy)
        documents.add(
            .get, EndpointPath.openAPI,
            OpenAPIHandler(
                store: store, cachePolicy: cachePolicy, requiresKey: !access.keys.isEmpty,
                limitsRate: rateLimiter != nil))
        if !access.keys.isEmpty { limits.append(KeyRequirement(keys: access.keys)) }
        limits.append(InFlightLimit(configuration.maxInFlightPerLoop))
        addData(to: router.grouped(limits), store, cachePolicy, configuration)
        return router
    }

    /// What is the same for everybody, for as long as the process runs.
    private static func addDocuments(to routes: RouteGroup, _ cachePolicy: CachePolicy) {
        routes.add(.get, "/", StartPage.document(cachePolicy))
        routes.add(.get, ProblemPages.indexPath, ProblemPages.index(cachePolicy))
        routes.add(.get, EndpointPath.problem, ProblemPages(cachePolicy))
    }

    /// What the store answers.
    private static func addData(
        to routes: RouteGroup, _ store: any LocationStore, _ cachePolicy: CachePolicy,
        _ configuration: ServiceConfiguration
    ) {
        let ignored = configuration.ignoredParameters
        routes.add(
            .get, EndpointPath.locations,
            LocationsHandler(
                store: store, cachePolicy: cachePolicy, ignoredParameters: ignored,
                loggedCoordinates: configuration.logCoordinates))
        routes.add(
            .get, EndpointPath.location,
            LocationHandler(
                store: store, cachePolicy: cachePolicy, ignoredParameters: ignored,
                loggedCoordinates: configuration.logCoordinates))
        routes.add(
            .get, EndpointPath.categories,
            CategoriesHandler(store: store, cachePolicy: cachePolicy, ignoredParameters: ignored))
    }
}
