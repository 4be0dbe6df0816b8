import PointsOfInterestAPI

/// The cells that a box touches: those that a place in the box can be in. They are numbered from north to south, and in
/// each row from the box's west to its east.
package struct ClusterCells: Hashable, Sendable {
    /// The level of the cells' tiles.
    package let level: Int
    private let rows: ClosedRange<Int>
    private let firstColumn: Int
    private let columnCount: Int

    /// The cells of a request.
    package init(_ request: ClustersRequest) {
        self.init(request.box, zoom: request.zoom)
    }

    package init(_ box: BoundingBox, zoom: Int) {
        level = zoom + 2
        let shift = Quadkey.levels - level
        rows = Quadkey.row(latitude: box.north) >> shift...Quadkey.row(latitude: box.south) >> shift
        firstColumn = Quadkey.column(longitude: box.west) >> shift
        let tilesAcross = 1 << level
        var lastColumn = Quadkey.column(longitude: box.east) >> shift
        // A box that reaches the antimeridian from the west touches the first column beyond it, where 180 is.
        let endsAtAntimeridian = box.east == 180 && box.west != 180
        let west = box.west == 180 ? -180 : box.west
        if west > box.east || endsAtAntimeridian { lastColumn += tilesAcross }
        columnCount = min(tilesAcross, lastColumn - firstColumn + 1)
    }

    /// How many there are.
    package var count: Int { rows.count * columnCount }

    /// The number of the cell that a place is in; nil if it is in none of these.
    package func cell(of quadkey: Quadkey) -> Int? {
        let (row, column) = quadkey.tile(atLevel: level)
        guard rows.contains(row) else { return nil }
        let eastward = (column - firstColumn) & (1 << level - 1)
        return eastward < columnCount ? (row - rows.lowerBound) * columnCount + eastward : nil
    }

    /// Whether a tile contains any of the cells. Its level is at most that of the cells.
    package func touches(row: Int, column: Int, ofLevel tileLevel: Int) -> Bool {
        let shift = level - tileLevel
        let (firstRow, lastRow) = (row << shift, (row + 1) << shift - 1)
        guard firstRow <= rows.upperBound, rows.lowerBound <= lastRow else { return false }
        let tilesAcross = 1 << level
        let (west, east) = (column << shift, (column + 1) << shift - 1)
        let lastColumn = firstColumn + columnCount - 1
        return west <= lastColumn && firstColumn <= east
            || west + tilesAcross <= lastColumn && firstColumn <= east + tilesAcross
    }
}
