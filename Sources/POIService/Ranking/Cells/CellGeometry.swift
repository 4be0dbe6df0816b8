import PointsOfInterestAPI

/// What of a cell search stays the same: which parts of the surface may belong to the answer, and into how
/// small ones they are best split. The latter is only a matter of cost.
struct CellGeometry: Sendable {
    let ranking: Ranking
    let region: SurfaceRegion?
    private let centerPoint: SIMD3<Double>
    /// How big a cell on the border of a deep page may be to be worth a question, in metres.
    private let greatestBorderSide: Double

    /// The database's index rounds coordinates to half a metre: smaller cells tell nothing more.
    private static let smallestSide = 0.5
    /// How often a cell is halved, in mind, to see which part of it is of interest.
    private static let halvingsInMind = 4
    /// A page's border, however dense the places are said to be, is first looked for in cells of at least
    /// this part of its radius: so a hundred or two are around it.
    private static let leastBorderPart = 1.0 / 12

    init(_ ranking: Ranking, box: BoundingBox?, candidateLimit: Int) {
        self.ranking = ranking
        region = box.map(SurfaceRegion.init)
        centerPoint = Ellipsoid.point(
            latitude: ranking.center.latitude, longitude: ranking.center.longitude)
        greatestBorderSide = Self.greatestBorderSide(ranking, candidateLimit)
    }

    /// The side of a cell that half the limit of places is in, if those before the page are spread evenly
    /// around the centre. What a cursor says of them may be false, so nothing but cost follows from it.
    private static func greatestBorderSide(_ ranking: Ranking, _ candidateLimit: Int) -> Double {
        guard let after = ranking.after, after.count > 0 else { return .infinity }
        let evenShare = (Double.pi * Double(candidateLimit) / 2 / Double(after.count)).squareRoot()
        return after.distanceMeters * max(leastBorderPart, evenShare)
    }

    /// All that may hold places of the answer; nil where nothing does.
    var surface: SurfacePatch? { SurfacePatch(of: region) }

    func isSmallest(_ patch: SurfacePatch) -> Bool { patch.side <= Self.smallestSide }

    /// A patch with what is known of it; nil where it holds nothing that belongs to the answer.
    func node(_ patch: SurfacePatch, within reachMeters: Double) -> CellNode? {
        let distances = DistanceRange(to: patch, from: ranking.center, at: centerPoint)
        // A place exactly at the reach, or as far as the last one of the pages before, may still win by its id.
        guard distances.least <= reachMeters else { return nil }
        if let after = ranking.after, distances.greatest < after.distanceMeters { return nil }
        return CellNode(patch: patch, distances: distances)
    }

    /// Draws a node in to the parts of it that may hold places of the answer: that costs no question. Nil
    /// where there are none.
    func narrowed(_ node: CellNode, within reachMeters: Double) -> CellNode? {
        guard var node = self.node(node.patch, within: reachMeters) else { return nil }
        while !isSmallest(node.patch) {
            let side = node.patch.side
            let parts = parts(of: node, halvings: Self.halvingsInMind, within: reachMeters)
            guard let first = parts.first else { return nil }
            node = parts.dropFirst().reduce(first) { $0.union($1) }
            if node.patch.side > side * 3 / 4 { break }
        }
        return node
    }

    private func parts(of node: CellNode, halvings: Int, within reachMeters: Double) -> [CellNode] {
        guard halvings > 0 else { return [node] }
        return node.patch.halves(of: region)
            .compactMap { self.node($0, within: reachMeters) }
            .flatMap { parts(of: $0, halvings: halvings - 1, within: reachMeters) }
    }

    /// How small a cell on the border of a deep page had better be before it is asked for; nil where it is
    /// small enough, and for cells elsewhere.
    func sideToAskFor(_ node: CellNode) -> Double? {
        let side = node.patch.side
        guard isOnBorder(node), side > greatestBorderSide, !isSmallest(node.patch) else { return nil }
        return max(greatestBorderSide, side / 2)
    }

    /// How small the parts of a cell are to be that holds too many places.
    ///
    /// The border of a page crosses many of them, which all have to be asked for: as the sample is dense, so
    /// small. Elsewhere most parts will turn out to be too far.
    func side(ofPartsOf node: CellNode, with sample: CellSample) -> Double {
        let side = node.patch.side
        return isOnBorder(node) ? max(side / 4, min(side / 2, sample.side)) : side / 2
    }

    /// Whether the pages before this one may end in the node: no way around asking for all of it.
    private func isOnBorder(_ node: CellNode) -> Bool {
        ranking.after.map { node.distances.least <= $0.distanceMeters } ?? false
    }
}
