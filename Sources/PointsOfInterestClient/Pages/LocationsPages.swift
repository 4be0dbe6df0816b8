import Foundation

/// The pages of an answer, each asked for when it is wanted.
///
/// Every iteration starts at the first page. It throws what loading a page throws, once, and ends behind that;
/// it ends also where its task is cancelled, with `RequestError.cancelled`.
public struct LocationsPages: AsyncSequence, Sendable {
    /// A page's places, nearest first; only the first page may have none.
    public typealias Element = [PointOfInterest]

    let loader: APIRequestLoader<LocationsAPIRequest>
    let request: LocationsRequest

    /// Loads pages one after another.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let loader: APIRequestLoader<LocationsAPIRequest>
        var upcoming: LocationsAPIRequest.Page?
        private var seen: Set<URL> = []

        init(loader: APIRequestLoader<LocationsAPIRequest>, first: LocationsRequest) {
            self.loader = loader
            upcoming = .first(first)
        }

        /// The next page; nil behind the last.
        public mutating func next() async throws -> [PointOfInterest]? {
            guard let page = upcoming else { return nil }
            upcoming = nil
            let answer = try await loader.loadAPIRequest(requestData: page)
            if let next = answer.next {
                // A service that leads in circles would keep the app busy for ever.
                guard seen.insert(next).inserted else {
                    throw RequestError.undecodableBody(reason: "a page links to one before it")
                }
                upcoming = .linked(next)
            }
            return answer.places
        }
    }

    /// Starts at the first page.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(loader: loader, first: request)
    }
}
