import Foundation
import PointsOfInterestClient

/// A tile of Web Mercator, computed from the definition (EPSG method 1024), apart from the service.
struct MapTile: Hashable {
    /// How many levels the cells of a request are below its zoom.
    static let levelsBelowZoom = 2
    /// The latitude where the map's square ends; the rows at its edges reach the poles.
    private static let edge = atan(sinh(Double.pi)) * 180 / .pi
    /// A tenth of a millimetre, in degrees. Positions on the edge between two tiles are kept out of a box by it.
    private static let inset = 1e-9

    let level: Int
    let row: Int
    let column: Int

    /// How many tiles there are from the antimeridian around the Earth, and from pole to pole.
    private var across: Int { 1 << level }
}

extension MapTile {
    /// The tile that a position is in.
    init(level: Int, latitude: Double, longitude: Double) {
        let across = Double(1 << level)
        let inSquare = min(max(latitude, -Self.edge), Self.edge) * .pi / 180
        let fromNorth = 0.5 - asinh(tan(inSquare)) / (2 * .pi)
        let fromWest = longitude == 180 ? 0 : (longitude + 180) / 360
        func index(_ fraction: Double) -> Int { Int(min(max(fraction * across, 0), across - 1)) }
        self.init(level: level, row: index(fromNorth), column: index(fromWest))
    }

    /// The box of the positions that are in this tile and on no edge that is another tile's.
    var box: BoundingBox? {
        let width = 360 / Double(across)
        let west = Double(column) * width - 180
        let isEarthWide = across == 1
        return BoundingBox(
            west: west, south: row == across - 1 ? -90 : latitude(ofRow: row + 1) + Self.inset,
            east: isEarthWide ? 180 : west + width - Self.inset,
            // The equator is an edge that places are on; it belongs to the tile south of it.
            north: row == 0 ? 90 : row * 2 == across ? 0 : latitude(ofRow: row) - Self.inset)
    }

    /// The latitude of a row's northern edge.
    private func latitude(ofRow row: Int) -> Double {
        atan(sinh(.pi * (1 - 2 * Double(row) / Double(across)))) * 180 / .pi
    }
}

/// The cells that a box touches.
struct TouchedCells {
    let level: Int
    private let rows: ClosedRange<Int>
    private let firstColumn: Int
    private let columnCount: Int

    init(_ box: BoundingBox, zoom: Int) {
        level = zoom + MapTile.levelsBelowZoom
        let northWest = MapTile(level: level, latitude: box.north, longitude: box.west)
        let southEast = MapTile(level: level, latitude: box.south, longitude: box.east)
        rows = northWest.row...southEast.row
        firstColumn = northWest.column
        let across = 1 << level
        var lastColumn = southEast.column
        // The meridian of 180 is in the first column, which a box that ends there touches behind the last one.
        if box.west > box.east && box.west != 180 || box.east == 180 && abs(box.west) != 180 {
            lastColumn += across
        }
        let isEarthWide = box.west == -180 && box.east == 180
        columnCount = isEarthWide ? across : min(across, lastColumn - firstColumn + 1)
    }

    /// The cell's number from north to south, and in each row from the box's west to its east; nil for a cell that the
    /// box doesn't touch.
    func number(of tile: MapTile) -> Int? {
        let across = 1 << level
        let eastward = (tile.column - firstColumn + across) % across
        guard rows.contains(tile.row), eastward < columnCount else { return nil }
        return (tile.row - rows.lowerBound) * across + eastward
    }
}
