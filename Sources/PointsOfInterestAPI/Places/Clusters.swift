import Foundation

/// `GET /locations/clusters`: how many places are in each cell of a map.
///
/// A cell is a tile of Web Mercator two levels below the zoom, so a tile of the map has 16 cells. The response has every
/// cell that the box touches and that has a matching place. All matching places of such a cell are counted, also those
/// outside of the box.
///
/// It has the properties of its filter, too: `request.featured` is `request.filter.featured`.
@dynamicMemberLookup
public struct ClustersRequest: Hashable, Sendable {
    /// The zooms that a request may ask for.
    public static let zooms = 0...22
    /// The maximum number of cells that a box may touch.
    public static let maximumCellCount = 1024

    /// The part of the map that is shown.
    public var box: BoundingBox
    /// The map's zoom, 0…22. At zoom 0 the Earth is one tile; each further zoom divides every tile into four.
    public var zoom: Int
    /// Only places that match this filter are counted.
    public var filter: PlaceFilter
    /// What single places come with.
    package var content: PlaceContent

    /// Makes a request. The server checks its options.
    public init(
        box: BoundingBox, zoom: Int, categories: [String] = [], searchText: String? = nil,
        featured: Bool? = nil
    ) {
        self.box = box
        self.zoom = zoom
        self.filter = PlaceFilter(categories: categories, searchText: searchText, featured: featured)
        content = PlaceContent()
    }

    /// Makes a request for the places that match a filter.
    package init(box: BoundingBox, zoom: Int, filter: PlaceFilter, content: PlaceContent = PlaceContent()) {
        self.box = box
        self.zoom = zoom
        self.filter = filter
        self.content = content
    }

    /// The names of the properties that single places come with, at most 20.
    public var properties: [String] {
        get { content.properties }
        set { content.properties = newValue }
    }

    /// The languages of the user for the names of single places, as in `NearbyPlacesRequest`.
    public var languages: [String] {
        get { content.languages }
        set { content.languages = newValue }
    }

    /// A property of the filter.
    public subscript<Member>(dynamicMember member: WritableKeyPath<PlaceFilter, Member>) -> Member {
        get { filter[keyPath: member] }
        set { filter[keyPath: member] = newValue }
    }

    /// Writes the query's items in a fixed order and leaves absent options out, so that equal requests have equal
    /// queries.
    package func encode(into query: inout QueryWriter) {
        query.add("zoom", zoom)
        query.add("bbox", box)
        filter.encode(into: &query)
        content.encode(into: &query)
    }

    /// The query, percent-encoded.
    package var encodedQuery: String {
        var query = QueryWriter()
        encode(into: &query)
        return query.text
    }
}

extension ClustersRequest {
    /// Returns the zoom of a map that shows a box in a view: the largest one at which a tile is 256 points wide or more.
    ///
    /// The zoom is smaller if the box would touch more than `maximumCellCount` cells, as in a window on a very large
    /// screen.
    ///
    /// - Parameters:
    ///   - box: what the map shows.
    ///   - width: the view's width in points.
    public static func zoom(showing box: BoundingBox, width: Double) -> Int {
        let span = box.crossesAntimeridian ? box.east + 360 - box.west : box.east - box.west
        let tiles = log2(max(width, 0) / 256 * 360 / span)
        // If the width or the span is 0, the number of tiles isn't finite.
        var zoom =
            tiles.isFinite
            ? Int(min(max(tiles, 0), Double(zooms.upperBound))) : tiles > 0 ? zooms.upperBound : 0
        while zoom > 0 {
            let cellsAcross = exp2(Double(zoom + 2))
            let columns = span / 360 * cellsAcross
            let rows = (mercator(box.north) - mercator(box.south)) * cellsAcross
            // In each direction, a box can touch two cells more than fit into it.
            if (columns + 2) * (rows + 2) <= Double(maximumCellCount) { break }
            zoom -= 1
        }
        return zoom
    }

    /// How far north of the equator a latitude is in Web Mercator (EPSG method 1024), as a part of the whole map's height.
    private static func mercator(_ latitude: Double) -> Double {
        asinh(tan(min(max(latitude, -85.0511), 85.0511) * .pi / 180)) / (2 * .pi)
    }
}

/// The response to `GET /locations/clusters`.
public struct PlaceClusters: Hashable, Sendable, Codable {
    /// The zoom that was asked for.
    public let zoom: Int
    /// The cells that have places, from north to south and from the box's west to its east.
    public let clusters: [PlaceCluster]

    /// Makes a response.
    public init(zoom: Int, clusters: [PlaceCluster]) {
        self.zoom = zoom
        self.clusters = clusters
    }
}

/// The matching places of one cell of a map.
public struct PlaceCluster: Hashable, Sendable {
    /// How many there are, exactly; at least 1.
    public let count: Int
    /// The mean of their latitudes in degrees, to seven decimals.
    public let latitude: Double
    /// The mean of their longitudes in degrees, to seven decimals; 180 counts as −180.
    public let longitude: Double
    /// The smallest box that they are in. It never crosses the antimeridian.
    public let box: BoundingBox
    /// The place, without a distance, if it is the only one; nil otherwise.
    public let place: PointOfInterest?

    /// Makes a cluster.
    public init(
        count: Int, latitude: Double, longitude: Double, box: BoundingBox, place: PointOfInterest? = nil
    ) {
        self.count = count
        self.latitude = latitude
        self.longitude = longitude
        self.box = box
        self.place = place
    }

    /// Makes the cluster of a single place; nil where its position isn't on Earth.
    public init?(_ place: PointOfInterest) {
        let (latitude, longitude) = (place.latitude, place.longitude)
        guard let box = BoundingBox(west: longitude, south: latitude, east: longitude, north: latitude) else {
            return nil
        }
        self.init(count: 1, latitude: latitude, longitude: longitude, box: box, place: place)
    }
}

extension PlaceCluster: Codable {
    private enum CodingKeys: String, CodingKey {
        case count, latitude, longitude, bbox, place
    }

    /// Decodes a cluster; unknown fields are ignored.
    ///
    /// - Throws: `DecodingError` if a field that every cluster has is missing or malformed.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let edges = try container.decode([Double].self, forKey: .bbox)
        guard edges.count == 4,
            let box = BoundingBox(west: edges[0], south: edges[1], east: edges[2], north: edges[3])
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .bbox, in: container, debugDescription: "not west, south, east and north")
        }
        self.init(
            count: try container.decode(Int.self, forKey: .count),
            latitude: try container.decode(Double.self, forKey: .latitude),
            longitude: try container.decode(Double.self, forKey: .longitude), box: box,
            place: try container.decodeIfPresent(PointOfInterest.self, forKey: .place))
    }

    /// Encodes a cluster as the service writes it.
    ///
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(count, forKey: .count)
        try container.encode(latitude, forKey: .latitude)
        try container.encode(longitude, forKey: .longitude)
        try container.encode([box.west, box.south, box.east, box.north], forKey: .bbox)
        try container.encodeIfPresent(place, forKey: .place)
    }
}
