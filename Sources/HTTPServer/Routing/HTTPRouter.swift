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

/// A route: what responds to one method at paths of one template, and what it asks of a request.
public final class HTTPRoute {
    let method: HTTPMethod
    let template: String
    let parameters: [String]
    let checks: [any HTTPRequestCheck]
    let admission: HTTPAdmission

    init(
        method: HTTPMethod, template: String, parameters: [String] = [],
        checks: [any HTTPRequestCheck] = [], admission: HTTPAdmission
    ) {
        self.method = method
        self.template = template
        self.parameters = parameters
        self.checks = checks
        self.admission = admission
    }

    /// Checks a request, in the order of the route's checks.
    ///
    /// - Throws: the first refusal.
    public func admit(_ request: HTTPRequest, context: RequestContext) throws(HTTPError) -> HTTPAdmission {
        for check in checks { try check.check(request, context: context) }
        return admission
    }
}

/// One segment of the tree of all routes' templates.
private final class RouteNode {
    /// The template that ends here, as it was first added.
    private(set) var template: String?
    /// The methods that a client may use here, as `Allow` lists them.
    private(set) var allow = ""
    private(set) var routes: [HTTPRoute] = []
    private var children: [(segment: [UInt8], node: RouteNode)] = []
    private var parameter: RouteNode?

    func child(named segment: [UInt8]) -> RouteNode {
        if let child = children.first(where: { $0.segment == segment }) { return child.node }
        let node = RouteNode()
        children.append((segment, node))
        return node
    }

    func parameterChild() -> RouteNode {
        let node = parameter ?? RouteNode()
        parameter = node
        return node
    }

    func add(_ route: HTTPRoute) {
        routes.append(route)
        template = template ?? route.template
        var methods = routes.map(\.method.rawValue)
        if methods.contains("GET"), !methods.contains("HEAD") { methods.append("HEAD") }
        if !methods.contains("OPTIONS") { methods.append("OPTIONS") }
        allow = methods.sorted().joined(separator: ", ")
    }

    func route(for method: HTTPMethod) -> HTTPRoute? {
        if let route = routes.first(where: { $0.method == method }) { return route }
        return method == .head ? routes.first { $0.method == .get } : nil
    }

    /// The node of a path; `values` are where its parameters lie.
    func match(_ path: UnsafeRawBufferPointer, _ values: inout [Range<Int>]) -> RouteNode? {
        guard path.first == ASCII.slash || path.isEmpty else { return nil }
        return match(path, from: min(1, path.count), &values)
    }

    private func match(
        _ path: UnsafeRawBufferPointer, from start: Int, _ values: inout [Range<Int>]
    ) -> RouteNode? {
        var end = start
        while end < path.count, path[end] != ASCII.slash { end += 1 }
        let segment = UnsafeRawBufferPointer(rebasing: path[start..<end])
        for child in children where child.segment.count == segment.count {
            guard segment.elementsEqual(child.segment) else { continue }
            if let node = child.node.matchRest(path, end, &values) { return node }
        }
        guard let parameter, !segment.isEmpty else { return nil }
        values.append(start..<end)
        if let node = parameter.matchRest(path, end, &values) { return node }
        values.removeLast()
        return nil
    }

    private func matchRest(
        _ path: UnsafeRawBufferPointer, _ end: Int, _ values: inout [Range<Int>]
    ) -> RouteNode? {
        if end < path.count { return match(path, from: end + 1, &values) }
        return routes.isEmpty ? nil : self
    }
}
