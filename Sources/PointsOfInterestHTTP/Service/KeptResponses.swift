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
        var page = await newest(endpoint, like: .first(request)) { url in
            guard let box = request.box else {
                return url.queryBox == nil && url.isNear(request.center)
            }
            return url.queryBox?.contains(box) == true
        }
        page?.source = .kept
        return page
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
        guard let base = try? URLRequest.get(EndpointPath.locations, baseURL: baseURL).url else { return nil }
        let endpoint = ResponseKey(url: base).endpoint
        let language = languages.isEmpty ? nil : languages.uniqueLanguages.joined(separator: ",")
        var found = FoundPlaces(Set(ids))
        // Those of one place first: they have all of it.
        let details = Set(ids.map { "\(endpoint)/\($0)" })
        await readKept { url in
            details.contains(ResponseKey(url: url).endpoint) && url.queryValue("lang") == language
        } _: { response in
            found.use(response, [try PointOfInterest.decode(body: response.body)])
        }
        guard !found.areAll else { return found.page(ids) }
        await readKept { url in
            ResponseKey(url: url).endpoint == endpoint && url.queryValue("lang") == language
        } _: { response in
            found.use(response, try [PointOfInterest].decode(body: response.body))
        }
        return found.page(ids)
    }

    /// Returns the categories that are kept, and when they were received; nil where none are.
    @concurrent
    public func keptCategories() async -> (categories: [CategoryCount], receivedAt: Date?)? {
        await keptCategories(languages: [])
    }

    /// Returns the categories that are kept in some languages, and when they were received; nil where none are.
    @concurrent
    public func keptCategories(
        languages: [String]
    ) async -> (categories: [CategoryCount], receivedAt: Date?)? {
        let request = CategoriesRequest(languages: languages)
        let found = await newestWithHead(CategoriesEndpoint(baseURL: baseURL), like: request) { _ in true }
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
    /// Drops every kept response that has one of some places, which isn't any more what they show.
    @concurrent
    package func dropKept(withPlaces ids: Set<Int>) async {
        await responseStore?.drop { $0.hasPlace(ids) }
    }

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
        guard let sent = try? endpoint.makeRequest(from: request),
            let key = RevalidatingTransport.key(of: sent)
        else { return nil }
        var newest: (value: Endpoint.ResponseDataType, head: ResponseHead)?
        await readKept(like: key, where: isWanted) { kept in
            newest = (try endpoint.parseResponse(data: kept.body, head: kept.head), kept.head)
            return .enough
        }
        return newest
    }

    /// Reads kept responses one by one, those first that were kept last, until one is enough or the task is cancelled. One that
    /// can't be read is dropped.
    ///
    /// - Parameters:
    ///   - key: only responses to requests that differ from this one in the part of the world at most; nil is all but searches.
    ///   - isWanted: whether a request with this URL is wanted.
    ///   - read: is called with each response; what it throws says that the response can't be read.
    private func readKept(
        like key: ResponseKey? = nil, where isWanted: @Sendable (URL) -> Bool,
        _ read: (TaggedResponse) throws -> KeptUse
    ) async {
        guard let responseStore else { return }
        for place in await responseStore.places(like: key) where !Task.isCancelled {
            guard let response = await responseStore.response(at: place, where: isWanted) else { continue }
            do {
                let use = try read(response)
                if use != .unused { await responseStore.use(place) }
                if use == .enough { return }
            } catch {
                await responseStore.drop(place)
            }
        }
    }
}

/// What a kept response gave to somebody who looked for something.
private enum KeptUse {
    /// Nothing.
    case unused
    /// A part of it.
    case used
    /// All that was lacking.
    case enough
}

/// The places that were looked for by their ids, as far as they are found in what is kept.
package struct FoundPlaces {
    private var places: [Int: PointOfInterest] = [:]
    /// When the oldest response was received that has one of them.
    private var oldest: Date?
    /// The ids of the others.
    package private(set) var lacking: Set<Int>

    package init(_ ids: Set<Int>) {
        lacking = ids
    }

    /// Whether all are found.
    package var areAll: Bool { lacking.isEmpty }

    /// Takes those that are lacking from places that were received at a time; returns whether there were any.
    @discardableResult
    package mutating func take(_ found: [PointOfInterest], receivedAt: Date?) -> Bool {
        let new = found.filter { lacking.remove($0.id) != nil }
        guard !new.isEmpty else { return false }
        for place in new { places[place.id] = place.at(distance: nil) }
        oldest = [oldest, receivedAt].compactMap(\.self).min()
        return true
    }

    fileprivate mutating func use(_ response: TaggedResponse, _ found: [PointOfInterest]) -> KeptUse {
        guard take(found, receivedAt: response.head.receivedAt) else { return .unused }
        return areAll ? .enough : .used
    }

    /// The places in the order of some ids; nil where there are none.
    package func page(_ ids: [Int]) -> PlacesPage? {
        let places = ids.uniqued(by: \.self).compactMap { self.places[$0] }
        guard !places.isEmpty else { return nil }
        return PlacesPage(
            places: places, next: nil, receivedAt: oldest, center: nil, url: nil, source: .kept,
            coverage: lacking.isEmpty ? .whole : .partial)
    }
}

extension Data {
    /// Whether JSON has an object with one of some ids. It is searched, not decoded: all that is kept would take long. What only
    /// looks like one, in a text, does no harm.
    fileprivate func hasPlace(_ ids: Set<Int>) -> Bool {
        var rest = self[...]
        while let name = rest.range(of: Data("\"id\"".utf8)) {
            rest = rest[name.upperBound...]
            let digits = rest.drop { $0 == UInt8(ascii: ":") || $0 <= UInt8(ascii: " ") }
                .prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            if let id = Int(String(decoding: digits, as: UTF8.self)), ids.contains(id) { return true }
        }
        return false
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
    package func isNear(_ other: Coordinate) -> Bool {
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
    package func contains(_ other: BoundingBox) -> Bool {
        guard south <= other.south, other.north <= north else { return false }
        if width == 360 { return true }
        let offset = (other.west - west).truncatingRemainder(dividingBy: 360)
        return (offset < 0 ? offset + 360 : offset) + other.width <= width
    }

    /// How many degrees it reaches from west to east.
    private var width: Double { crossesAntimeridian ? east - west + 360 : east - west }
}
