import HTTPServer
import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Telemetry

enum Routes {
    /// The router of one loop. Health has no limits and needs no key, so that a busy process isn't taken for a dead one.
    /// Pages and documents need no key either: they describe how to use the service.
    static func router(
        store: any PlaceStore, events: any EventStore, edits: (any EditStore)? = nil,
        reports: (any ReportStore)? = nil, health: Health, configuration: ServiceConfiguration,
        limits: EditingLimits? = nil, observability: Observability
    ) -> HTTPRouter {
        let router = HTTPRouter()
        let access = configuration.access
        let editing = edits == nil ? nil : configuration.editing.access
        let takesReports = reports != nil && configuration.reports.isOn
        let cachePolicy = CachePolicy(configuration.caching, requiresKey: !access.keys.isEmpty)
        router.add(.get, EndpointPath.livez, LivenessHandler())
        router.add(.get, EndpointPath.readyz, ReadinessHandler(health: health))
        let page = StartPage(
            configuration.startPage,
            editing: editing.map { _ in .init(takesReports: takesReports) })
        addDocuments(to: router, cachePolicy, page)
        router.add(
            .get, EndpointPath.openAPI,
            OpenAPIHandler(store: store, cachePolicy: cachePolicy) { vocabulary in
                OpenAPIDocument(
                    vocabulary: vocabulary, requiresKey: !access.keys.isEmpty,
                    catalog: configuration.events.catalog,
                    eventsRequireKey: !configuration.events.keys.isEmpty,
                    limitsRate: access.rateLimit != nil, hasEditors: editing != nil,
                    takesReports: takesReports, hasDigest: configuration.digestMaxPlaces != nil)
            })
        addEvents(to: router, events, configuration, observability)
        addData(to: router, store, cachePolicy, configuration)
        let limits = limits ?? EditingLimits(configuration)
        if let edits, let editing {
            addEditing(to: router, edits, store, editing, configuration, limits)
        }
        if let reports, takesReports {
            addReports(to: router, reports, editing, configuration, limits)
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
        case EndpointPath.record, EndpointPath.versions, EndpointPath.restore, EndpointPath.merge,
            EndpointPath.changes, EndpointPath.report:
            true
        case EndpointPath.reports: ![.post, .options].contains(method)
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

    /// The checks of the requests of editors: a key of theirs, their limits, and those of requests in flight.
    private static func editorChecks(
        _ editing: EditingAccess, _ configuration: ServiceConfiguration, _ limits: EditingLimits
    ) -> [any HTTPRequestCheck] {
        [
            EditorRequirement(
                access: editing, readers: KeyRequirement(keys: configuration.access.keys, editing: nil),
                limits: limits),
            InFlightLimit(configuration.maxInFlightPerLoop),
        ]
    }

    /// Adds the route by which people report, with the keys of reading, and those by which editors see what was reported.
    private static func addReports(
        to router: HTTPRouter, _ reports: any ReportStore, _ editing: EditingAccess?,
        _ configuration: ServiceConfiguration, _ limits: EditingLimits
    ) {
        let handlers = ReportHandlers(store: reports, ignoredParameters: configuration.ignoredParameters)
        router.add(
            .post, EndpointPath.reports,
            checks: [ReportLimit(reports: limits.reports)]
                + checks(configuration.access.keys, editing: editing, configuration),
            maximumBodyBytes: ReportLimits.bodyBytes, handlers.store)
        guard let editing else { return }
        let checks = editorChecks(editing, configuration, limits)
        router.add(.get, EndpointPath.reports, checks: checks, handlers.list)
        router.add(.patch, EndpointPath.report, checks: checks, maximumBodyBytes: ReportLimits.bodyBytes) {
            try await handlers.change($0, $1, by: editing)
        }
        router.add(.delete, EndpointPath.report, checks: checks) {
            try await handlers.remove($0, $1, by: editing)
        }
    }

    /// Adds the routes of editors, with a key and limits of their own.
    private static func addEditing(
        to router: HTTPRouter, _ edits: any EditStore, _ store: any PlaceStore, _ editing: EditingAccess,
        _ configuration: ServiceConfiguration, _ limits: EditingLimits
    ) {
        let handlers = EditingHandlers(
            store: edits, places: store, access: editing, ignoredParameters: configuration.ignoredParameters,
            license: configuration.editing.license)
        let checks = editorChecks(editing, configuration, limits)
        func add(
            _ method: HTTPMethod, _ path: String, maximumBodyBytes: Int = 0,
            _ body: @escaping ClosureHandler.Body
        ) {
            router.add(method, path, checks: checks, maximumBodyBytes: maximumBodyBytes, body)
        }
        add(.get, EndpointPath.record, handlers.record)
        add(.get, EndpointPath.versions, handlers.versions)
        add(.get, EndpointPath.changes, handlers.changes)
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
        to router: HTTPRouter, _ cachePolicy: CachePolicy, _ page: StartPage
    ) {
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
        if let maximumCount = configuration.digestMaxPlaces {
            router.add(
                .get, EndpointPath.digest, checks: checks,
                DigestHandler(
                    store: store, cachePolicy: cachePolicy, ignoredParameters: ignored,
                    loggedCoordinates: configuration.logCoordinates, clients: clients,
                    maximumCount: maximumCount))
        }
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
