import EditingAPI
import Foundation
import PointsOfInterestHTTP

/// Finds the places of another finder, and shows a person's own edits of them.
///
/// What the other one has kept without them is dropped, so that it isn't shown after the app's next start, when nobody knows the
/// edits any more.
struct OwnEditsFinder: PlaceFinder {
    let base: any PlaceFinder
    let edits: OwnEdits
    /// Drops the kept responses that have one of some places.
    let drop: @Sendable (Set<Int>) async -> Void

    func nearbyPlaces(_ request: NearbyPlacesRequest) async throws -> PlacesPage {
        try await shown(try await base.nearbyPlaces(request), request)
    }

    func nextPage(after page: PlacesPage) async throws -> PlacesPage? {
        guard let next = try await base.nextPage(after: page) else { return nil }
        return try await shown(next, nil)
    }

    /// Shows a page. One that has lost all its places would look like the last one, so the next one that has some is loaded.
    private func shown(_ page: PlacesPage, _ request: NearbyPlacesRequest?) async throws -> PlacesPage {
        var (page, shown) = (page, await edited(page, request, page.receivedAt ?? edits.now()))
        while shown.places.isEmpty, !page.places.isEmpty, let next = try await base.nextPage(after: page) {
            (page, shown) = (next, await edited(next, request, next.receivedAt ?? edits.now()))
        }
        return shown
    }

    func place(id: Int, center: Coordinate?, languages: [String]) async throws -> PointOfInterest {
        let response = ResponseContext(languages: languages, receivedAt: edits.now(), isOfOnePlace: true)
        var found: PointOfInterest?
        var failure = RequestError.problem(Problem(.gone))
        do {
            found = try await base.place(id: id, center: center, languages: languages)
        } catch let error as RequestError where [.notFound, .gone].contains(error.problem?.code) {
            failure = error
        }
        // A place that was merged is the other one already, where the service follows.
        guard let own = edits.edits(of: [found?.id ?? id]).values.first else {
            if let found { return found }
            throw failure
        }
        let outcome = edits.outcome(of: own, on: found, in: response)
        if let found, outcome != .place(found) { await drop([found.id]) }
        switch outcome {
        case .place(let place): return place
        case .merged(let survivor) where survivor != id:
            return try await place(id: survivor, center: center, languages: languages)
        case .gone, .merged: throw failure
        }
    }

    func clusters(_ request: ClustersRequest) async throws -> PlaceClusters {
        let response = try await base.clusters(request)
        return PlaceClusters(
            zoom: response.zoom, clusters: await edited(response.clusters, request, edits.now()))
    }

    func categories() async throws -> [CategoryCount] { try await base.categories() }

    func categories(languages: [String], searchText: String?) async throws -> [CategoryCount] {
        try await base.categories(languages: languages, searchText: searchText)
    }

    func attributions() async throws -> [Attribution] { try await base.attributions() }

    var hasRegions: Bool { base.hasRegions }

    func keptPage(of request: NearbyPlacesRequest) async -> PlacesPage? {
        guard let page = await base.keptPage(of: request) else { return nil }
        return await edited(page, request, page.receivedAt ?? .distantPast)
    }

    func keptClusters(_ request: ClustersRequest) async -> (clusters: [PlaceCluster], receivedAt: Date?)? {
        guard let kept = await base.keptClusters(request) else { return nil }
        return (await edited(kept.clusters, request, kept.receivedAt ?? .distantPast), kept.receivedAt)
    }

    func keptPlaces(ids: [Int], languages: [String]) async -> PlacesPage? {
        guard let page = await base.keptPlaces(ids: ids, languages: languages) else { return nil }
        var request = NearbyPlacesRequest(ids: ids)
        request.languages = languages
        let shown = await edited(page, request, page.receivedAt ?? .distantPast)
        return shown.places.isEmpty ? nil : shown
    }

    func keptCategories() async -> (categories: [CategoryCount], receivedAt: Date?)? {
        await base.keptCategories()
    }

    func keptCategories(
        languages: [String]
    ) async -> (categories: [CategoryCount], receivedAt: Date?)? {
        await base.keptCategories(languages: languages)
    }

    func keptAttributions() async -> (attributions: [Attribution], receivedAt: Date?)? {
        await base.keptAttributions()
    }
}

extension OwnEditsFinder {
    /// Returns a page with the edits, of the request if that is known. What is kept of a page that lacked them is dropped.
    private func edited(
        _ page: PlacesPage, _ request: NearbyPlacesRequest?, _ receivedAt: Date
    ) async -> PlacesPage {
        let response = ResponseContext(
            properties: request?.properties ?? [], languages: request?.languages ?? [],
            receivedAt: receivedAt)
        let isByID = request?.ids.isEmpty == false
        let own = edits.edits(of: page.places.map(\.id) + (request?.ids ?? []))
        guard !own.isEmpty else { return page }
        var places = page.places.compactMap { place in
            own[place.id].map { shown(place, $0, response, isByID) } ?? place
        }
        // A place that was just made, and is asked for by its id.
        let found = Set(page.places.map(\.id))
        for id in (request?.ids ?? []).uniqued(by: \.self) where !found.contains(id) {
            if let own = own[id], case .place(let place) = edits.outcome(of: own, on: nil, in: response) {
                places.append(place)
            }
        }
        guard places != page.places else { return page }
        await drop(Set(own.keys))
        return page.with(places: places)
    }

    private func edited(
        _ clusters: [PlaceCluster], _ request: ClustersRequest, _ receivedAt: Date
    ) async -> [PlaceCluster] {
        let response = ResponseContext(
            properties: request.properties, languages: request.languages, receivedAt: receivedAt)
        let own = edits.edits(of: clusters.compactMap(\.place?.id))
        guard !own.isEmpty else { return clusters }
        let edited = clusters.compactMap { cluster -> PlaceCluster? in
            guard let place = cluster.place, let own = own[place.id] else { return cluster }
            return shown(place, own, response, false).map { place in
                PlaceCluster(
                    count: cluster.count, latitude: cluster.latitude, longitude: cluster.longitude,
                    box: cluster.box, place: place)
            }
        }
        if edited != clusters { await drop(Set(own.keys)) }
        return edited
    }

    /// A place as a list shows it; nil where the list doesn't have it any more. A place that is closed for good is found by its
    /// id only.
    private func shown(
        _ place: PointOfInterest, _ own: [OwnEdit], _ response: ResponseContext, _ isByID: Bool
    ) -> PointOfInterest? {
        guard case .place(let place) = edits.outcome(of: own, on: place, in: response),
            isByID || place.operatingStatus != .permanentlyClosed
        else { return nil }
        return place
    }
}
