import PointsOfInterestAPI

/// A store's answer: some places, and what they rest on.
public struct RankedPage {
    /// The places, in order.
    public let places: any PlaceSource
    /// Where the next page begins; nil where there is none.
    public let next: PagePosition?
    /// The dataset that every one of the places was read from, in the same snapshot as them; nil where
    /// nothing vouches for that.
    public let datasetID: DatasetID?
    /// How long the database took for it.
    public let databaseDuration: Duration?

    /// Makes a page.
    public init(
        places: any PlaceSource, next: PagePosition? = nil, datasetID: DatasetID? = nil,
        databaseDuration: Duration? = nil
    ) {
        self.places = places
        self.next = next
        self.datasetID = datasetID
        self.databaseDuration = databaseDuration
    }
}

/// Places that are lent to a writer one by one, without being made into values first.
public protocol PlaceSource {
    /// How many there are.
    var count: Int { get }

    /// Lends the fields of a place to a closure; `index` is below `count`.
    func withFields(at index: Int, _ body: (PlaceFields) -> Void) throws(PlaceStoreError)
}

extension PlaceSource {
    /// The places as values of their own.
    public func copied() throws(PlaceStoreError) -> [PointOfInterest] {
        var places: [PointOfInterest] = []
        places.reserveCapacity(count)
        for index in 0..<count {
            try withFields(at: index) { places.append(PointOfInterest(copying: $0)) }
        }
        return places
    }
}

extension [PointOfInterest]: PlaceSource {
    /// Lends the fields of an element.
    public func withFields(at index: Int, _ body: (PlaceFields) -> Void) throws(PlaceStoreError) {
        self[index].withFields(body)
    }
}
