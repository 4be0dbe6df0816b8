import HTTPServer
import PointsOfInterestAPI

/// What the service answers to, in one place.
enum Routes {
    /// The router of one loop.
    ///
    /// Health counts towards no limit and needs no key: a busy process is alive, and says so. Pages and
    /// documents, which say how to ask, need no key either.
    static func router(
        store: any PlaceStore, events: any EventStore, health: Health, configuration: ServiceConfiguration,
        observability: Observability
    ) -> HTTPRouter {
        let router = HTTPRouter()
        let access = configuration.access
        let cachePolicy = CachePolicy(configuration.caching, requiresKey: !access.keys.isEmpty)
        router.add(.get, EndpointPath.livez, LivenessHandler())
        router.add(.get, EndpointPath.readyz, ReadinessHandler(health: health))
        addDocuments(to: router, cachePolicy)
        router.add(
            .get, EndpointPath.openAPI,
            OpenAPIHandler(store: store, cachePolicy: cachePolicy) { vocabulary in
                OpenAPIDocument(
                    vocabulary: vocabulary, requiresKey: !access.keys.isEmpty,
                    catalog: configuration.events.catalog,
                    eventsRequireKey: !configuration.events.keys.isEmpty,
                    limitsRate: access.rateLimit != nil)
            })
        addEvents(to: router, events, configuration, observability)
        addData(to: router, store, cachePolicy, configuration)
        return router
    }

    /// Whether requests of a route count towards the limit of a client.
    static func isLimited(_ template: String?) -> Bool {
        template != EndpointPath.livez && template != EndpointPath.readyz
    }

    /// What a request of a group of routes has to pass: a key where there are some, and room in the group's limit.
    private static func checks(
        _ keys: [AccessKey], _ configuration: ServiceConfiguration
    ) -> [any HTTPRequestCheck] {
        let limit = InFlightLimit(configuration.maxInFlightPerLoop)
        return keys.isEmpty ? [limit] : [KeyRequirement(keys: keys), limit]
    }

    /// What takes the app's events: with keys and a limit of its own, so that neither readers nor writers keep the
    /// others out.
    private static func addEvents(
        to router: HTTPRouter, _ store: any EventStore, _ configuration: ServiceConfiguration,
        _ observability: Observability
    ) {
        router.add(
            .post, EndpointPath.events, checks: checks(configuration.events.keys, configuration),
            maximumBodyBytes: EventLimits.bodyBytes,
            EventsHandler(
                store: store, catalog: configuration.events.catalog,
                admission: EventAdmission(userIDHash: configuration.events.hashKey?.hash),
                ignoredParameters: configuration.ignoredParameters,
                decompression: RequestDecompression(limit: EventLimits.bodyBytes),
                observability: observability))
    }

    /// What is the same for everybody, for as long as the process runs.
    private static func addDocuments(to router: HTTPRouter, _ cachePolicy: CachePolicy) {
        router.add(.get, "/", StartPage.document(cachePolicy))
        router.add(.get, ProblemPages.indexPath, ProblemPages.index(cachePolicy))
        router.add(.get, EndpointPath.problem, ProblemPages(cachePolicy))
    }

    /// What the store answers.
    private static func addData(
        to router: HTTPRouter, _ store: any PlaceStore, _ cachePolicy: CachePolicy,
        _ configuration: ServiceConfiguration
    ) {
        let checks = checks(configuration.access.keys, configuration)
        let ignored = configuration.ignoredParameters
        router.add(
            .get, EndpointPath.locations, checks: checks,
            NearbyPlacesHandler(
                store: store, cachePolicy: cachePolicy, ignoredParameters: ignored,
                loggedCoordinates: configuration.logCoordinates))
        router.add(
            .get, EndpointPath.location, checks: checks,
            PlaceHandler(
                store: store, cachePolicy: cachePolicy, ignoredParameters: ignored,
                loggedCoordinates: configuration.logCoordinates))
        router.add(
            .get, EndpointPath.categories, checks: checks,
            CategoriesHandler(store: store, cachePolicy: cachePolicy, ignoredParameters: ignored))
    }
}
