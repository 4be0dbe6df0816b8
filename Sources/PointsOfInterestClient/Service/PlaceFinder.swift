/// Finds places: the service, or a stand-in in a test.
///
/// Its methods throw `RequestError`. The models treat any other error as a failed connection.
public protocol PlaceFinder: Sendable {
    /// Finds the first page of the places that a request describes, nearest first.
    ///
    /// - Throws: `RequestError`.
    func nearbyPlaces(_ request: NearbyPlacesRequest) async throws -> PlacesPage

    /// Finds the page that follows another one; nil after the last.
    ///
    /// - Throws: `RequestError`.
    func nextPage(after page: PlacesPage) async throws -> PlacesPage?

    /// Finds one place, with its distance from a centre if there is one.
    ///
    /// - Throws: `RequestError`; `.problem` with the code `.notFound` where no place has the id.
    func place(id: Int, center: Coordinate?) async throws -> PointOfInterest

    /// Counts the places in each cell of a map.
    ///
    /// - Throws: `RequestError`; `.problem` with the code `.indexRequired` where they can't be counted.
    func clusters(_ request: ClustersRequest) async throws -> PlaceClusters

    /// Finds every category with its number of places, most frequent first.
    ///
    /// - Throws: `RequestError`.
    func categories() async throws -> [CategoryCount]

    /// Finds the datasets that places came from, by name. A map shows their credits.
    ///
    /// - Throws: `RequestError`.
    func attributions() async throws -> [Attribution]

    /// Returns the newest first page that is kept of this request, whatever its centre was; nil where none is kept.
    ///
    /// It never asks the network. A list shows this page where there is no network.
    func lastPage(of request: NearbyPlacesRequest) async -> PlacesPage?
}

extension PlaceFinder {
    /// Finds the places of the first page, nearest first.
    ///
    /// - Throws: `RequestError`, as `nearbyPlaces(_:)` does.
    public func places(_ request: NearbyPlacesRequest) async throws -> [PointOfInterest] {
        try await nearbyPlaces(request).places
    }

    /// Returns a pager that loads the pages of a request one at a time, when they are wanted.
    public func pager(for request: NearbyPlacesRequest) -> PlacePager {
        PlacePager(placeFinder: self, request: request)
    }

    /// Returns a sequence of all places of a request, nearest first, that loads page after page.
    public func allNearbyPlaces(_ request: NearbyPlacesRequest) -> NearbyPlaces {
        NearbyPlaces(placeFinder: self, request: request)
    }
}

extension RequestError {
    /// Converts what a `PlaceFinder` threw.
    init(_ error: any Error) {
        self = error as? RequestError ?? RequestError(transportError: error)
    }
}
