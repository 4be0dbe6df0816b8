import Foundation
import Locking

/// A service that a test controls, without a network.
///
/// It has one or more pages of places, details, clusters, categories and attributions. A test makes it wait or fail with
/// `before`, which is called first in each call.
public final class MockPlaceFinder: PlaceFinder {
    /// Returns the places of the only page for a request, or throws the error that each call fails with.
    public typealias Handler = @Sendable (NearbyPlacesRequest) async throws -> [PointOfInterest]

    /// A call of a place finder.
    public enum Call: Hashable, Sendable {
        /// `nearbyPlaces(_:)`: the first page.
        case nearbyPlaces(NearbyPlacesRequest)
        /// `nextPage(after:)` for the page with this number; the second page is 2.
        case nextPage(number: Int)
        /// `place(id:center:languages:)`.
        case place(id: Int, center: Coordinate?, languages: [String] = [])
        /// `clusters(_:)`.
        case clusters(ClustersRequest)
        /// `categories()`.
        case categories
        /// `attributions()`.
        case attributions
        /// `keptPage(of:)`.
        case keptPage(NearbyPlacesRequest)
        /// `keptClusters(_:)`.
        case keptClusters(ClustersRequest)
        /// `keptPlaces(ids:languages:)`.
        case keptPlaces(ids: [Int], languages: [String] = [])
    }

    private let handler: Handler?
    private let pages: [[PointOfInterest]]
    private let givenClusters: [PlaceCluster]?
    private let givenCategories: [CategoryCount]?
    private let givenAttributions: [Attribution]
    private let keptPage: PlacesPage?
    private let keptClusters: [PlaceCluster]?
    private let receivedAt: Date?
    private let before: @Sendable (Call) async throws -> Void
    private let recorded = Lock<[Call]>([])

    /// Makes a service whose places the handler returns. Each request has one page.
    ///
    /// It is asked in each call but those for what is kept: for the places with an id, in a box, or all of them.
    public init(_ handler: @escaping Handler) {
        self.handler = handler
        pages = [[]]
        givenClusters = nil
        givenCategories = nil
        givenAttributions = []
        keptPage = nil
        keptClusters = nil
        receivedAt = nil
        before = { _ in }
    }

    /// Makes a service that finds these places, whatever the request.
    public convenience init(_ places: [PointOfInterest]) {
        self.init(pages: [places])
    }

    /// Makes a service that finds these pages of places, whatever the request.
    ///
    /// - Parameters:
    ///   - pages: the places of each page.
    ///   - clusters: what `clusters(_:)` returns, whatever the request; by default, one cluster for each of the places.
    ///   - categories: what `categories()` returns; by default, the categories of the places.
    ///   - attributions: what `attributions()` returns.
    ///   - keptPage: what `keptPage(of:)` returns, whatever the request, and where `keptPlaces(ids:languages:)` finds places.
    ///   - keptClusters: what `keptClusters(_:)` returns, whatever the request.
    ///   - receivedAt: when the pages were received.
    ///   - before: called first in each call: it can wait, and what it throws is thrown from the call. A call for what is
    ///     kept then returns nil.
    public init(
        pages: [[PointOfInterest]], clusters: [PlaceCluster]? = nil, categories: [CategoryCount]? = nil,
        attributions: [Attribution] = [], keptPage: PlacesPage? = nil,
        keptClusters: [PlaceCluster]? = nil, receivedAt: Date? = nil,
        before: @escaping @Sendable (Call) async throws -> Void = { _ in }
    ) {
        handler = nil
        self.pages = pages
        givenClusters = clusters
        givenCategories = categories
        givenAttributions = attributions
        self.keptPage = keptPage
        self.keptClusters = keptClusters
        self.receivedAt = receivedAt
        self.before = before
    }

    /// All calls so far, in order.
    public var calls: [Call] { recorded.withLock { $0 } }

    /// All requests for a first page so far, in order.
    public var requests: [NearbyPlacesRequest] {
        calls.compactMap { if case .nearbyPlaces(let request) = $0 { request } else { nil } }
    }

    private func record(_ call: Call) async throws {
        recorded.withLock { $0.append(call) }
        try await before(call)
    }

    /// Returns the places for a request: the handler's, or without one those of all pages.
    private func places(for request: NearbyPlacesRequest) async throws -> [PointOfInterest] {
        guard let handler else { return pages.flatMap(\.self) }
        return try await handler(request)
    }
}

extension MockPlaceFinder {
    /// Records the request and returns the first page; of a request with ids, the places that have one, as their `id` or in
    /// `mergedFrom`.
    ///
    /// - Throws: what the handler, or `before`, throws.
    public func nearbyPlaces(_ request: NearbyPlacesRequest) async throws -> PlacesPage {
        try await record(.nearbyPlaces(request))
        guard request.ids.isEmpty else {
            let places = try await places(for: request).filter { $0.isFound(by: request.ids) }
            return PlacesPage(places: places, next: nil, receivedAt: receivedAt)
        }
        guard let handler else { return page(1, pages.first ?? []) }
        return page(1, try await handler(request))
    }

    /// Returns the page that another page of this finder links to.
    ///
    /// - Throws: what `before` throws; `RequestError.problem` with the code `.malformedCursor` for a page of another
    ///   place finder.
    public func nextPage(after page: PlacesPage) async throws -> PlacesPage? {
        guard let next = page.next else { return nil }
        guard let number = pages.indices.map({ $0 + 1 }).first(where: { Self.url(ofPage: $0) == next }) else {
            throw RequestError.problem(Problem(.malformedCursor))
        }
        try await record(.nextPage(number: number))
        return self.page(number, pages[number - 1])
    }

    /// Returns the place with this id, or the one that has it in `mergedFrom`.
    ///
    /// - Throws: what the handler, or `before`, throws; `RequestError.problem` with the code `.notFound` where there is no
    ///   such place.
    public func place(id: Int, center: Coordinate?, languages: [String]) async throws -> PointOfInterest {
        try await record(.place(id: id, center: center, languages: languages))
        var request = NearbyPlacesRequest(ids: [id], center: center)
        request.languages = languages
        guard let place = try await places(for: request).first(where: { $0.isFound(by: [id]) }) else {
            throw RequestError.problem(Problem(.notFound))
        }
        return place
    }

    /// Returns the given clusters, or one cluster for each of the places.
    ///
    /// - Throws: what the handler, or `before`, throws.
    public func clusters(_ request: ClustersRequest) async throws -> PlaceClusters {
        try await record(.clusters(request))
        if let givenClusters { return PlaceClusters(zoom: request.zoom, clusters: givenClusters) }
        let places = try await places(for: NearbyPlacesRequest(box: request.box))
        return PlaceClusters(zoom: request.zoom, clusters: places.compactMap(PlaceCluster.init))
    }

    /// Returns the given categories, or those of the places.
    ///
    /// - Throws: what the handler, or `before`, throws.
    public func categories() async throws -> [CategoryCount] {
        try await record(.categories)
        if let givenCategories { return givenCategories }
        let counts = Dictionary(
            grouping: try await places(for: NearbyPlacesRequest(center: nil)), by: \.category
        )
        .mapValues(\.count)
        return counts.map { CategoryCount(name: $0.key, count: $0.value) }
            .sorted { ($1.count, $0.name) < ($0.count, $1.name) }
    }

    /// Returns the given attributions.
    ///
    /// - Throws: what the handler, or `before`, throws.
    public func attributions() async throws -> [Attribution] {
        try await record(.attributions)
        _ = try await places(for: NearbyPlacesRequest(center: nil))
        return givenAttributions
    }

    /// Returns the given kept page; nil where `before` throws.
    public func keptPage(of request: NearbyPlacesRequest) async -> PlacesPage? {
        await recorded(.keptPage(request)) ? keptPage : nil
    }

    /// Returns the given kept clusters, received when the kept page was; nil where `before` throws.
    public func keptClusters(
        _ request: ClustersRequest
    ) async -> (clusters: [PlaceCluster], receivedAt: Date?)? {
        guard await recorded(.keptClusters(request)), let keptClusters else { return nil }
        return (keptClusters, keptPage?.receivedAt)
    }

    /// Returns the places of the given kept page that have one of the ids; nil where there are none, or `before` throws.
    public func keptPlaces(ids: [Int], languages: [String]) async -> PlacesPage? {
        guard await recorded(.keptPlaces(ids: ids, languages: languages)), let keptPage else { return nil }
        let found = ids.compactMap { id in keptPage.places.first { $0.id == id } }
        return found.isEmpty
            ? nil
            : PlacesPage(
                places: found.map { $0.at(distance: nil) }, next: nil, receivedAt: keptPage.receivedAt)
    }

    /// Records a call for what is kept; false where `before` throws.
    private func recorded(_ call: Call) async -> Bool {
        (try? await record(call)) != nil
    }

    private func page(_ number: Int, _ places: [PointOfInterest]) -> PlacesPage {
        let next = number < pages.count ? Self.url(ofPage: number + 1) : nil
        return PlacesPage(places: places, next: next, receivedAt: receivedAt)
    }

    private static func url(ofPage number: Int) -> URL {
        AppConfiguration.mock.baseURL.appending(path: "locations").appending(
            queryItems: [URLQueryItem(name: "page", value: "\(number)")])
    }
}

extension PointOfInterest {
    /// Whether a request for these ids finds the place.
    fileprivate func isFound(by ids: [Int]) -> Bool {
        ids.contains(id) || mergedFrom.contains(where: ids.contains)
    }
}
