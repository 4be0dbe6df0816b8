import Geodesy
import POIService
import PointsOfInterestAPI

/// The exact search for places: best-first through cubes of space.
///
/// A value without input or output: it says which cubes to look into, and is told which places are in them. The corners of
/// a cube bound the distances of its places, so most cubes never have to be read. A cube with too many places is split.
struct CubeSearch: Sendable {
    /// A cube to look into.
    struct Node: Sendable {
        let cube: SpaceCube
        fileprivate let distance: DistanceRange
    }

    private let ranking: Ranking
    private let box: BoundingBox?
    private let point: SIMD3<Double>
    private let isOccupied: @Sendable (SpaceCube) -> Bool
    private var nearest: NearestCandidates
    /// What is still to be looked into or split, the nearest last.
    private var frontier: [Node] = []

    /// Starts a search for the whole of a ranking.
    ///
    /// - Parameters:
    ///   - box: only places in it; nil is everywhere.
    ///   - isOccupied: whether there may be a place in a cube, as far as that is known without reading.
    init(
        _ ranking: Ranking, box: BoundingBox?,
        isOccupied: @escaping @Sendable (SpaceCube) -> Bool = { _ in true }
    ) {
        self.ranking = ranking
        self.isOccupied = isOccupied
        self.box = box
        point = Ellipsoid.point(ranking.center)
        nearest = NearestCandidates(of: ranking)
        split(.root)
    }

    /// The cubes around the centre, of growing size: their places bound the distances that matter, which spares the search
    /// most of its way down.
    var surroundings: [SpaceCube] {
        var cubes: [SpaceCube] = []
        var cube = SpaceCube.root
        while let child = cube.child(at: point) {
            cube = child
            if cube.level >= 3 { cubes.append(cube) }
        }
        return cubes
    }

    /// The cubes to look into next, nearest first; none once the search is complete.
    mutating func next(atMost count: Int) -> [Node] {
        var nodes: [Node] = []
        while nodes.count < count, let node = frontier.popLast() {
            guard node.distance.minimum <= nearest.maximumMeters else {
                frontier.removeAll()  // all others are farther still
                break
            }
            if let node = narrowed(node) { nodes.append(node) }
        }
        return nodes
    }

    /// Takes places that were found, in any order.
    mutating func take(_ candidates: some Sequence<Candidate>) {
        for candidate in candidates
        where box?.contains(latitude: candidate.latitude, longitude: candidate.longitude) ?? true {
            nearest.insert(candidate)
        }
    }

    /// Goes on with the parts of a cube that holds more places than were taken.
    mutating func split(_ cube: SpaceCube) {
        for child in cube.children {
            guard let node = relevantNode(child) else { continue }
            let index = frontier.firstIndex(behind: { $0.distance.minimum > node.distance.minimum })
            frontier.insert(node, at: index)
        }
    }

    /// The nearest places so far; those of the ranking once there are no more cubes.
    var candidates: [Candidate] { nearest.candidates }

    /// Goes down as long as a single part of the cube is relevant, which reads nothing.
    private func narrowed(_ node: Node) -> Node? {
        var node = node
        while node.cube.level < SpaceCube.lastLevel {
            let parts = node.cube.children.compactMap(relevantNode)
            guard parts.count <= 1 else { return node }
            guard let part = parts.first else { return nil }
            node = part
        }
        return node
    }

    /// A cube with its distance; nil where none of its places can belong to the ranking.
    private func relevantNode(_ cube: SpaceCube) -> Node? {
        guard isOccupied(cube), cube.touchesSurface else { return nil }
        let bounds = cube.surfaceBounds
        if let box, !bounds.mayMeet(box) { return nil }
        let distance = DistanceRange(to: bounds, from: ranking.center, at: point)
        guard distance.minimum <= nearest.maximumMeters else { return nil }
        if let after = ranking.after, distance.maximum < after.distanceMeters { return nil }
        return Node(cube: cube, distance: distance)
    }
}
