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
        store: any LocationStore, events: any EventStore, health: Health, configuration: ServiceConfiguration,
        observability: Observability, rateLimiter: RateLimiter? = nil
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
            OpenAPIHandler(store: store, cachePolicy: cachePolicy) { vocabulary in
                OpenAPIDocument(
                    vocabulary: vocabulary, requiresKey: !access.keys.isEmpty,
                    catalog: configuration.events.catalog,
                    eventsRequireKey: !configuration.events.keys.isEmpty, limitsRate: rateLimiter != nil)
            })
        addEvents(to: router, limits, events, configuration, observability)
        if !access.keys.isEmpty { limits.append(KeyRequirement(keys: access.keys)) }
        limits.append(InFlightLimit(configuration.maxInFlightPerLoop))
        addData(to: router.grouped(limits), store, cachePolicy, configuration)
        return router
    }

    /// What takes the app's events: with keys and a limit of its own, so that neither readers nor writers keep the
    /// others out.
    private static func addEvents(
        to router: HTTPRouter, _ limits: [any HTTPMiddleware], _ store: any EventStore,
        _ configuration: ServiceConfiguration, _ observability: Observability
    ) {
        let keys = configuration.events.keys
        var limits = limits
        if !keys.isEmpty { limits.append(KeyRequirement(keys: keys)) }
        limits.append(InFlightLimit(configuration.maxInFlightPerLoop))
        router.grouped(limits).add(
            .post, EndpointPath.events,
            EventsHandler(
                store: store, catalog: configuration.events.catalog,
                admission: EventAdmission(userIDHash: configuration.events.hashKey?.hash),
                ignoredParameters: configuration.ignoredParameters,
                decompression: RequestDecompression(limit: EventLimits.bodyBytes),
                observability: observability))
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
