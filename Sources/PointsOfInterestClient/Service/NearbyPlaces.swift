import Foundation

/// The places of an answer, page after page, each page asked for when its first place is wanted.
public struct NearbyPlaces: AsyncSequence, Sendable {
    /// A place.
    public typealias Element = PointOfInterest

    let pages: LocationsPages

    /// Goes through the places of one page after another.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var pages: LocationsPages.AsyncIterator
        private var places: ArraySlice<PointOfInterest> = []

        init(pages: LocationsPages.AsyncIterator) {
            self.pages = pages
        }

        /// The next place; nil behind the last.
        public mutating func next() async throws -> PointOfInterest? {
            while places.isEmpty {
                guard let page = try await pages.next() else { return nil }
                places = page[...]
            }
            return places.popFirst()
        }
    }

    /// Starts at the first place.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(pages: pages.makeAsyncIterator())
    }
}

/// The pages of an answer, each asked for when it is wanted.
///
/// Every iteration starts at the first page. It throws what loading a page throws, once, and ends behind that;
/// it ends also where its task is cancelled, with `RequestError.cancelled`.
public struct LocationsPages: AsyncSequence, Sendable {
    /// A page's places, nearest first; only the last page may have none.
    public typealias Element = [PointOfInterest]

    let loader: APIRequestLoader<NearbyPlacesEndpoint>
    let request: NearbyPlacesRequest

    /// Loads pages one after another.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let loader: APIRequestLoader<NearbyPlacesEndpoint>
        var upcoming: NearbyPlacesEndpoint.Page?
        private var seen: Set<URL> = []

        init(loader: APIRequestLoader<NearbyPlacesEndpoint>, first: NearbyPlacesRequest) {
            self.loader = loader
            upcoming = .first(first)
            if let url = try? loader.apiRequest.makeRequest(from: .first(first)).url { seen.insert(url) }
        }

        /// The next page; nil behind the last.
        public mutating func next() async throws -> [PointOfInterest]? {
            guard let page = upcoming else { return nil }
            upcoming = nil
            let answer = try await loader.loadAPIRequest(requestData: page)
            guard let next = answer.next else { return answer.places }
            // A service that leads in circles, or on and on past nothing, would keep the app busy for ever.
            guard seen.insert(next).inserted else {
                throw RequestError.undecodableBody(reason: "a page links to one before it")
            }
            guard !answer.places.isEmpty else {
                throw RequestError.undecodableBody(reason: "an empty page links to another one")
            }
            upcoming = .linked(next)
            return answer.places
        }
    }

    /// Starts at the first page.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(loader: loader, first: request)
    }
}
