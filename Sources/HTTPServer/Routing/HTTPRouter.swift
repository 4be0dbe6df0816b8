import Bytes
import Locking

/// Finds the handler of a request by its path and method.
///
/// Segments match byte for byte, as they were sent. Parameters match any segment that isn't empty, and are
/// percent-decoded. An exact segment wins over a parameter. Nothing is normalised: a path with a trailing slash, an
/// empty segment or a dot segment is another path. If a path has routes, `HEAD` uses the route of `GET`, `OPTIONS` gets
/// the allowed methods, and other methods are refused with 405. Confined to one loop.
package final class HTTPRouter: HTTPDispatcher {
    package private(set) var routes: [(method: HTTPMethod, template: String)] = []
    private let root = RouteNode()
    /// The nodes of templates without parameters, by their paths: most requests need no walk through the tree.
    private let plainPaths: Confined<[(path: [UInt8], node: RouteNode)]>

    package init() {
        plainPaths = Confined([])
    }

    /// Traps if the route was added before, which is a programming error.
    ///
    /// - Parameters:
    ///   - template: a path; its segments of the form `{name}` are parameters.
    ///   - checks: what a request has to pass, in this order.
    ///   - maximumBodyBytes: a request with a longer body is refused with 413.
    package func add(
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

    @inline(__always)
    private func plainIndex(_ request: HTTPRequest) -> Int? {
        for index in plainPaths.value.indices where request.hasPath(plainPaths.value[index].path) {
            return index
        }
        return nil
    }

    package func add(
        _ method: HTTPMethod, _ template: String, checks: [any HTTPRequestCheck] = [],
        maximumBodyBytes: Int = 0, _ body: @escaping ClosureHandler.Body
    ) {
        add(method, template, checks: checks, maximumBodyBytes: maximumBodyBytes, ClosureHandler(body))
    }

    package func admit(_ request: HTTPRequest, context: RequestContext) throws(HTTPError) -> HTTPAdmission {
        try route(for: request, context: context).admit(request, context: context)
    }

    /// Throws 404, 405, or 400 for a parameter that isn't validly percent-encoded.
    package func route(for request: HTTPRequest, context: RequestContext) throws(HTTPError) -> HTTPRoute {
        if let route = try find(request, context) { return route }
        return try implicitRoute(request, context)
    }

    /// Sets the route's parameters in the context; nil if there is no route that was added.
    private func find(_ request: HTTPRequest, _ context: RequestContext) throws(HTTPError) -> HTTPRoute? {
        if let index = plainIndex(request) {
            guard let route = plainPaths.value[index].node.route(for: request.method) else { return nil }
            context.setRoute(route.template, isPath: true)
            return route
        }
        var values: [ArraySlice<UInt8>] = []
        guard let route = root.match(request.pathBytes, &values)?.route(for: request.method) else {
            return nil
        }
        context.setRoute(route.template, isPath: values.isEmpty)
        for (name, value) in zip(route.parameters, values) {
            guard let value = try? PercentEncoding.decode(value, plusIsSpace: false) else {
                throw HTTPError(
                    .badRequest, .invalidPathEncoding, "A path parameter that is not well encoded.")
            }
            context.addPathParameter(name, String(decoding: value, as: UTF8.self))
        }
        return route
    }

    /// As `Allow` lists them; nil if the path has no route.
    package func allowedMethods(for request: HTTPRequest) -> String? {
        node(of: request)?.allow
    }

    /// The template of the path, whatever the method is; nil if it has no route.
    package func template(for request: HTTPRequest) -> String? { node(of: request)?.template }

    private func node(of request: HTTPRequest) -> RouteNode? {
        var values: [ArraySlice<UInt8>] = []
        return root.match(request.pathBytes, &values)
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

package final class HTTPRoute {
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

    package func admit(_ request: HTTPRequest, context: RequestContext) throws(HTTPError) -> HTTPAdmission {
        // By indices: an iterator would retain the list.
        for index in checks.indices { try checks[index].check(request, context: context) }
        return admission
    }

    /// The route's admission with a handler around the route's own, which `wrap` makes once.
    package func admission(wrappedBy wrap: (any HTTPHandler) -> any HTTPHandler) -> HTTPAdmission {
        if let wrapped { return wrapped }
        let made = HTTPAdmission(
            wrap(admission.handler), maximumBodyBytes: admission.maximumBodyBytes)
        wrapped = made
        return made
    }
}

/// A node of the tree of all templates, for one segment.
final class RouteNode {
    private(set) var template: String?
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

    /// Finds the node of a path, and appends its parameters to `values`. An exact segment wins over a parameter.
    func match(_ path: ArraySlice<UInt8>, _ values: inout [ArraySlice<UInt8>]) -> RouteNode? {
        guard path.first == ASCII.slash || path.isEmpty else { return nil }
        return matchSegment(path.dropFirst(), &values)
    }

    private func matchSegment(
        _ rest: ArraySlice<UInt8>, _ values: inout [ArraySlice<UInt8>]
    ) -> RouteNode? {
        let segment = rest.prefix { $0 != ASCII.slash }
        let rest = rest[segment.endIndex...]
        for child in children where segment.elementsEqual(child.segment) {
            if let node = child.node.matchRest(rest, &values) { return node }
        }
        guard let parameter, !segment.isEmpty else { return nil }
        values.append(segment)
        if let node = parameter.matchRest(rest, &values) { return node }
        values.removeLast()
        return nil
    }

    private func matchRest(_ rest: ArraySlice<UInt8>, _ values: inout [ArraySlice<UInt8>]) -> RouteNode? {
        if !rest.isEmpty { return matchSegment(rest.dropFirst(), &values) }
        return routes.isEmpty ? nil : self
    }
}
