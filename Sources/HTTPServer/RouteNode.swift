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
final class RouteNode {
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
