import PointsOfInterestAPI

/// The exact answer to any question, by a best-first search through cells of space.
///
/// For questions that the places nearest by the chord don't prove: from far away, deep pages, boxes far from
/// the centre. A value without input or output: it says which cells to look into, and is told what lies in
/// them. Cells are boxes in space around parts of the Earth's surface. Between which lengths the geodesics to
/// a cell's places lie is known from its corners, so most of the Earth is never asked for.
///
///     var search = CellSearch(ranking, box: request.box)
///     while case let cells = search.nextCells(atMost: 32), !cells.isEmpty {
///         for cell in cells { search.take(…, of: cell, isWhole: …) }
///     }
///     let page = ranking.page(of: search.placed, from: search.candidates)
///
/// What proves the answer, and what it costs, is in Documentation/exactness.md.
public struct CellSearch: Sendable {
    /// The most places that a cell is asked for, unless told otherwise: fewer make more cells, more make
    /// more rows.
    public static let defaultCandidateLimit = 192

    private let candidateLimit: Int
    private let geometry: CellGeometry
    /// Parts of the surface still to be asked for or split, the nearest last.
    private var frontier: [CellNode] = []
    /// Cells that were given out and not yet taken back.
    private var pending: [Int: CellNode] = [:]
    private var cellCount = 0
    private var best: NearestCandidates

    /// Starts a search.
    ///
    /// - Parameters:
    ///   - ranking: what belongs to the answer, and its order; its `limit` is one more than a page's.
    ///   - box: only places in it; nil is everywhere.
    ///   - known: places of which the question is known to be asked, from an earlier fetch: the nearer they
    ///     are, the fewer cells are needed. Those that don't belong to the answer do no harm.
    ///   - candidateLimit: how many places a cell may hold and be answered at once.
    public init(
        _ ranking: Ranking, box: BoundingBox? = nil, known: [Candidate] = [],
        candidateLimit: Int = Self.defaultCandidateLimit
    ) {
        self.candidateLimit = max(1, candidateLimit)
        geometry = CellGeometry(ranking, box: box, candidateLimit: self.candidateLimit)
        best = NearestCandidates(of: ranking, in: box)
        for candidate in known { best.insert(candidate) }
        guard let surface = geometry.surface, let whole = geometry.node(surface, within: best.reachMeters)
        else {
            return
        }
        split(whole, to: surface.side / 2)
    }

    /// The cells to look into next, those that may hold the nearest places first; none once the answer is
    /// whole. To be called when every cell given out before was taken back.
    public mutating func nextCells(atMost count: Int) -> [Cell] {
        var cells: [Cell] = []
        while cells.count < count, let node = frontier.popLast() {
            guard let node = geometry.narrowed(node, within: best.reachMeters) else { continue }
            if let side = geometry.sideToAskFor(node) {
                split(node, to: side)
                continue
            }
            let limit = geometry.isSmallest(node.patch) ? nil : candidateLimit
            cells.append(Cell(node.patch, candidateLimit: limit, number: cellCount))
            pending[cellCount] = node
            cellCount += 1
        }
        return cells
    }

    /// Takes what lies in a cell.
    ///
    /// - Parameters:
    ///   - candidates: places of the cell that the question asks for, in any order; places from elsewhere
    ///     do no harm, nor do those outside of the box or the radius.
    ///   - isWhole: whether no other place of the cell is asked for; false where there are more than
    ///     `cell.candidateLimit`. A cell without a limit is always taken as whole.
    public mutating func take(_ candidates: [Candidate], of cell: Cell, isWhole: Bool) {
        for candidate in candidates { best.insert(candidate) }
        guard let node = pending.removeValue(forKey: cell.number), !isWhole, cell.candidateLimit != nil else {
            return
        }
        let sample = CellSample(candidates)
        split(node, to: geometry.side(ofPartsOf: node, with: sample), around: sample)
    }

    /// The places of the answer, in its order; whole once there are no more cells.
    public var candidates: [Candidate] { best.candidates }

    /// The answer as the ranking has it, of `candidates`.
    public var placed: [Ranking.Placed] { geometry.ranking.rank(candidates) }

    /// Puts a node's parts into the frontier: halves of halves, until they are as small as told.
    ///
    /// Where a sample of its places is known they are smaller: what holds too many places to be answered at
    /// once is mostly crowded in one corner, which so is found in one step.
    private mutating func split(_ node: CellNode, to side: Double, around sample: CellSample? = nil) {
        for patch in node.patch.halves(of: geometry.region) {
            guard let part = geometry.node(patch, within: best.reachMeters) else { continue }
            let isCrowded = sample.map { $0.isCrowded(in: patch) } ?? false
            if patch.side > side || (isCrowded && !geometry.isSmallest(patch)) {
                split(part, to: side, around: sample)
            } else {
                insert(part)
            }
        }
    }

    private mutating func insert(_ node: CellNode) {
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
}
