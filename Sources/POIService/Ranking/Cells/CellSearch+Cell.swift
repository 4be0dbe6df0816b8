extension CellSearch {
    /// A box in space to look into: geocentric coordinates in metres (EPSG 4978), faces included.
    ///
    /// A place near a face may be answered for both cells that meet there.
    public struct Cell: Hashable, Sendable {
        /// The least x, towards longitude 0 on the equator.
        public let minX: Double
        /// The least y, towards longitude 90 on the equator.
        public let minY: Double
        /// The least z, towards the North Pole.
        public let minZ: Double
        /// The greatest x.
        public let maxX: Double
        /// The greatest y.
        public let maxY: Double
        /// The greatest z.
        public let maxZ: Double
        /// The most places to fetch: where there are more, any of them will do, and the cell is not whole.
        /// Nil asks for all.
        public let candidateLimit: Int?

        let cube: OctreeCube

        init(_ node: Node, candidateLimit: Int) {
            let (lower, upper) = (node.patch.lower, node.patch.upper)
            (minX, minY, minZ) = (lower.x, lower.y, lower.z)
            (maxX, maxY, maxZ) = (upper.x, upper.y, upper.z)
            self.candidateLimit = node.cube.isSmallest ? nil : candidateLimit
            cube = node.cube
        }
    }
}
