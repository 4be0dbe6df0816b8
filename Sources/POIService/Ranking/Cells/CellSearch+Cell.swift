extension CellSearch {
    /// A box in space to look into: geocentric coordinates in metres (EPSG 4978), faces included.
    ///
    /// It may be flat, and cells may overlap: a place may be answered for more than one.
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
        /// Nil asks for all: the cell is too small to be split.
        public let candidateLimit: Int?

        /// Tells the cells of a search apart.
        let number: Int

        init(_ patch: SurfacePatch, candidateLimit: Int?, number: Int) {
            (minX, minY, minZ) = (patch.lower.x, patch.lower.y, patch.lower.z)
            (maxX, maxY, maxZ) = (patch.upper.x, patch.upper.y, patch.upper.z)
            self.candidateLimit = candidateLimit
            self.number = number
        }
    }
}
