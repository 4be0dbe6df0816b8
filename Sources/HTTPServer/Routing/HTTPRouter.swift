import Locking

/// Finds the handler of a request by its path and method.
///
/// Segments match byte for byte, as they were sent. Parameters match any segment that isn't empty, and are
/// percent-decoded. An exact segment wins over a parameter. Nothing is normalised: a path with a trailing slash, an
/// empty segment or a dot segment is another path. If a path has routes, `HEAD` uses the route of `GET`, `OPTIONS` gets
/// the allowed methods, and other methods are refused with 405. Confined to one loop.
public final class HTTPRouter: HTTPDispatcher {
    /// The methods and templates of all routes, in the order in which they were added.
    public private(set) var routes: [(method: HTTPMethod, template: String)] = []
    private let root = RouteNode()
    /// The nodes of templates without parameters, by their paths: most requests need no walk through the tree.
    private let plainPaths: Confined<[(path: [UInt8], node: RouteNode)]>

    /// Makes a router without routes.
    public init() {
        plainPaths = Confined([])
    }

    /// Adds a route. Traps if it was added before, which is a programming error.
    ///
    /// - Parameters:
    ///   - template: a path; its segments of the form `{name}` are parameters.
    ///   - checks: the checks that a request has to pass, in this order.
    ///   - maximumBodyBytes: maximum length of a body; a request with a longer one is refused with 413.
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
        if parameters.isEmpty, !plainPaths.value.contains(where: { $0.node === node }) {
            plainPaths.value.append((Array(template.utf8), node))
        }
    }

    /// The node of a path; appends the ranges of its parameters to `values`. An exact segment wins over a parameter, so
    /// a template without parameters wins over all others.
    private func match(_ path: UnsafeRawBufferPointer, _ values: inout [Range<Int>]) -> RouteNode? {
        plainIndex(path).map { plainPaths.value[$0].node } ?? root.match(path, &values)
    }

    /// The index of the template that is this path; nil if there is none.
    private func plainIndex(_ path: UnsafeRawBufferPointer) -> Int? {
        for index in plainPaths.value.indices {
            guard plainPaths.value[index].path.count == path.count else { continue }
            let isEqual = plainPaths.value[index].path.withUnsafeBytes { candidate in
                for offset in 0..<path.count where candidate[offset] != path[offset] { return false }
                return true
            }
            if isEqual { return index }
        }
        return nil
    }

    /// Adds a route whose handler is a closure.
    public func add(
        _ method: HTTPMethod, _ template: String, checks: [any HTTPRequestCheck] = [],
        maximumBodyBytes: Int = 0, _ body: @escaping ClosureHandler.Body
    ) {
        add(method, template, checks: checks, maximumBodyBytes: maximumBodyBytes, ClosureHandler(body))
    }

    /// Admits a request to its route.
    ///
    /// - Throws: as `route(for:context:)`, and the refusal of a check of the route.
    public func admit(_ request: HTTPRequest, context: RequestContext) throws(HTTPError) -> HTTPAdmission {
        try route(for: request, context: context).admit(request, context: context)
    }

    /// Finds the request's route, without its checks.
    ///
    /// - Throws: `HTTPError` 404, 405, or 400 for a parameter that isn't validly percent-encoded.
    public func route(for request: HTTPRequest, context: RequestContext) throws(HTTPError) -> HTTPRoute {
        if let route = try find(request, context) { return route }
        return try implicitRoute(request, context)
    }

    /// Finds the route of a request, and sets its parameters in the context; nil if there is no route that was added.
    private func find(_ request: HTTPRequest, _ context: RequestContext) throws(HTTPError) -> HTTPRoute? {
        if let index = request.withPath({ plainIndex($0) }) {
            guard let route = plainPaths.value[index].node.route(for: request.method) else { return nil }
            context.setRoute(route.template, isPath: true)
            return route
        }
        var values: [Range<Int>] = []
        let node = request.withPath { root.match($0, &values) }
        guard let route = node?.route(for: request.method) else { return nil }
        context.setRoute(route.template, isPath: values.isEmpty)
        try setParameters(of: route, values, request, context)
        return route
    }

    private func setParameters(
        of route: HTTPRoute, _ values: [Range<Int>], _ request: HTTPRequest, _ context: RequestContext
    ) throws(HTTPError) {
        for (name, range) in zip(route.parameters, values) {
            guard let value = request.withPath({ path in PercentDecoding.decode(path[range]) }) else {
                throw HTTPError(
                    .badRequest, .invalidPathEncoding, "A path parameter that is not well encoded.")
            }
            context.addPathParameter(name, value)
        }
    }

    /// The methods of the request's path, as `Allow` lists them; nil if the path has no route.
    public func allowedMethods(for request: HTTPRequest) -> String? {
        node(of: request)?.allow
    }

    private func node(of request: HTTPRequest) -> RouteNode? {
        request.withPath { path in
            var values: [Range<Int>] = []
            return match(path, &values)
        }
    }

    /// The route of `OPTIONS`, which every path has.
    private func implicitRoute(
        _ request: HTTPRequest, _ context: RequestContext
    ) throws(HTTPError) -> HTTPRoute {
        if request.path == "*" { return Self.optionsRoute("*", [:]) }
        guard let node = node(of: request) else {
            throw HTTPError(.notFound, .unknownPath, "There is nothing at this path.")
        }
        if let template = node.template { context.setRoute(template, isPath: false) }
        if request.method == .options { return Self.optionsRoute(node.template ?? "", [.allow: node.allow]) }
        throw HTTPError(
            .methodNotAllowed, .methodNotAllowed, "This path does not have this method.",
            headers: [.allow: node.allow])
    }

    private static func optionsRoute(_ template: String, _ headers: HTTPHeaders) -> HTTPRoute {
        let handler = FixedResponse(HTTPResponse(.noContent, headers: headers))
        return HTTPRoute(
            method: .options, template: template, admission: HTTPAdmission(handler))
    }
}

/// A route: the handler for one method and one template, and its checks.
public final class HTTPRoute {
    let method: HTTPMethod
    let template: String
    let parameters: [String]
    let checks: [any HTTPRequestCheck]
    let admission: HTTPAdmission
    private var wrapped: HTTPAdmission?

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

    /// Runs the route's checks, in their order.
    ///
    /// - Throws: the first refusal.
    public func admit(_ request: HTTPRequest, context: RequestContext) throws(HTTPError) -> HTTPAdmission {
        // By indices: an iterator would retain the list.
        for index in checks.indices { try checks[index].check(request, context: context) }
        return admission
    }

    /// The route's admission with a handler around the route's own, which `wrap` makes once.
    public func admission(wrappedBy wrap: (any HTTPHandler) -> any HTTPHandler) -> HTTPAdmission {
        if let wrapped { return wrapped }
        let made = HTTPAdmission(
            wrap(admission.handler), maximumBodyBytes: admission.maximumBodyBytes)
        wrapped = made
        return made
    }
}

/// A node of the tree of all templates, for one segment.
final class RouteNode {
    /// The template that ends at this node, as it was first added.
    private(set) var template: String?
    /// The methods of this node, as `Allow` lists them.
    private(set) var allow = ""
    private let routeList: Confined<[HTTPRoute]>
    private var children: [(segment: [UInt8], node: RouteNode)] = []
    private var parameter: RouteNode?

    init() {
        routeList = Confined([])
    }

    var routes: [HTTPRoute] { routeList.value }

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
        routeList.value.append(route)
        template = template ?? route.template
        var methods = routes.map(\.method.rawValue)
        if methods.contains("GET"), !methods.contains("HEAD") { methods.append("HEAD") }
        if !methods.contains("OPTIONS") { methods.append("OPTIONS") }
        allow = methods.sorted().joined(separator: ", ")
    }

    func route(for method: HTTPMethod) -> HTTPRoute? {
        for index in routeList.value.indices where routeList.value[index].method == method {
            return routeList.value[index]
        }
        return method == .head ? routes.first { $0.method == .get } : nil
    }

    /// Finds the node of a path. Appends the ranges of its parameters to `values`.
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
