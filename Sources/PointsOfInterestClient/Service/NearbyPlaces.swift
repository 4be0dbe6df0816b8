import Foundation

/// All places of a request, nearest first, over all pages. A page is loaded when its first place is wanted.
///
/// Each `for` loop begins at the first place. To load places on demand, keep a variable and call `next()`.
public struct NearbyPlaces: AsyncSequence, AsyncIteratorProtocol, Sendable {
    /// A place.
    public typealias Element = PointOfInterest

    private var pages: Pages
    private var places: ArraySlice<PointOfInterest> = []

    init(pages: Pages) {
        self.pages = pages
    }

    /// Returns the next place; nil after the last one.
    ///
    /// - Throws: what `Pages.next()` throws.
    public mutating func next() async throws -> PointOfInterest? {
        while places.isEmpty {
            guard let page = try await pages.next() else { return nil }
            places = page[...]
        }
        return places.popFirst()
    }

    /// Returns a copy, which goes on independently.
    public func makeAsyncIterator() -> NearbyPlaces { self }
}

extension NearbyPlaces {
    /// The pages of a request, one after another, each an array of places. A page is loaded when it is wanted.
    ///
    /// Each `for` loop begins at the first page. To load pages on demand, keep a variable and call `next()`.
    public struct Pages: AsyncSequence, AsyncIteratorProtocol, Sendable {
        /// The places of a page, nearest first. Only the last page can be empty.
        public typealias Element = [PointOfInterest]

        private let loader: APIRequestLoader<NearbyPlacesEndpoint>
        private var upcoming: NearbyPlacesEndpoint.Page?
        private var seen: Set<URL> = []

        init(loader: APIRequestLoader<NearbyPlacesEndpoint>, request: NearbyPlacesRequest) {
            self.loader = loader
            upcoming = .first(request)
            if let url = try? loader.apiRequest.makeRequest(from: .first(request)).url { seen.insert(url) }
        }

        /// Loads the next page; returns nil after the last one, and after an error.
        ///
        /// - Throws: `RequestError`; `.undecodableBody` where the links between pages never end, `.cancelled`
        ///   where the task is cancelled.
        public mutating func next() async throws -> [PointOfInterest]? {
            guard let page = upcoming else { return nil }
            upcoming = nil
            let response = try await loader.loadAPIRequest(requestData: page)
            guard let next = response.next else { return response.places }
            // Pages that link in a circle, or empty pages that link on and on, would keep the app busy for ever.
            guard seen.insert(next).inserted else {
                throw RequestError.undecodableBody(reason: "a page links to one before it")
            }
            guard !response.places.isEmpty else {
                throw RequestError.undecodableBody(reason: "an empty page links to another one")
            }
            upcoming = .linked(next)
            return response.places
        }

        /// Returns a copy, which goes on independently.
        public func makeAsyncIterator() -> Pages { self }
    }
}
