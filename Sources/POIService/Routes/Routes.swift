import HTTPServer
import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Telemetry

enum Routes {
    /// The router of one loop. Health has no limits and needs no key, so that a busy process isn't taken for a dead one.
    /// Pages and documents need no key either: they describe how to use the service.
    static func router(
        store: any PlaceStore, events: any EventStore, edits: (any EditStore)? = nil, health: Health,
        configuration: ServiceConfiguration, limits: EditingLimits? = nil, observability: Observability
    ) -> HTTPRouter {
        let router = HTTPRouter()
        let access = configuration.access
        let cachePolicy = CachePolicy(configuration.caching, requiresKey: !access.keys.isEmpty)
        router.add(.get, EndpointPath.livez, LivenessHandler())
        router.add(.get, EndpointPath.readyz, ReadinessHandler(health: health))
        addDocuments(to: router, cachePolicy, configuration.startPage)
        router.add(
            .get, EndpointPath.openAPI,
            OpenAPIHandler(store: store, cachePolicy: cachePolicy) { vocabulary in
                OpenAPIDocument(
                    vocabulary: vocabulary, requiresKey: !access.keys.isEmpty,
                    catalog: configuration.events.catalog,
                    eventsRequireKey: !configuration.events.keys.isEmpty,
                    limitsRate: access.rateLimit != nil,
                    hasEditors: edits != nil && configuration.editing.access != nil)
            })
        addEvents(to: router, events, configuration, observability)
        addData(to: router, store, cachePolicy, configuration)
        if let edits, let editing = configuration.editing.access {
            addEditing(
                to: router, edits, store, editing, configuration, limits ?? EditingLimits(configuration))
        }
        return router
    }

    /// Whether requests for a route count towards their client's limit. Editing has a limit of its own. The start page's files don't count: a browser
    /// requests 20 of them at once, and doesn't request a refused script again.
    static func isLimited(_ template: String?) -> Bool {
        template != EndpointPath.livez && template != EndpointPath.readyz && template != StartPageFiles.path
    }

    /// Whether this is a request of editors.
    static func isEditing(_ method: HTTPMethod, _ template: String?) -> Bool {
        switch template {
        case EndpointPath.record, EndpointPath.versions, EndpointPath.restore, EndpointPath.merge: true
        case EndpointPath.locations, EndpointPath.location: ![.get, .head, .options].contains(method)
        default: false
        }
    }

    /// The checks of a group of routes: a key, if there are keys, and the group's limit of requests in flight.
    private static func checks(
        _ keys: [AccessKey], editing: EditingAccess? = nil, _ configuration: ServiceConfiguration
    ) -> [any HTTPRequestCheck] {
        let limit = InFlightLimit(configuration.maxInFlightPerLoop)
        return keys.isEmpty ? [limit] : [KeyRequirement(keys: keys, editing: editing), limit]
    }

    /// Adds the routes of editors, with a key and limits of their own.
    private static func addEditing(
        to router: HTTPRouter, _ edits: any EditStore, _ store: any PlaceStore, _ editing: EditingAccess,
        _ configuration: ServiceConfiguration, _ limits: EditingLimits
    ) {
        let handlers = EditingHandlers(
            store: edits, places: store, access: editing, ignoredParameters: configuration.ignoredParameters,
            license: configuration.editing.license)
        let checks: [any HTTPRequestCheck] = [
            EditorRequirement(
                access: editing, readers: KeyRequirement(keys: configuration.access.keys, editing: nil),
                limits: limits),
            InFlightLimit(configuration.maxInFlightPerLoop),
        ]
        func add(
            _ method: HTTPMethod, _ path: String, maximumBodyBytes: Int = 0,
            _ body: @escaping ClosureHandler.Body
        ) {
            router.add(method, path, checks: checks, maximumBodyBytes: maximumBodyBytes, body)
        }
        add(.get, EndpointPath.record, handlers.record)
        add(.get, EndpointPath.versions, handlers.versions)
        add(.post, EndpointPath.locations, maximumBodyBytes: EditLimits.bodyBytes, handlers.create)
        add(.patch, EndpointPath.location, maximumBodyBytes: EditLimits.bodyBytes, handlers.correct)
        add(.delete, EndpointPath.location, handlers.remove)
        add(.post, EndpointPath.restore, maximumBodyBytes: EditLimits.bodyBytes, handlers.restore)
        add(.post, EndpointPath.merge, maximumBodyBytes: EditLimits.bodyBytes, handlers.merge)
    }

    /// Adds the route for events. It has its own keys and limit, so that reading and writing don't block each other.
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

    private static func addDocuments(
        to router: HTTPRouter, _ cachePolicy: CachePolicy, _ configuration: StartPageConfiguration
    ) {
        let page = StartPage(configuration)
        router.add(.get, "/", page.document)
        router.add(.get, StartPageFiles.path, page.files)
        router.add(.get, ProblemPages.indexPath, ProblemPages.index(cachePolicy))
        router.add(.get, EndpointPath.problem, ProblemPages(cachePolicy))
    }

    private static func addData(
        to router: HTTPRouter, _ store: any PlaceStore, _ cachePolicy: CachePolicy,
        _ configuration: ServiceConfiguration
    ) {
        let checks = checks(
            configuration.access.keys, editing: configuration.editing.access, configuration)
        let ignored = configuration.ignoredParameters
        let clients = ClientIdentification(trustedProxies: configuration.access.trustedProxies)
        router.add(
            .get, EndpointPath.locations, checks: checks,
            NearbyPlacesHandler(
                store: store, cachePolicy: cachePolicy, ignoredParameters: ignored,
                loggedCoordinates: configuration.logCoordinates, clients: clients))
        router.add(
            .get, EndpointPath.clusters, checks: checks,
            ClustersHandler(
                store: store, cachePolicy: cachePolicy, ignoredParameters: ignored,
                loggedCoordinates: configuration.logCoordinates, clients: clients))
        router.add(
            .get, EndpointPath.location, checks: checks,
            PlaceHandler(
                store: store, cachePolicy: cachePolicy, ignoredParameters: ignored,
                loggedCoordinates: configuration.logCoordinates))
        router.add(
            .get, EndpointPath.categories, checks: checks,
            CountsHandler<CategoryCount>(store: store, cachePolicy: cachePolicy, ignoredParameters: ignored))
        router.add(
            .get, EndpointPath.attributions, checks: checks,
            CountsHandler<Attribution>(store: store, cachePolicy: cachePolicy, ignoredParameters: ignored))
    }
}
