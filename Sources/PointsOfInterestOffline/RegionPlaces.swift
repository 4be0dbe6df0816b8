import Foundation
import Geodesy
import PointsOfInterestHTTP
import PointsOfInterestServerAPI
import SpatialIndex

/// The places of a region as its file has them, and their answers: by the packed parts, the order and the words that the service
/// has, too. Any thread.
struct RegionPlaces: Sendable {
    let snapshot: IndexSnapshot
    let notes: RegionNotes
    /// When the places were last found equal to the service's.
    let comparedAt: Date?
    let file: FileIdentity

    init(_ part: IndexPart, _ notes: RegionNotes, comparedAt: Date?, file: FileIdentity) {
        snapshot = IndexSnapshot(ofRegion: part).labelled(notes.labels)
        self.notes = notes
        self.comparedAt = comparedAt
        self.file = file
    }

    var region: OfflineRegion { notes.region }

    // MARK: Lists

    /// A page of the places that a request describes.
    ///
    /// - Throws: `RequestError.problem` where the service would refuse the request, and `OfflineRegionError.notKept` where the
    ///   region lacks what the filter asks for.
    func page(_ request: NearbyPlacesRequest) throws -> PlacesPage {
        try page(query: request.encodedQuery)
    }

    /// The page that another one links to.
    func page(behind link: URL) throws -> PlacesPage {
        try page(query: URLComponents(url: link, resolvingAgainstBaseURL: true)?.percentEncodedQuery ?? "")
    }

    private func page(query: String) throws -> PlacesPage {
        // As the service reads it: what it refuses is refused in the same way.
        var request = try understood { () throws(ParameterError) in
            try NearbyPlacesRequest.decode(query: query.utf8)
        }
        guard let filter = region.filter.rest(of: request.filter) else { throw OfflineRegionError.notKept }
        let asked = request
        request.filter = filter
        if !request.ids.isEmpty { return pageByIDs(request) }
        if request.sort == .relevance { return pageByRelevance(request, asked) }
        guard let ranking = Ranking(pageOf: request) else {
            return page([], request, end: nil, asked) { _ in nil }
        }
        let found = snapshot.search(
            IndexQuery(
                ranking: ranking, box: request.box, filter: IndexFilter(request.filter, snapshot.vocabulary)))
        let placed = found?.placed ?? []
        return page(placed, request, end: found?.end, asked) { _ in nil }
    }

    private func pageByIDs(_ request: NearbyPlacesRequest) -> PlacesPage {
        let placed = Set(request.ids).compactMap { id -> IndexPage.Placed? in
            snapshot.placed(Int64(id), from: request.center)
        }
        return page(
            placed.sorted { ($0.distanceMeters, $0.id) < ($1.distanceMeters, $1.id) }, request, end: nil,
            request
        ) { _ in nil }
    }

    private func pageByRelevance(_ request: NearbyPlacesRequest, _ asked: NearbyPlacesRequest) -> PlacesPage {
        let found = snapshot.search(RelevanceQuery(request, snapshot.vocabulary))
        let places = found?.found ?? []
        let words = RelevancePage.leftOutWords(of: places, request.searchText)
        return page(places.map(\.placed), request, end: found?.end, asked) { index in
            PlaceAdditions(places[index], words, categoryLabel: nil)
        }
    }

    private func page(
        _ placed: [IndexPage.Placed], _ request: NearbyPlacesRequest, end: PagePosition?,
        _ asked: NearbyPlacesRequest, additions: (Int) -> PlaceAdditions?
    ) -> PlacesPage {
        let selection = PlaceSelection(request.content)
        var writer = JSONWriter(capacity: 512 * placed.count + 16)
        writer.beginArray()
        for (index, place) in placed.enumerated() {
            write(
                place.reference, distance: request.center == nil ? nil : place.distanceMeters, selection,
                additions(index) ?? PlaceAdditions(), to: &writer)
        }
        writer.endArray()
        var next: URL?
        if let end {
            var following = asked
            following.cursor = PageCursor(end, in: asked)
            next = link(following.encodedQuery)
        }
        return PlacesPage(
            places: read(writer), next: next, receivedAt: comparedAt, center: asked.center,
            url: link(asked.encodedQuery), source: .region(region.id),
            coverage: coverage(of: asked, showing: placed, hasMore: end != nil))
    }

    /// One place with all of its properties.
    func place(id: Int, center: Coordinate?, languages: [String]) throws -> PointOfInterest? {
        let query = PlaceRequest(id: id, center: center, languages: languages).encodedQuery
        let request = try understood { () throws(ParameterError) in
            try PlaceRequest.decode(id: "\(id)", query: query.utf8)
        }
        guard let request, let placed = snapshot.placed(Int64(id), from: request.center) else { return nil }
        let selection = PlaceSelection(.all, languages: request.languages, showsLastChange: true)
        var writer = JSONWriter(capacity: 2048)
        writer.beginArray()
        write(
            placed.reference, distance: request.center == nil ? nil : placed.distanceMeters, selection,
            PlaceAdditions(), to: &writer)
        writer.endArray()
        return read(writer).first
    }

    private func write(
        _ place: IndexPlaceReference, distance: Double?, _ selection: PlaceSelection?,
        _ additions: PlaceAdditions, to writer: inout JSONWriter
    ) {
        var additions = additions
        if let languages = selection?.languages, !languages.tags.isEmpty {
            additions.categoryLabel = snapshot.categoryLabel(of: place, in: languages)
        }
        snapshot.records[place].write(
            asFeature: false, distance: distance, selection: selection, additions, to: &writer)
    }

    private func read(_ written: borrowing JSONWriter) -> [PointOfInterest] {
        written.bytes.withScanner { scanner in
            var places: [PointOfInterest] = []
            // What a part's records say is JSON.
            try? scanner.array { (scanner) throws(JSONScanner.SyntaxError) in
                if let place = try PlaceMembers(&scanner).place(in: scanner) { places.append(place) }
            }
            return places
        }
    }

    // MARK: Counts

    func clusters(_ request: ClustersRequest) throws -> PlaceClusters {
        let query = request.encodedQuery
        let asked = try understood { () throws(ParameterError) in
            try ClustersRequest.decode(query: query.utf8)
        }
        guard let filter = region.filter.rest(of: asked.filter) else { throw OfflineRegionError.notKept }
        let found = snapshot.clusters(in: ClusterCells(asked), IndexFilter(filter, snapshot.vocabulary)) ?? []
        let selection = PlaceSelection(asked.content)
        return PlaceClusters(
            zoom: asked.zoom,
            clusters: found.compactMap { cluster in
                guard let box = cluster.sum.box else { return nil }
                var writer = JSONWriter(capacity: 512)
                writer.beginArray()
                if let place = cluster.place {
                    write(place, distance: nil, selection, PlaceAdditions(), to: &writer)
                }
                writer.endArray()
                let mean = cluster.sum.mean
                return PlaceCluster(
                    count: cluster.sum.count, latitude: mean.latitude, longitude: mean.longitude, box: box,
                    place: read(writer).first)
            })
    }

    /// The categories that its places have, the most frequent one first.
    func categories(languages: [String], searchText: String?) throws -> [CategoryCount] {
        let query = CategoriesRequest(searchText: searchText, languages: languages).encodedQuery
        let request = try understood { () throws(ParameterError) in
            try CategoriesRequest.decode(query: query.utf8)
        }
        return zip(snapshot.vocabulary.names, snapshot.categoryCounts)
            .compactMap { $0.1 > 0 ? CategoryCount(name: $0.0, count: $0.1) : nil }
            .sorted(by: CategoryCount.isOrdered).items(of: request, notes.labels)
    }

    private func understood<Request>(
        _ decode: () throws(ParameterError) -> Request
    ) throws(RequestError) -> Request {
        do throws(ParameterError) { return try decode() } catch { throw .problem(Problem(error)) }
    }

    // MARK: Links

    private static let scheme = "poi-region"

    private func link(_ query: String) -> URL? {
        URL(string: "\(Self.scheme)://\(region.id.uuidString.lowercased())/locations?\(query)")
    }

    /// The region that a page's link leads to; nil where it leads to the service.
    static func region(of link: URL) -> UUID? {
        link.scheme == scheme ? link.host.flatMap(UUID.init(uuidString:)) : nil
    }

    // MARK: Coverage

    /// Whether all that the service could have in a page is in the region.
    private func coverage(
        of request: NearbyPlacesRequest, showing placed: [IndexPage.Placed], hasMore: Bool
    ) -> PlacesPage.Coverage {
        if !request.ids.isEmpty { return placed.count == Set(request.ids).count ? .whole : .partial }
        if let box = request.box { return region.box.contains(box) ? .whole : .partial }
        guard let center = request.center, region.box.contains(center) else { return .partial }
        guard let meters = region.box.metersToOutside(from: center) else { return .whole }
        if let radius = request.radiusMeters, radius <= meters { return .whole }
        // Nothing outside is as near as the last place of a full page.
        guard request.sort == nil, hasMore, let last = placed.last else { return .partial }
        return last.distanceMeters <= meters ? .whole : .partial
    }
}

extension BoundingBox {
    func contains(_ position: Coordinate) -> Bool {
        contains(latitude: position.latitude, longitude: position.longitude)
    }
}

extension PlaceFilter {
    /// What is left of a request's filter among the places of this one; nil where it may want others.
    func rest(of request: PlaceFilter) -> PlaceFilter? {
        guard
            categories.isEmpty
                || !request.categories.isEmpty && Set(request.categories).isSubset(of: categories),
            datasets.isEmpty || !request.datasets.isEmpty && Set(request.datasets).isSubset(of: datasets),
            featured == nil || featured == request.featured,
            Set(propertyFilters) == Set(request.propertyFilters)
        else { return nil }
        var rest = request
        rest.propertyFilters = []
        return rest
    }
}
