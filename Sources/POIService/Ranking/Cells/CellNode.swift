/// A part of the surface with what is known of its distances from the centre.
struct CellNode: Sendable {
    let patch: SurfacePatch
    let distances: DistanceRange

    /// The box around two parts, and the distances of both.
    func union(_ other: CellNode) -> CellNode {
        CellNode(patch: patch.union(other.patch), distances: distances.union(other.distances))
    }
}
