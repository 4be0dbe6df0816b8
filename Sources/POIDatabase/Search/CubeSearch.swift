import POIService
import PointsOfInterestAPI

/// The exact answer to any question about places, by a best-first search through cubes of space.
///
/// A value without input or output: it says which cubes to look into, and is told what lies in them. What the
/// distances of a cube's places can be is known from its corners, so most cubes are never asked for. A cube
/// that holds too many places is split.
struct CubeSearch: Sendable {
    /// A cube to look into.
    struct Node: Sendable {
        let cube: SpaceCube
        fileprivate let distance: CubeDistance
    }

    private let ranking: Ranking
    private let box: BoundingBox?
    private let point: SIMD3<Double>
    private let isOccupied: @Sendable (SpaceCube) -> Bool
    private var nearest: NearestSoFar
    /// What is still to be looked into or split, the nearest last.
    private var frontier: [Node] = []

    /// Starts a search for the whole of a ranking.
    ///
    /// - Parameters:
    ///   - box: only places in it; nil is everywhere.
    ///   - isOccupied: whether there may be a place in a cube, as far as that is known without asking.
    init(
        _ ranking: Ranking, box: BoundingBox?,
        isOccupied: @escaping @Sendable (SpaceCube) -> Bool = { _ in true }
    ) {
        self.ranking = ranking
        self.isOccupied = isOccupied
        self.box = box
        point = Ellipsoid.point(ranking.center)
        nearest = NearestSoFar(of: ranking)
        split(.root)
    }

    /// The cubes around the centre, of growing size: what they hold tells how far the answer may reach, and
    /// spares the search most of its way down.
    var surroundings: [SpaceCube] {
        var cubes: [SpaceCube] = []
        var cube = SpaceCube.root
        while let child = cube.child(at: point) {
            cube = child
            if cube.level >= 3 { cubes.append(cube) }
        }
        return cubes
    }

    /// The cubes to look into next, nearest first; none once the answer is whole.
    mutating func next(atMost count: Int) -> [Node] {
        var nodes: [Node] = []
        while nodes.count < count, let node = frontier.popLast() {
            guard node.distance.least <= nearest.reachMeters else {
                frontier.removeAll()  // all others are farther still
                break
            }
            if let node = narrowed(node) { nodes.append(node) }
        }
        return nodes
    }

    /// Takes places, in any order.
    mutating func take(_ candidates: some Sequence<Candidate>) {
        for candidate in candidates
        where box?.contains(latitude: candidate.latitude, longitude: candidate.longitude) ?? true {
            nearest.insert(candidate)
        }
    }

    /// Goes on with the parts of a cube that holds more places than were taken.
    mutating func split(_ cube: SpaceCube) {
        for child in cube.children {
            guard let node = interesting(child) else { continue }
            let index = frontier.firstIndex(behind: { $0.distance.least > node.distance.least })
            frontier.insert(node, at: index)
        }
    }

    /// The places of the answer; all of them once there are no more cubes.
    var candidates: [Candidate] { nearest.candidates }

    /// Goes down as long as a single part of the cube is of interest, which costs no question.
    private func narrowed(_ node: Node) -> Node? {
        var node = node
        while node.cube.level < SpaceCube.lastLevel {
            let parts = node.cube.children.compactMap(interesting)
            guard parts.count <= 1 else { return node }
            guard let part = parts.first else { return nil }
            node = part
        }
        return node
    }

    /// A cube with its distance; nil where no place of it can belong to the answer.
    private func interesting(_ cube: SpaceCube) -> Node? {
        guard isOccupied(cube), cube.touchesSurface else { return nil }
        let bounds = cube.surfaceBounds
        if let box, !SpaceCube.mayMeet(box, within: bounds) { return nil }
        let distance = CubeDistance(to: bounds, from: ranking.center, at: point)
        guard distance.least <= nearest.reachMeters else { return nil }
        if let after = ranking.after, distance.greatest < after.distanceMeters { return nil }
        return Node(cube: cube, distance: distance)
    }
}
