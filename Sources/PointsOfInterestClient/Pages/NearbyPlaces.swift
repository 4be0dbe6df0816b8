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
