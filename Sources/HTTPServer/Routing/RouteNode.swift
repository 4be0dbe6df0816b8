import Locking

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
