import HTTPServer

/// What stands around all routes: answers to errors, compression, and what scripts of other origins may read.
///
/// Most requests need none of it, and go straight to their route. Belongs to one loop.
package final class ServiceHandler: HTTPHandler {
    private let router: HTTPRouter
    private let errorResponder: any HTTPErrorResponder
    private let crossOrigin: CrossOriginPolicy
    private let compression = ResponseCompression()

    init(
        router: HTTPRouter, errorResponder: any HTTPErrorResponder, crossOrigin: CrossOriginPolicy
    ) {
        self.router = router
        self.errorResponder = errorResponder
        self.crossOrigin = crossOrigin
    }

    /// All that answers over one store of places and one of events.
    ///
    /// - Parameter rateLimiter: counts the requests of all loops; nil where there is no limit.
    package convenience init(
        store: any LocationStore, events: any EventStore, health: Health, configuration: ServiceConfiguration,
        errorResponder: any HTTPErrorResponder, observability: Observability, rateLimiter: RateLimiter?
    ) {
        self.init(
            router: Routes.router(
                store: store, events: events, health: health, configuration: configuration,
                observability: observability, rateLimiter: rateLimiter),
            errorResponder: errorResponder,
            crossOrigin: CrossOriginPolicy(configuration.access.allowedOrigins))
    }

    /// The templates of all routes.
    package var routeTemplates: [String] { router.routes.map(\.template) }

    /// The fields of every answer, whatever it is: each could have been another for another request.
    static func commonFields(_ crossOrigin: CrossOriginPolicy) -> HTTPHeaders {
        var fields: HTTPHeaders = [
            .vary: crossOrigin.dependsOnOrigin ? "Accept, Accept-Encoding, Origin" : "Accept, Accept-Encoding"
        ]
        fields.add(contentsOf: crossOrigin.commonFields)
        return fields
    }

    /// Itself, where there is something to do around the route; else the route's handler.
    package func handler(
        for request: HTTPRequest, context: RequestContext
    ) throws(HTTPError) -> any HTTPHandler {
        if crossOrigin.concerns(request) || request.headers.contains(.acceptEncoding) { return self }
        return try router.handler(for: request, context: context)
    }

    /// What the route answers, compressed and readable for scripts as they may.
    package func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        var response = await answer(request, context)
        do throws(HTTPError) {
            try compression.apply(to: &response, for: request)
        } catch {
            response = errorResponder.response(to: error, context: context)
        }
        addCrossOriginFields(to: &response, for: request)
        return response
    }

    /// Lets scripts of other origins read an answer as they may; `respond` has done it for its own.
    package func addCrossOriginFields(to response: inout HTTPResponse, for request: HTTPRequest) {
        if let fields = crossOrigin.fields(for: request) { response.headers.add(contentsOf: fields) }
    }

    private func answer(_ request: HTTPRequest, _ context: RequestContext) async -> HTTPResponse {
        if crossOrigin.concerns(request),
            let preflight = crossOrigin.preflightAnswer(
                to: request, methods: router.allowedMethods(for: request))
        {
            return preflight
        }
        do {
            return try await router.respond(to: request, context: context)
        } catch {
            return errorResponder.response(to: error, context: context)
        }
    }
}
