import PointsOfInterestAPI

/// The exact answer to any question, by a best-first search through cells of space.
///
/// For questions that the places nearest by the chord don't prove: from far away, deep pages, boxes far from
/// the centre. A value without input or output: it says which cells to look into, and is told what lies in
/// them. Cells are cubes of an octree that the Earth's surface passes through. What the geodesic distances of
/// a cell's places can be is known from its corners, so most cells are never asked for.
///
///     var search = CellSearch(ranking, box: request.box)
///     while case let cells = search.nextCells(atMost: 32), !cells.isEmpty {
///         for cell in cells { search.take(…, of: cell, isWhole: …) }
///     }
///     let page = ranking.page(of: search.placed, from: search.candidates)
public struct CellSearch: Sendable {
    /// The most places that a cell is asked for; where it holds more, it is split.
    public static let defaultCandidateLimit = 128

    let ranking: Ranking
    let box: BoundingBox?
    private let candidateLimit: Int
    private let centerPoint: SIMD3<Double>
    /// Cells still to be asked for or split, the nearest last.
    private var frontier: [Node] = []
    /// Cells that were given out and not yet taken back.
    private var pending: [OctreeCube: Node] = [:]
    private var best: NearestCandidates

    /// Starts a search.
    ///
    /// - Parameters:
    ///   - ranking: what belongs to the answer, and its order.
    ///   - box: only places in it; nil is everywhere.
    ///   - candidateLimit: how many places a cell may hold and be answered at once.
    public init(
        _ ranking: Ranking, box: BoundingBox? = nil, candidateLimit: Int = Self.defaultCandidateLimit
    ) {
        self.ranking = ranking
        self.box = box
        self.candidateLimit = max(1, candidateLimit)
        centerPoint = Ellipsoid.point(ranking.center)
        best = NearestCandidates(of: ranking)
        for cube in OctreeCube.whole.children { insert(cube) }
    }

    /// The cells to look into next, those that may hold the nearest places first; none once the answer is
    /// whole. To be called when every cell given out before was taken back.
    public mutating func nextCells(atMost count: Int) -> [Cell] {
        var cells: [Cell] = []
        while cells.count < count, let node = frontier.popLast() {
            guard node.distances.least <= best.reachMeters else {
                frontier.removeAll()  // all others are farther still
                break
            }
            guard let node = narrowed(node) else { continue }
            pending[node.cube] = node
            cells.append(Cell(node, candidateLimit: candidateLimit))
        }
        return cells
    }

    /// Takes what lies in a cell.
    ///
    /// - Parameters:
    ///   - candidates: places of the cell, in any order; others do no harm.
    ///   - isWhole: whether these are all of them; false where there are more than `cell.candidateLimit`.
    public mutating func take(_ candidates: [Candidate], of cell: Cell, isWhole: Bool) {
        for candidate in candidates where contains(candidate) { best.insert(candidate) }
        guard let node = pending.removeValue(forKey: cell.cube), !isWhole, cell.candidateLimit != nil else {
            return
        }
        for cube in node.cube.children { insert(cube) }
    }

    /// The places of the answer, in its order; whole once there are no more cells.
    public var candidates: [Candidate] { best.candidates }

    /// The answer as `ranking` has it, of `candidates`.
    public var placed: [Ranking.Placed] { ranking.rank(candidates) }

    private func contains(_ candidate: Candidate) -> Bool {
        box?.contains(latitude: candidate.latitude, longitude: candidate.longitude) ?? true
    }

    /// Goes down as long as a single part of the cell is of interest: that costs no question.
    private func narrowed(_ node: Node) -> Node? {
        var node = node
        while !node.cube.isSmallest {
            let parts = node.cube.children.compactMap(interesting)
            guard parts.count <= 1 else { return node }
            guard let part = parts.first else { return nil }
            node = part
        }
        return node
    }

    private mutating func insert(_ cube: OctreeCube) {
        guard let node = interesting(cube) else { return }
        var (low, high) = (0, frontier.count)
        while low < high {
            let middle = (low + high) / 2
            if frontier[middle].distances.least > node.distances.least {
                low = middle + 1
            } else {
                high = middle
            }
        }
        frontier.insert(node, at: low)
    }

    /// A cube with what is known of it; nil where it holds nothing that belongs to the answer.
    private func interesting(_ cube: OctreeCube) -> Node? {
        guard let patch = SurfacePatch(in: cube) else { return nil }
        if let box, !patch.mayLie(in: box) { return nil }
        let distances = DistanceRange(to: patch, from: ranking.center, at: centerPoint)
        guard distances.least <= best.reachMeters else { return nil }
        if let after = ranking.after, distances.greatest < after.distanceMeters { return nil }
        return Node(cube: cube, patch: patch, distances: distances)
    }

    /// A cell of the search.
    struct Node: Sendable {
        let cube: OctreeCube
        let patch: SurfacePatch
        let distances: DistanceRange
    }
}
