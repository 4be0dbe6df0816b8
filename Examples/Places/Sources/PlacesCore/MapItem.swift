import PointsOfInterestClient

/// What a map shows at one point.
public enum MapItem: Hashable, Sendable, Identifiable {
    /// A place.
    case place(PointOfInterest)
    /// Several places, as one.
    case cluster(PlaceCluster)

    /// What stays the same while the map moves.
    public enum ID: Hashable, Sendable {
        /// A place's id.
        case place(Int)
        /// The box that a cluster's places are in.
        case cluster(BoundingBox)
    }

    /// What stays the same while the map moves.
    public var id: ID {
        switch self {
        case .place(let place): .place(place.id)
        case .cluster(let cluster): .cluster(cluster.box)
        }
    }

    /// Degrees north.
    public var latitude: Double {
        switch self {
        case .place(let place): place.latitude
        case .cluster(let cluster): cluster.latitude
        }
    }

    /// Degrees east.
    public var longitude: Double {
        switch self {
        case .place(let place): place.longitude
        case .cluster(let cluster): cluster.longitude
        }
    }
}

extension PlacesMap.State {
    /// All that the map shows.
    public var items: [MapItem] { clusters.map(MapItem.cluster) + places.map(MapItem.place) }
}

/// A part of the world around a centre, as a map's view takes it. All is in degrees.
public struct MapRegion: Hashable, Sendable {
    /// The minimum height and width of a region that is zoomed into: about 100 m from south to north. A map that is this
    /// close shows places one by one, so those at the same position, too.
    public static let minimumDegrees = 0.001
    /// From this zoom on, a map shows places one by one.
    private static let zoomOfPlaces = 18

    /// The centre's latitude.
    public let latitude: Double
    /// The centre's longitude.
    public let longitude: Double
    /// The height, from the southern to the northern edge.
    public let latitudeDelta: Double
    /// The width, from the western to the eastern edge.
    public let longitudeDelta: Double

    /// Makes the region that shows a cluster's places, with a margin: what a tap on the cluster zooms into.
    public init(zoomingInto cluster: PlaceCluster) {
        let box = cluster.box
        latitude = (box.south + box.north) / 2
        longitude = (box.west + box.east) / 2
        latitudeDelta = max((box.north - box.south) * 1.2, Self.minimumDegrees)
        longitudeDelta = max((box.east - box.west) * 1.2, Self.minimumDegrees)
    }

    /// Returns the zoom that a map counts places with; nil where it shows them one by one.
    ///
    /// - Parameters:
    ///   - box: what the map shows.
    ///   - width: the width of the map's view in points.
    static func clusterZoom(showing box: BoundingBox, width: Double) -> Int? {
        let zoom = ClustersRequest.zoom(showing: box, width: width)
        return zoom < zoomOfPlaces ? zoom : nil
    }
}
