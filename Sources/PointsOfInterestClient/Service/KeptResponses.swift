import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// What is kept of earlier responses. Nothing here asks the network, or calls the app's `headers`.
//
// A response is found whatever key it was loaded with: an app whose users differ in what they may see drops the store's
// responses when one signs out.

extension PointsOfInterestService {
    /// Returns the newest first page that is kept of a request; nil where none is.
    ///
    /// A request with a box takes a page whose box holds it. Of a request with a centre it is a page whose centre is at most
    /// 50 km away; without one, any. Everything else must be equal. The places' distances are from the page's own centre.
    @concurrent
    public func keptPage(of request: NearbyPlacesRequest) async -> PlacesPage? {
        let endpoint = NearbyPlacesEndpoint(baseURL: baseURL)
        let request = request.coarsened(toDecimals: coordinateDecimals)
        return await newest(endpoint, like: .first(request)) { url in
            guard let box = request.box else {
                return url.queryBox == nil && url.isNear(request.center)
            }
            return url.queryBox?.contains(box) == true
        }
    }

    /// Returns the newest clusters that are kept of a part of a map, whatever their zoom, and when they were received; nil
    /// where none are. Their box holds that of the request, and filter, properties and languages are equal.
    @concurrent
    public func keptClusters(
        _ request: ClustersRequest
    ) async -> (clusters: [PlaceCluster], receivedAt: Date?)? {
        let found = await newestWithHead(ClustersEndpoint(baseURL: baseURL), like: request) { url in
            url.queryBox?.contains(request.box) == true
        }
        return found.map { ($0.value.clusters, $0.head.receivedAt) }
    }

    /// Returns the places with some ids that are in any kept response of this service, in the order of the ids; nil where
    /// there is none of them. Only a search in memory isn't looked at.
    ///
    /// Their distances are left out, and their properties are those of the response that they are in: one to a request for the
    /// one place has all, and is preferred. `receivedAt` is that of the oldest response among them.
    ///
    /// - Parameters:
    ///   - ids: in any order.
    ///   - languages: the languages that the responses must have been asked for in.
    @concurrent
    public func keptPlaces(ids: [Int], languages: [String] = []) async -> PlacesPage? {
        guard let responseStore, let base = try? URLRequest.get(EndpointPath.locations, baseURL: baseURL).url
        else { return nil }
        let endpoint = ResponseKey(url: base).endpoint
        let wanted = Set(ids)
        let endpoints = Set(wanted.map { "\(endpoint)/\($0)" } + [endpoint])
        let language = languages.isEmpty ? nil : languages.uniqueLanguages.joined(separator: ",")
        let responses = await responseStore.newestResponses(like: nil, maximumCount: .max) { url in
            guard url.queryValue("lang") == language else { return false }
            return endpoints.contains(ResponseKey(url: url).endpoint)
        }
        // Those of one place first: they have all of it.
        let single = responses.compactMap { response in
            (try? PointOfInterest.decode(body: response.body)).map { (response, [$0]) }
        }
        let lists = responses.lazy.compactMap { response in
            (try? [PointOfInterest].decode(body: response.body)).map { (response, $0) }
        }
        var found: [Int: PointOfInterest] = [:]
        var oldest: Date?
        func take(_ response: TaggedResponse, _ places: [PointOfInterest]) {
            let lacking = places.filter { wanted.contains($0.id) && found[$0.id] == nil }
            guard !lacking.isEmpty else { return }
            for place in lacking { found[place.id] = place.at(distance: nil) }
            oldest = [oldest, response.head.receivedAt].compactMap(\.self).min()
        }
        for (response, places) in single { take(response, places) }
        for (response, places) in lists where found.count < wanted.count { take(response, places) }
        return found.isEmpty
            ? nil : PlacesPage(places: ids.unique.compactMap { found[$0] }, next: nil, receivedAt: oldest)
    }

    /// Returns the categories that are kept, and when they were received; nil where none are.
    @concurrent
    public func keptCategories() async -> (categories: [CategoryCount], receivedAt: Date?)? {
        let found = await newestWithHead(CategoriesEndpoint(baseURL: baseURL), like: ()) { _ in true }
        return found.map { ($0.value, $0.head.receivedAt) }
    }

    /// Returns the datasets that are kept, for a map's credits, and when they were received; nil where none are.
    @concurrent
    public func keptAttributions() async -> (attributions: [Attribution], receivedAt: Date?)? {
        let found = await newestWithHead(AttributionsEndpoint(baseURL: baseURL), like: ()) { _ in true }
        return found.map { ($0.value, $0.head.receivedAt) }
    }
}

extension PointsOfInterestService {
    private func newest<Endpoint: APIRequest>(
        _ endpoint: Endpoint, like request: Endpoint.RequestDataType,
        where isWanted: @Sendable (URL) -> Bool
    ) async -> Endpoint.ResponseDataType? {
        await newestWithHead(endpoint, like: request, where: isWanted)?.value
    }

    /// Reads the newest response of those whose requests are wanted, and that differ in the part of the world at most.
    private func newestWithHead<Endpoint: APIRequest>(
        _ endpoint: Endpoint, like request: Endpoint.RequestDataType,
        where isWanted: @Sendable (URL) -> Bool
    ) async -> (value: Endpoint.ResponseDataType, head: ResponseHead)? {
        guard let responseStore, let sent = try? endpoint.makeRequest(from: request),
            let key = RevalidatingTransport.key(of: sent),
            let kept = await responseStore.newestResponses(like: key, maximumCount: 1, where: isWanted).first,
            let value = try? endpoint.parseResponse(data: kept.body, head: kept.head)
        else { return nil }
        return (value, kept.head)
    }
}

extension URL {
    /// The value of a query item, decoded; nil where there is none.
    fileprivate func queryValue(_ name: String) -> String? {
        URLComponents(url: self, resolvingAgainstBaseURL: true)?.queryItems?.first { $0.name == name }?.value
    }

    /// The box of a request.
    fileprivate var queryBox: BoundingBox? {
        let edges = queryValue("bbox")?.split(separator: ",").compactMap { Double($0) } ?? []
        guard edges.count == 4 else { return nil }
        return BoundingBox(west: edges[0], south: edges[1], east: edges[2], north: edges[3])
    }

    /// The centre of a request.
    var queryCenter: Coordinate? {
        guard let latitude = queryValue("lat").flatMap(Double.init),
            let longitude = queryValue("long").flatMap(Double.init)
        else { return nil }
        return try? Coordinate(latitude: latitude, longitude: longitude)
    }

    /// Whether a request's centre is near another one; a missing one is near everywhere.
    fileprivate func isNear(_ center: Coordinate?) -> Bool {
        guard let center, let own = queryCenter else { return true }
        return own.isNear(center)
    }
}

extension Coordinate {
    /// How far from where they were asked for places are worth being shown, in metres.
    static let maximumKeptDistance = 50_000.0

    /// Whether places that were asked for here are worth being shown there.
    ///
    /// The distance is that on a sphere (haversine formula), which is at most 0.6 % off.
    func isNear(_ other: Coordinate) -> Bool {
        func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
        let (north, east) = (radians(other.latitude - latitude) / 2, radians(other.longitude - longitude) / 2)
        let parallels = cos(radians(latitude)) * cos(radians(other.latitude))
        let chord = sin(north) * sin(north) + parallels * sin(east) * sin(east)
        let meanRadius = 6_371_008.8
        return 2 * meanRadius * asin(min(1, chord.squareRoot())) <= Self.maximumKeptDistance
    }
}

extension BoundingBox {
    /// Whether another box is in this one as a whole.
    func contains(_ other: BoundingBox) -> Bool {
        guard south <= other.south, other.north <= north else { return false }
        if width == 360 { return true }
        let offset = (other.west - west).truncatingRemainder(dividingBy: 360)
        return (offset < 0 ? offset + 360 : offset) + other.width <= width
    }

    /// How many degrees it reaches from west to east.
    private var width: Double { crossesAntimeridian ? east - west + 360 : east - west }
}

extension [Int] {
    /// The numbers, each once, in their order.
    var unique: [Int] {
        var seen: Set<Int> = []
        return filter { seen.insert($0).inserted }
    }
}
