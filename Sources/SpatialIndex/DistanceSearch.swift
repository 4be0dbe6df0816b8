import Geodesy
import PointsOfInterestAPI

/// The exact search: looks into the nearest nodes first, by bounds of the geodesic distance itself, and measures every place
/// that may belong to the page. It always ends, and needs no proof: what it leaves out is farther away than the page, or
/// before it.
struct DistanceSearch {
    private struct Node {
        let minimumMeters: Double
        /// The index of the tree in `forest`.
        let tree: Int
        /// The level, which is −1 for a leaf, and the node's number on that level.
        let level, number: Int
    }

    private struct Tree {
        let tree: PackedTree
        let levels: TreeLevels
        let part: Int
    }

    private let query: IndexQuery
    private let parts: UnsafeMutableBufferPointer<PartView>
    private var filters: [PartFilter]
    private let point: SIMD3<Double>
    private var nearest: NearestCandidates
    private var work: WorkBudget
    private var forest: [Tree] = []
    /// The nearest first: a binary heap.
    private var frontier: [Node] = []

    init(
        _ query: IndexQuery, _ parts: UnsafeMutableBufferPointer<PartView>, _ filters: [PartFilter],
        work: WorkBudget
    ) {
        self.query = query
        self.parts = parts
        self.work = work
        self.filters =
            filters.isEmpty ? parts.map { PartFilter(query.filter, in: query.box, for: $0) } : filters
        point = Ellipsoid.point(query.ranking.center)
        nearest = NearestCandidates(of: query.ranking)
    }

    /// The places of the ranking, once the search has ended.
    var candidates: [Candidate] { nearest.candidates }

    /// Takes places that match, so that fewer others have to be measured.
    mutating func take(_ candidates: [Candidate]) {
        for candidate in candidates { nearest.insert(candidate) }
        work.spend(
            candidates.count * WorkBudget.boundedGeodesic + query.ranking.limit * WorkBudget.geodesic)
    }

    /// Searches the trees; false where the work is spent before that is done.
    mutating func run() -> Bool {
        for part in parts.indices {
            _ = query.filter.forEachTree(of: parts[part].columns) { tree in
                let levels = TreeLevels(of: tree)
                forest.append(Tree(tree: tree, levels: levels, part: part))
                push(Node(minimumMeters: 0, tree: forest.count - 1, level: levels.count - 1, number: 0))
                return true
            }
        }
        while let node = pop(), node.minimumMeters <= nearest.maximumMeters {
            if node.level < 0 { scan(node) } else { expand(node) }
            if work.isSpent { return false }
        }
        return true
    }

    /// Measures the places that have all words somewhere, or those of the rarest word or property; false where the work is spent
    /// before that is done.
    mutating func measureListed() -> Bool {
        for part in parts.indices {
            let columns = parts[part].columns
            filters[part].gather(columns.words, &work)
            if let places = filters[part].words?.candidates {
                guard places.forEach({ measure($0, part) }) else { return false }
            } else if let rarest = filters[part].rarestPostings(columns) {
                for index in 0..<rarest.count {
                    guard measure(Int(columns.words.postings[rarest[index]]), part) else { return false }
                }
            }
        }
        return true
    }

    private mutating func measure(_ place: Int, _ part: Int) -> Bool {
        guard query.filter.admits(kind: parts[part].columns.kinds[place]) else { return true }
        consider(place, part)
        return !work.isSpent
    }

    private mutating func expand(_ node: Node) {
        let tree = forest[node.tree]
        let block =
            parts[tree.part].columns.boxes.base
            + (tree.levels[node.level] + node.number) * PackedTree.blockSize
        for child in 0..<PackedTree.width {
            let bounds = SurfaceBounds(of: child, in: block)
            guard bounds.lower.x <= bounds.upper.x, query.box.map(bounds.mayMeet) ?? true else { continue }
            let distance = DistanceRange(to: bounds, from: query.ranking.center, at: point)
            work.spend(WorkBudget.boundedGeodesic + (query.box == nil ? 0 : WorkBudget.boxComparison))
            guard distance.minimum <= nearest.maximumMeters else { continue }
            if let after = query.ranking.after, distance.maximum < after.distanceMeters { continue }
            push(
                Node(
                    minimumMeters: distance.minimum, tree: node.tree, level: node.level - 1,
                    number: node.number * PackedTree.width + child))
        }
    }

    private mutating func scan(_ leaf: Node) {
        let tree = forest[leaf.tree]
        let start = leaf.number * PackedTree.width
        for index in start..<min(Int(tree.tree.count), start + PackedTree.width) {
            let listed = parts[tree.part].columns.listedPlaces
            consider(tree.tree.listStart.map { Int(listed[Int($0) + index]) } ?? index, tree.part)
        }
    }

    /// Measures a place if it matches, and its chord doesn't rule out that it is on the page.
    private mutating func consider(_ place: Int, _ part: Int) {
        let columns = parts[part].columns
        work.spend(WorkBudget.filteredPlace)
        let chord = columns.chordMeters(from: point, to: place)
        guard Ranking.minimumGeodesicMeters(chordMeters: chord) <= nearest.maximumMeters else { return }
        if let after = query.ranking.after,
            Ranking.maximumGeodesicMeters(chordMeters: chord) < after.distanceMeters
        {
            return
        }
        guard filters[part].admits(place, of: parts[part]) else { return }
        work.spend(WorkBudget.boundedGeodesic)
        nearest.insert(columns.candidate(place))
    }

    // MARK: - Heap

    private mutating func push(_ node: Node) {
        var index = frontier.count
        frontier.append(node)
        while index > 0 {
            let parent = (index - 1) / 2
            guard node.minimumMeters < frontier[parent].minimumMeters else { break }
            frontier[index] = frontier[parent]
            index = parent
        }
        frontier[index] = node
    }

    private mutating func pop() -> Node? {
        guard let first = frontier.first, let last = frontier.popLast() else { return nil }
        guard !frontier.isEmpty else { return first }
        var index = 0
        while true {
            var child = 2 * index + 1
            guard child < frontier.count else { break }
            if child + 1 < frontier.count, frontier[child + 1].minimumMeters < frontier[child].minimumMeters {
                child += 1
            }
            guard frontier[child].minimumMeters < last.minimumMeters else { break }
            frontier[index] = frontier[child]
            index = child
        }
        frontier[index] = last
        return first
    }
}
