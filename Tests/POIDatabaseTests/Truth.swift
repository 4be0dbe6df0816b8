import BruteForce
import Places
import PointsOfInterestAPI

/// The right page for a request, by measuring every place. It decides by a rule of its own which places are in a box.
struct Truth {
    private let places: [PointOfInterest]
    private let everywhere: FixtureStore

    init(_ places: [PointOfInterest]) {
        self.places = places
        everywhere = FixtureStore(places)
    }

    func places(for request: NearbyPlacesRequest) async throws -> (
        places: [PointOfInterest], end: PagePosition?
    ) {
        guard let box = request.box, let center = request.orderCenter else {
            let page = try await everywhere.places(for: request)
            return (try page.places.copied(), page.end)
        }
        let rest = FixtureStore(places.filter { Self.isIn(box, $0.latitude, $0.longitude) })
        var unboxed = request
        (unboxed.box, unboxed.center) = (nil, center)
        if let start = request.start { unboxed.cursor = PageCursor(start, in: unboxed) }
        let page = try await rest.places(for: unboxed)
        let found = try page.places.copied()
        return (request.center == nil ? found.map(\.withoutDistance) : found, page.end)
    }

    /// Tries every longitude that names the place's meridian; at a pole all do.
    private static func isIn(_ box: BoundingBox, _ latitude: Double, _ longitude: Double) -> Bool {
        var meridians = [longitude]
        if abs(longitude) == 180 { meridians = [180, -180] }
        if abs(latitude) == 90 { meridians = [box.west] }
        let spans = box.west > box.east ? [box.west...180, -180...box.east] : [box.west...box.east]
        return (box.south...box.north).contains(latitude)
            && meridians.contains { meridian in spans.contains { $0.contains(meridian) } }
    }
}

extension PointOfInterest {
    fileprivate var withoutDistance: PointOfInterest {
        PointOfInterest(
            id: id, name: name, category: category, latitude: latitude, longitude: longitude,
            featured: featured, address: address, website: website, source: source)
    }
}
