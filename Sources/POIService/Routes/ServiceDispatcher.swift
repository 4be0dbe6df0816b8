import EventLoop
import HTTPServer
import Places
import PointsOfInterestAPI
import Telemetry

/// The service's root handler: applies the rate limit, cross-origin rules, preconditions and compression around the routes.
/// Belongs to one loop.
package final class ServiceDispatcher: HTTPDispatcher {
    private let router: HTTPRouter
    private let errorResponder: any HTTPErrorResponder
    private let crossOrigin: CrossOriginPolicy
    private let editing: EditingAccess?
    private let rateLimiting: RateLimiting?
    private let compression = ResponseCompression()

    package init(
        store: any PlaceStore, events: any EventStore, edits: (any EditStore)? = nil,
        reports: (any ReportStore)? = nil, health: Health,
        configuration: ServiceConfiguration, errorResponder: any HTTPErrorResponder,
        observability: Observability, limits: SharedLimits
    ) {
        router = Routes.router(
            store: store, events: events, edits: edits, reports: reports, health: health,
            configuration: configuration, limits: limits.editing, observability: observability)
        editing = edits == nil ? nil : configuration.editing.access
        self.errorResponder = errorResponder
        crossOrigin = CrossOriginPolicy(configuration.access.allowedOrigins)
        rateLimiting = limits.rateLimiter.map {
            RateLimiting(
                limiter: $0,
                identification: ClientIdentification(trustedProxies: configuration.access.trustedProxies))
        }
    }

    package var routeTemplates: [String] { router.routes.map(\.template) }

    static func commonFields(_ crossOrigin: CrossOriginPolicy) -> HTTPHeaders {
        var fields: HTTPHeaders = [
            .vary: crossOrigin.dependsOnOrigin ? "Accept, Accept-Encoding, Origin" : "Accept, Accept-Encoding"
        ]
        fields.add(contentsOf: crossOrigin.commonFields)
        return fields
    }

    /// Adds the fields that let scripts of the request's origin read the response, if that origin is allowed.
    package func allowOrigin(of request: HTTPRequest, in context: RequestContext) {
        if let fields = crossOrigin.fields(for: request) { context.responseFields = fields }
    }

    /// As for others, for a script's request to edit.
    ///
    /// - Returns: the response to a preflight of an origin whose pages may edit; nil for another request.
    private func allowEditingOrigin(
        of request: HTTPRequest, _ editing: EditingAccess, in context: RequestContext
    ) -> HTTPResponse? {
        let method = CrossOriginPolicy.method(ofPreflight: request) ?? request.method
        guard Routes.isEditing(method, router.template(for: request)) else { return nil }
        if crossOrigin.commonFields.isEmpty, let fields = editing.origins.fields(for: request) {
            context.responseFields = fields
        }
        return editing.origins.preflightResponse(to: request, methods: router.allowedMethods(for: request))
    }

    /// Counts the request towards its client's limit, where its route has one, and applies the checks of its route.
    package func admit(_ request: HTTPRequest, context: RequestContext) throws(HTTPError) -> HTTPAdmission {
        if crossOrigin.concerns(request) {
            allowOrigin(of: request, in: context)
            if let preflight = crossOrigin.preflightResponse(
                to: request, methods: router.allowedMethods(for: request))
            {
                return HTTPAdmission(FixedResponse(preflight))
            }
        }
        if let editing, request.headers.contains(.origin),
            let preflight = allowEditingOrigin(of: request, editing, in: context)
        {
            return HTTPAdmission(FixedResponse(preflight))
        }
        let route: HTTPRoute
        do throws(HTTPError) {
            route = try router.route(for: request, context: context)
        } catch {
            try count(request, context)
            throw error
        }
        try count(request, context)
        let admission = try route.admit(request, context: context)
        guard request.headers.hasAcceptEncodingOrIfMatch else { return admission }
        return route.admission { handler in
            FinishingHandler(next: handler, compression: compression, errorResponder: errorResponder)
        }
    }

    private func count(_ request: HTTPRequest, _ context: RequestContext) throws(HTTPError) {
        guard let rateLimiting, Routes.isLimited(context.routeTemplate) else { return }
        if editing != nil, Routes.isEditing(request.method, context.routeTemplate) { return }
        if let refusal = rateLimiting.refusal(of: request, context) { throw refusal }
    }

    /// The response to a complete request; errors become problems.
    package func response(to request: HTTPRequest, context: RequestContext) async -> HTTPResponse {
        do {
            return try await respond(to: request, context: context)
        } catch {
            return errorResponder.response(to: error, context: context)
        }
    }

    package func refusal(ofMalformedRequest context: RequestContext) -> HTTPError? {
        rateLimiting?.refusal(ofMalformedRequest: context)
    }
}

/// Evaluates `If-Match`, and compresses the response.
private struct FinishingHandler: HTTPHandler {
    let next: any HTTPHandler
    let compression: ResponseCompression
    let errorResponder: any HTTPErrorResponder

    func respond(to request: HTTPRequest, context: RequestContext) throws -> NowOrLaterResponse {
        let result: Result<HTTPResponse, any Error>
        do {
            switch try next.respond(to: request, context: context) {
            case .now(let response): result = .success(response)
            case .later(let getResponse):
                return .later {
                    let result: Result<HTTPResponse, any Error>
                    do { result = .success(try await getResponse()) } catch { result = .failure(error) }
                    return try finish(result, of: request, context)
                }
            }
        } catch {
            result = .failure(error)
        }
        return .now(try finish(result, of: request, context))
    }

    private func finish(
        _ result: Result<HTTPResponse, any Error>, of request: HTTPRequest, _ context: RequestContext
    ) throws(HTTPError) -> HTTPResponse {
        var response: HTTPResponse
        do {
            response = try result.get()
            // Preconditions are ignored if the request fails without them, or leads elsewhere (RFC 9110, section 13.2.1).
            // A record has a strong tag, which its handler compares.
            if request.method == .get || request.method == .head, !request.headers.ifMatchHolds,
                response.status != .permanentRedirect, context.routeTemplate != EndpointPath.record
            {
                throw HTTPError.preconditionFailed
            }
        } catch {
            response = errorResponder.response(to: error, context: context)
        }
        try compression.apply(to: &response, for: request)
        return response
    }
}
