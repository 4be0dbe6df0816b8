/// Finds the handler of a request by its path and method.
///
/// Segments match byte for byte, as they were sent; parameters match any segment that isn't empty and are
/// percent-decoded. An exact segment wins over a parameter. Nothing is normalised: a trailing slash, an
/// empty segment or a dot segment is another path. Where a path has routes, `HEAD` is answered by `GET`'s,
/// `OPTIONS` by what is allowed, and other methods are refused with 405. Belongs to one loop.
public final class HTTPRouter: HTTPHandler {
    /// Every route's method and template, in the order in which they were added.
    public private(set) var routes: [(method: HTTPMethod, template: String)] = []
    private let root = RouteNode()

    /// A router without routes.
    public init() {}

    /// Adds a route. Traps where the same one was added before: a mistake of the program.
    ///
    /// - Parameter template: a path, whose segments of the form `{name}` are parameters.
    public func add(_ method: HTTPMethod, _ template: String, _ handler: any HTTPHandler) {
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
        node.add(Route(method: method, template: template, parameters: parameters, handler: handler))
    }

    /// Adds a route whose handler is a closure.
    public func add(_ method: HTTPMethod, _ template: String, _ body: @escaping ClosureHandler.Body) {
        add(method, template, ClosureHandler(body))
    }

    /// A way to add routes whose handlers stand behind middleware.
    public func grouped(_ middleware: any HTTPMiddleware...) -> RouteGroup {
        grouped(middleware)
    }

    /// A way to add routes whose handlers stand behind middleware, the first of which sees requests first.
    public func grouped(_ middleware: [any HTTPMiddleware]) -> RouteGroup {
        RouteGroup(router: self, middleware: middleware)
    }

    /// The handler of the request's route.
    ///
    /// - Throws: `HTTPError` 404, 405, or 400 for a parameter whose encoding is broken.
    public func handler(
        for request: HTTPRequest, context: RequestContext
    ) throws(HTTPError) -> any HTTPHandler {
        if let route = try find(request, context) { return route.handler }
        return try handlerWithoutRoute(request, context)
    }

    /// What the request's route answers.
    ///
    /// - Throws: as `handler(for:context:)`, and what the route's handler throws.
    public func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        try await handler(for: request, context: context).respond(to: request, context: context)
    }

    /// The route of a request, its parameters put into the context; nil where the method has none.
    private func find(_ request: HTTPRequest, _ context: RequestContext) throws(HTTPError) -> Route? {
        let result = request.withPath { path in
            Result { () throws(HTTPError) -> Route? in
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

    private func handlerWithoutRoute(
        _ request: HTTPRequest, _ context: RequestContext
    ) throws(HTTPError) -> any HTTPHandler {
        if request.path == "*" { return ClosureHandler { _, _ in HTTPResponse(.noContent) } }
        guard let node = node(of: request) else {
            throw HTTPError(.notFound, .notFound, "There is nothing at this path.")
        }
        context.routeTemplate = node.template
        if request.method == .options {
            let allow = node.allow
            return ClosureHandler { _, _ in HTTPResponse(.noContent, headers: [.allow: allow]) }
        }
        throw HTTPError(
            .methodNotAllowed, .methodNotAllowed, "This path does not have this method.",
            headers: [.allow: node.allow])
    }
}

/// Adds routes to a router, behind middleware.
public struct RouteGroup {
    private let router: HTTPRouter
    private let middleware: [any HTTPMiddleware]

    init(router: HTTPRouter, middleware: [any HTTPMiddleware]) {
        self.router = router
        self.middleware = middleware
    }

    /// Adds a route, as `HTTPRouter.add` does.
    public func add(_ method: HTTPMethod, _ template: String, _ handler: any HTTPHandler) {
        router.add(method, template, handler.wrapped(in: middleware))
    }

    /// Adds a route whose handler is a closure.
    public func add(_ method: HTTPMethod, _ template: String, _ body: @escaping ClosureHandler.Body) {
        add(method, template, ClosureHandler(body))
    }
}
