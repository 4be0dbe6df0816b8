import Foundation
import Geodesy
import PointsOfInterestHTTP

/// Finds places in the regions on the device, and at the service where it can be reached.
///
/// What it has to say at once, by `keptPage(of:)` and its like, is a region's, where one has that part of the world. What is asked for
/// is the service's; a list is a region's where the connection fails. A page that follows comes from where the page before it came
/// from. Without a service, all is the regions'. A page says by its `source` and its `coverage` what one sees.
public struct OfflinePlaceFinder: PlaceFinder {
    private let regions: OfflineRegions
    private let service: (any PlaceFinder)?

    /// Makes a finder of the regions in a folder and of a service; nil where only the regions are asked.
    public init(regions: OfflineRegions, service: (any PlaceFinder)? = nil) {
        self.regions = regions
        self.service = service
    }

    /// The service's first page; a region's where the connection fails, or there is no service.
    ///
    /// - Throws: `RequestError`, `OfflineRegionError.notKept`.
    @concurrent
    public func nearbyPlaces(_ request: NearbyPlacesRequest) async throws -> PlacesPage {
        guard let service else { return try page(of: request) ?? notKept() }
        do {
            return try await service.nearbyPlaces(request)
        } catch let error as RequestError where error.isOfConnection {
            // That a region lacks a place with an id doesn't say that there is none.
            if request.ids.isEmpty, let page = try? page(of: request) { return page }
            throw error
        }
    }

    /// The page that follows another one, from where that one came.
    ///
    /// - Throws: `RequestError`; `OfflineRegionError.notKept` where the region was removed.
    @concurrent
    public func nextPage(after page: PlacesPage) async throws -> PlacesPage? {
        guard let next = page.next else { return nil }
        guard let id = RegionPlaces.region(of: next) else {
            guard let service else { return try notKept() }
            return try await service.nextPage(after: page)
        }
        return try regions.places(of: id)?.page(behind: next) ?? notKept()
    }

    /// The service's place; that of a region where there is no service.
    ///
    /// - Throws: `RequestError`, `OfflineRegionError.notKept`.
    @concurrent
    public func place(id: Int, center: Coordinate?, languages: [String]) async throws -> PointOfInterest {
        if let service { return try await service.place(id: id, center: center, languages: languages) }
        for places in newestFirst {
            if let place = try places.place(id: id, center: center, languages: languages) { return place }
        }
        return try notKept()
    }

    /// The service's clusters; without a service, those of a region that has the whole box.
    ///
    /// - Throws: `RequestError`, `OfflineRegionError.notKept`.
    @concurrent
    public func clusters(_ request: ClustersRequest) async throws -> PlaceClusters {
        if let service { return try await service.clusters(request) }
        return try region(with: request.box, request.filter)?.clusters(request) ?? notKept()
    }

    /// The service's categories; without a service, those of all regions.
    ///
    /// - Throws: `RequestError`, `OfflineRegionError.notKept`.
    public func categories() async throws -> [CategoryCount] {
        try await categories(languages: [], searchText: nil)
    }

    /// The service's categories; without a service, those of all regions: a place that is in two of them counts twice.
    ///
    /// - Throws: `RequestError`, `OfflineRegionError.notKept`.
    @concurrent
    public func categories(languages: [String], searchText: String?) async throws -> [CategoryCount] {
        if let service { return try await service.categories(languages: languages, searchText: searchText) }
        return try regionCategories(languages, searchText) ?? notKept()
    }

    /// The service's datasets; without a service, those of all regions.
    ///
    /// - Throws: `RequestError`, `OfflineRegionError.notKept`.
    @concurrent
    public func attributions() async throws -> [Attribution] {
        if let service { return try await service.attributions() }
        return try regionAttributions ?? notKept()
    }

    private func notKept<Answer>() throws -> Answer { throw OfflineRegionError.notKept }
}

// MARK: - At once

extension OfflinePlaceFinder {
    /// True.
    public var hasRegions: Bool { true }

    /// A region's first page, where one has that part of the world; else what is kept of the service.
    @concurrent
    public func keptPage(of request: NearbyPlacesRequest) async -> PlacesPage? {
        // Without a part of the world no region can answer; the caller comes again once it knows where the device is.
        if request.center == nil, request.box == nil, request.ids.isEmpty, request.sort == nil,
            newestFirst.contains(where: { $0.region.filter.rest(of: request.filter) != nil })
        {
            return nil
        }
        if let page = try? page(of: request) { return page }
        return await service?.keptPage(of: request)
    }

    /// The clusters of a region that has the whole box; else what is kept of the service.
    @concurrent
    public func keptClusters(
        _ request: ClustersRequest
    ) async -> (clusters: [PlaceCluster], receivedAt: Date?)? {
        if let places = region(with: request.box, request.filter), let found = try? places.clusters(request) {
            return (found.clusters, places.comparedAt)
        }
        return await service?.keptClusters(request)
    }

    /// The places with some ids, in the order of the ids: those of all regions, and those that are kept of the service.
    @concurrent
    public func keptPlaces(ids: [Int], languages: [String]) async -> PlacesPage? {
        var found = FoundPlaces(Set(ids))
        for places in newestFirst {
            let own = found.lacking.compactMap { id in
                (try? places.place(id: id, center: nil, languages: languages))
                    ?? places.notes.favorites.first { $0.id == id }
            }
            found.take(own, receivedAt: places.comparedAt)
        }
        let lacking = ids.filter(found.lacking.contains)
        if !lacking.isEmpty, let page = await service?.keptPlaces(ids: lacking, languages: languages) {
            found.take(page.places, receivedAt: page.receivedAt)
        }
        return found.page(ids)
    }

    /// What is kept of the service; else the categories of all regions.
    public func keptCategories() async -> (categories: [CategoryCount], receivedAt: Date?)? {
        await keptCategories(languages: [])
    }

    /// What is kept of the service; else the categories of all regions.
    @concurrent
    public func keptCategories(
        languages: [String]
    ) async -> (categories: [CategoryCount], receivedAt: Date?)? {
        if let kept = await service?.keptCategories(languages: languages) { return kept }
        guard let categories = try? regionCategories(languages, nil) else { return nil }
        return (categories, newestFirst.first?.comparedAt)
    }

    /// What is kept of the service; else the datasets of all regions.
    @concurrent
    public func keptAttributions() async -> (attributions: [Attribution], receivedAt: Date?)? {
        if let kept = await service?.keptAttributions() { return kept }
        return regionAttributions.map { ($0, newestFirst.first?.comparedAt) }
    }
}

// MARK: - In regions

extension OfflinePlaceFinder {
    private var newestFirst: [RegionPlaces] {
        regions.allPlaces.sorted { $0.comparedAt ?? .distantPast > $1.comparedAt ?? .distantPast }
    }

    /// A page of the region that has most of what is asked for; nil where none has any of it.
    private func page(of request: NearbyPlacesRequest) throws -> PlacesPage? {
        var best: PlacesPage?
        for places in newestFirst where places.mayHave(request) {
            let page = try places.page(request)
            if page.coverage == .whole { return page }
            if page.places.count > best?.places.count ?? -1 { best = page }
        }
        return best
    }

    private func region(with box: BoundingBox, _ filter: PlaceFilter) -> RegionPlaces? {
        newestFirst.first { $0.region.box.contains(box) && $0.region.filter.rest(of: filter) != nil }
    }

    private func regionCategories(_ languages: [String], _ searchText: String?) throws -> [CategoryCount]? {
        let regions = newestFirst
        guard !regions.isEmpty else { return nil }
        var sums: [String: CategoryCount] = [:]
        for places in regions {
            for category in try places.categories(languages: languages, searchText: searchText) {
                let before = sums[category.name]
                sums[category.name] = CategoryCount(
                    name: category.name, count: category.count + (before?.count ?? 0),
                    label: before?.label ?? category.label)
            }
        }
        return sums.values.sorted(by: CategoryCount.isOrdered)
    }

    private var regionAttributions: [Attribution]? {
        let regions = newestFirst
        guard !regions.isEmpty else { return nil }
        return regions.flatMap(\.notes.attributions).uniqued(by: \.dataset)
            .sorted { $0.dataset.utf8.lexicographicallyPrecedes($1.dataset.utf8) }
    }
}

extension RegionPlaces {
    /// Whether the region may have places that a request asks for.
    fileprivate func mayHave(_ request: NearbyPlacesRequest) -> Bool {
        guard region.filter.rest(of: request.filter) != nil else { return false }
        if !request.ids.isEmpty { return true }
        if let box = request.box { return region.box.meets(box) }
        guard let center = request.center else { return request.sort == .relevance }
        return region.box.contains(center)
    }
}

extension BoundingBox {
    /// Whether both have a position in common.
    fileprivate func meets(_ other: BoundingBox) -> Bool {
        guard south <= other.north, other.south <= north else { return false }
        func covers(_ box: BoundingBox, _ longitude: Double) -> Bool {
            box.contains(latitude: box.south, longitude: longitude)
        }
        return covers(self, other.west) || covers(other, west)
    }
}

extension RequestError {
    /// Whether the service wasn't reached, or another server has answered in its place, or it can't answer now.
    fileprivate var isOfConnection: Bool {
        switch reason {
        case .transport, .redirectRefused, .notHTTP, .foreignResponse, .damagedBody: true
        case .unexpectedStatus(let status): status >= 500
        case .problem(let problem): problem.status >= 500
        case .invalidCoordinate, .invalidBaseURL, .cancelled, .undecodableBody: false
        }
    }
}
