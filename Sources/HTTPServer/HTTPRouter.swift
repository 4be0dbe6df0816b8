/// Finds the handler of a request by its path and method.
///
/// Segments match byte for byte, as they were sent; parameters match any segment that isn't empty and are
/// percent-decoded. An exact segment wins over a parameter. Nothing is normalised: a trailing slash, an
/// empty segment or a dot segment is another path. Where a path has routes, `HEAD` is answered by `GET`'s,
/// `OPTIONS` by what is allowed, and other methods are refused with 405. Belongs to one loop.
public final class HTTPRouter: HTTPDispatcher {
    /// Every route's method and template, in the order in which they were added.
    public private(set) var routes: [(method: HTTPMethod, template: String)] = []
    private let root = RouteNode()

    /// A router without routes.
    public init() {}

    /// Adds a route. Traps where the same one was added before: a mistake of the program.
    ///
    /// - Parameters:
    ///   - template: a path, whose segments of the form `{name}` are parameters.
    ///   - checks: what a request has to pass, in this order.
    ///   - maximumBodyBytes: the most bytes of a body; a request with more is refused with 413.
    public func add(
        _ method: HTTPMethod, _ template: String, checks: [any HTTPRequestCheck] = [],
        maximumBodyBytes: Int = 0, _ handler: any HTTPHandler
    ) {
        precondition(template.utf8.first == ASCII.slash, "a route's template starts with a slash")
        var node = root
        var parameters: [String] = []
        for segment in template.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            if segment.hasPrefix("{"), segment.hasSuffix("}") {
                parameters.append(String(segment.dropFirst().dropLast()))
                node = node.parameterChild()
            } else {
                node = node.child(named: Array(segment.utf8))
            }
        }
        precondition(!node.routes.contains { $0.method == method }, "a route is added once")
        routes.append((method, template))
        node.add(
            HTTPRoute(
                method: method, template: template, parameters: parameters, checks: checks,
                admission: HTTPAdmission(handler, maximumBodyBytes: maximumBodyBytes)))
    }

    /// Adds a route whose handler is a closure.
    public func add(
        _ method: HTTPMethod, _ template: String, checks: [any HTTPRequestCheck] = [],
        maximumBodyBytes: Int = 0, _ body: @escaping ClosureHandler.Body
    ) {
        add(method, template, checks: checks, maximumBodyBytes: maximumBodyBytes, ClosureHandler(body))
    }

    /// The admission of the request's route.
    ///
    /// - Throws: as `route(for:context:)`, and the refusal of the route's checks.
    public func admit(_ request: HTTPRequest, context: RequestContext) throws(HTTPError) -> HTTPAdmission {
        try route(for: request, context: context).admit(request, context: context)
    }

    /// The request's route, which hasn't checked it yet.
    ///
    /// - Throws: `HTTPError` 404, 405, or 400 for a parameter whose encoding is broken.
    public func route(for request: HTTPRequest, context: RequestContext) throws(HTTPError) -> HTTPRoute {
        if let route = try find(request, context) { return route }
        return try implicitRoute(request, context)
    }

    /// The route of a request, its parameters put into the context; nil where the method has none.
    private func find(_ request: HTTPRequest, _ context: RequestContext) throws(HTTPError) -> HTTPRoute? {
        let result = request.withPath { path in
            Result { () throws(HTTPError) -> HTTPRoute? in
                var values: [Range<Int>] = []
                guard let route = root.match(path, &values)?.route(for: request.method) else { return nil }
                context.routeTemplate = route.template
                for (name, range) in zip(route.parameters, values) {
                    guard let value = PercentDecoding.decode(path[range]) else {
                        throw HTTPError(
                            .badRequest, .invalidPathEncoding, "A path parameter that is not well encoded.")
                    }
                    context.pathParameters.append((name, value))
                }
                return route
            }
        }
        return try result.get()
    }

    /// The methods that a client may use at the request's path, as `Allow` lists them; nil where there is
    /// nothing.
    public func allowedMethods(for request: HTTPRequest) -> String? {
        node(of: request)?.allow
    }

    private func node(of request: HTTPRequest) -> RouteNode? {
        request.withPath { path in
            var values: [Range<Int>] = []
            return root.match(path, &values)
        }
    }

    /// What every path has without being told: `OPTIONS`.
    private func implicitRoute(
        _ request: HTTPRequest, _ context: RequestContext
    ) throws(HTTPError) -> HTTPRoute {
        if request.path == "*" { return Self.optionsRoute("*", [:]) }
        guard let node = node(of: request) else {
            throw HTTPError(.notFound, .notFound, "There is nothing at this path.")
        }
        context.routeTemplate = node.template
        if request.method == .options { return Self.optionsRoute(node.template ?? "", [.allow: node.allow]) }
        throw HTTPError(
            .methodNotAllowed, .methodNotAllowed, "This path does not have this method.",
            headers: [.allow: node.allow])
    }

    private static func optionsRoute(_ template: String, _ headers: HTTPHeaders) -> HTTPRoute {
        let handler = ClosureHandler { _, _ in HTTPResponse(.noContent, headers: headers) }
        return HTTPRoute(
            method: .options, template: template, admission: HTTPAdmission(handler))
    }
}
