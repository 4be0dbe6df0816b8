import Foundation

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

    /// Finds one place, with its distance from a centre if there is one, and its name in one of some languages if it has that.
    ///
    /// - Throws: `RequestError`; one that `isGone` where no place has the id.
    func place(id: Int, center: Coordinate?, languages: [String]) async throws -> PointOfInterest

    /// Counts the places in each cell of a map.
    ///
    /// - Throws: `RequestError`; `.problem` with the code `.indexRequired` where they can't be counted.
    func clusters(_ request: ClustersRequest) async throws -> PlaceClusters

    /// Finds every category with its number of places, most frequent first.
    ///
    /// - Throws: `RequestError`.
    func categories() async throws -> [CategoryCount]

    /// Finds every category with its number of places and its label in one of some languages, most frequent first; or those that a
    /// text finds by their names and the words for them.
    ///
    /// - Throws: `RequestError`.
    func categories(languages: [String], searchText: String?) async throws -> [CategoryCount]

    /// Finds the datasets that places came from, by name. A map shows their credits.
    ///
    /// - Throws: `RequestError`.
    func attributions() async throws -> [Attribution]

    /// Whether it has regions on the device, which have the nearest places only once it is known where that is.
    var hasRegions: Bool { get }

    /// Returns the newest first page that is kept of a request: with a box, one whose box holds it; with a centre, one whose
    /// centre is near; nil where none is. None of the methods for what is kept asks the network.
    func keptPage(of request: NearbyPlacesRequest) async -> PlacesPage?

    /// Returns the newest clusters that are kept of a part of a map, and when they were received; nil where none are.
    func keptClusters(_ request: ClustersRequest) async -> (clusters: [PlaceCluster], receivedAt: Date?)?

    /// Returns the places with some ids that are in any kept response, in the order of the ids; nil where there is none.
    func keptPlaces(ids: [Int], languages: [String]) async -> PlacesPage?

    /// Returns the categories that are kept, and when they were received; nil where none are.
    func keptCategories() async -> (categories: [CategoryCount], receivedAt: Date?)?

    /// Returns the categories that are kept in some languages, and when they were received; nil where none are.
    func keptCategories(languages: [String]) async -> (categories: [CategoryCount], receivedAt: Date?)?

    /// Returns the datasets that are kept, and when they were received; nil where none are.
    func keptAttributions() async -> (attributions: [Attribution], receivedAt: Date?)?
}

/// A stand-in that keeps nothing needs none of these.
extension PlaceFinder {
    /// False.
    public var hasRegions: Bool { false }
    /// Returns nil.
    public func keptPage(of request: NearbyPlacesRequest) async -> PlacesPage? { nil }
    /// Returns nil.
    public func keptClusters(
        _ request: ClustersRequest
    ) async -> (clusters: [PlaceCluster], receivedAt: Date?)? { nil }
    /// Returns nil.
    public func keptPlaces(ids: [Int], languages: [String]) async -> PlacesPage? { nil }
    /// Returns nil.
    public func keptCategories() async -> (categories: [CategoryCount], receivedAt: Date?)? { nil }
    /// Returns `keptCategories()`.
    public func keptCategories(
        languages: [String]
    ) async -> (categories: [CategoryCount], receivedAt: Date?)? { await keptCategories() }
    /// Returns nil.
    public func keptAttributions() async -> (attributions: [Attribution], receivedAt: Date?)? { nil }
}

extension PlaceFinder {
    /// Returns those of `categories()` whose names or labels contain the text: a stand-in has no other words.
    ///
    /// - Throws: what `categories()` throws.
    public func categories(languages: [String], searchText: String?) async throws -> [CategoryCount] {
        let categories = try await categories()
        guard let searchText else { return categories }
        return categories.filter {
            ($0.label ?? $0.name).localizedStandardContains(searchText)
        }
    }

    /// Finds one place, with its distance from a centre if there is one.
    ///
    /// - Throws: `RequestError`, as `place(id:center:languages:)` does.
    public func place(id: Int, center: Coordinate? = nil) async throws -> PointOfInterest {
        try await place(id: id, center: center, languages: [])
    }

    /// Finds the places of the first page, nearest first.
    ///
    /// - Throws: `RequestError`, as `nearbyPlaces(_:)` does.
    public func places(_ request: NearbyPlacesRequest) async throws -> [PointOfInterest] {
        try await nearbyPlaces(request).places
    }

    /// Finds the places with some ids, such as a user's favourites: the nearest first where there is a centre, otherwise by
    /// their ids. Ids that no place has are passed over.
    ///
    /// - Parameters:
    ///   - ids: in any order, at most 100 different ones; without any, nothing is sent.
    ///   - center: where distances are measured from; without it places have none.
    ///   - properties: the names of the properties that places come with, at most 20.
    ///   - languages: the languages of the user, the preferred one first, at most 10: places come with their names in these.
    /// - Throws: `RequestError`; `.problem` where the service refuses the ids.
    public func places(
        ids: [Int], center: Coordinate? = nil, properties: [String] = [], languages: [String] = []
    ) async throws -> [PointOfInterest] {
        guard !ids.isEmpty else { return [] }
        var request = NearbyPlacesRequest(ids: ids, center: center)
        request.properties = properties
        request.languages = languages
        return try await nearbyPlaces(request).places
    }

    /// Returns a pager that loads the pages of a request one at a time, when they are wanted.
    public func pager(for request: NearbyPlacesRequest) -> PlacePager {
        PlacePager(placeFinder: self, request: request)
    }

    /// Returns a sequence of all places of a request, nearest first, that loads page after page.
    public func allNearbyPlaces(_ request: NearbyPlacesRequest) -> NearbyPlaces {
        NearbyPlaces(placeFinder: self, request: request)
    }

    /// Returns the same, with each place as often as the service has sent it: for who has to notice that.
    package func allNearbyPlacesAsSent(_ request: NearbyPlacesRequest) -> NearbyPlaces {
        NearbyPlaces(placeFinder: self, request: request, once: false)
    }
}

extension RequestError {
    /// Converts what a `PlaceFinder` threw.
    package init(_ error: any Error) {
        self = error as? RequestError ?? RequestError(transportError: error)
    }
}

/// All places of a request, nearest first, over all pages. A page is loaded when its first place is wanted.
///
/// Each `for` loop begins at the first place. To load places on demand, keep a variable and call `next()`; to load
/// pages on demand, use a `PlacePager`.
public struct NearbyPlaces: AsyncSequence, AsyncIteratorProtocol, Sendable {
    /// A place.
    public typealias Element = PointOfInterest

    private let placeFinder: any PlaceFinder
    private var walk: PageWalk
    private var places: ArraySlice<PointOfInterest> = []
    /// The ids of all places so far; nil where places may come again.
    private var ids: Set<Int>?

    init(placeFinder: any PlaceFinder, request: NearbyPlacesRequest, once: Bool = true) {
        self.placeFinder = placeFinder
        ids = once ? [] : nil
        walk = PageWalk(request)
    }

    /// Returns the next place; nil after the last one. Each place comes once, also where data that changed meanwhile put it on
    /// two pages. After an error, another call asks for the same page again.
    ///
    /// - Throws: what `PlacePager.loadNext()` throws.
    public mutating func next() async throws -> PointOfInterest? {
        while true {
            while let place = places.popFirst() {
                if ids?.insert(place.id).inserted ?? true { return place }
            }
            guard let page = try await walk.load(from: placeFinder) else { return nil }
            walk.move(past: page)
            places = page.places[...]
        }
    }

    /// Returns a copy, which goes on independently.
    public func makeAsyncIterator() -> NearbyPlaces { self }
}

/// The way through the pages of a request: which page is next, and which ones were there.
///
/// Loading doesn't move it, so a page whose load fails is still the next one.
struct PageWalk: Sendable {
    private enum Step {
        case first(NearbyPlacesRequest)
        case after(PlacesPage)
        /// There is another page, but the link to it can't be followed.
        case broken(RequestError)
        case end
    }

    private var step: Step
    private var seen: Set<URL> = []

    init(_ request: NearbyPlacesRequest) {
        step = .first(request)
    }

    /// Whether there is another page, as far as is known.
    var hasMore: Bool {
        if case .end = step { false } else { true }
    }

    /// Loads the next page; nil after the last one.
    ///
    /// - Throws: what the place finder throws; `RequestError.undecodableBody` after a page whose link can't be followed.
    func load(from placeFinder: any PlaceFinder) async throws -> PlacesPage? {
        switch step {
        case .first(let request): try await placeFinder.nearbyPlaces(request)
        case .after(let page): try await placeFinder.nextPage(after: page)
        case .broken(let error): throw error
        case .end: nil
        }
    }

    /// Goes on to the page after one that was loaded. It doesn't follow a link to an earlier page, nor one of an empty page: such
    /// pages could keep the app busy for ever.
    mutating func move(past page: PlacesPage?) {
        guard let page, let next = page.next else {
            step = .end
            return
        }
        if next == page.url || seen.contains(next) {
            step = .broken(.undecodableBody(reason: "a page links to one before it"))
        } else if page.places.isEmpty {
            step = .broken(.undecodableBody(reason: "an empty page links to another one"))
        } else {
            if let url = page.url { seen.insert(url) }
            seen.insert(next)
            step = .after(page)
        }
    }
}
