import PointsOfInterestAPI

/// Where the service's places are kept.
///
/// A store belongs to one loop and is used on its thread only. Every store returns exactly what a scan over all places
/// would, in the order of `Ranking`.
public protocol PlaceStore: AnyObject {
    /// The dataset that a page read now would most likely come from, known without asking the database; nil where it
    /// isn't known.
    var currentDatasetID: DatasetID? { get }

    /// The categories that there ever were, known without asking the database; nil where they aren't.
    var vocabulary: CategoryVocabulary? { get }

    /// Reads the categories that there ever were: for a name that `vocabulary` doesn't have.
    ///
    /// - Throws: why the database couldn't be read.
    func currentVocabulary() async throws(PlaceStoreError) -> CategoryVocabulary

    /// The page of places that a request asks for, nearest first.
    ///
    /// - Throws: why the database couldn't be read.
    func places(for request: NearbyPlacesRequest) async throws(PlaceStoreError) -> RankedPage

    /// One place; an empty page where there is no such place.
    ///
    /// - Throws: why the database couldn't be read.
    func place(for request: PlaceRequest) async throws(PlaceStoreError) -> RankedPage

    /// Every category with its number of places, most frequent first, then by name.
    ///
    /// - Throws: why the database couldn't be read.
    func categories() async throws(PlaceStoreError) -> CategoryCounts

    /// Waits until the store is as fast as it gets, or is known to be unreachable.
    func warmUp() async

    /// Whether the store could be read now.
    func checkHealth() async -> StoreHealth

    /// Adds the store's own metrics, such as `DatabaseMetrics`; those of its own loop only.
    func collectMetrics(into snapshot: inout MetricsSnapshot)

    /// Releases what the store holds; to be awaited before its loop stops.
    func close() async
}

extension PlaceStore {
    /// Nothing to wait for.
    public func warmUp() async {}

    /// Nothing to add.
    public func collectMetrics(into snapshot: inout MetricsSnapshot) {}
}

/// What a store knows about its own state.
public enum StoreHealth: Hashable, Sendable {
    /// It can't be reached; `reason` is for the log, never for a client.
    case unreachable(reason: String)
    /// It responds, and these migrations, which this binary relies on, are missing.
    case reachable(missingMigrations: [String])
    /// It responds, and was made by these migrations, which this binary's replace: it can't be used.
    case replaced(migrations: [String])
    /// It responds, and these migrations of a newer release say that this binary is too old for them.
    case outdated(byMigrations: [String])
}

/// Why a store couldn't be read. A client learns the case, and no more.
public enum PlaceStoreError: Error, Hashable, Sendable {
    /// The database can't be reached; `reason` is for the log.
    case unavailable(reason: String)
    /// No connection became free in time.
    case busy
    /// The query took longer than it may.
    case timeout
    /// The client has gone, and its query was cancelled.
    case cancelled
    /// The store failed; `reason` is for the log, never for a client.
    case failed(reason: String)
}

/// The places of one response, as a store returns them and a handler writes them.
public struct RankedPage {
    /// The places, in order.
    public let places: any PlaceSource
    /// Where the next page begins; nil where there is none.
    public let next: PagePosition?
    /// The dataset that all of the places were read from, in the same snapshot; nil where it isn't known.
    public let datasetID: DatasetID?
    /// How long the database took; nil where there is none.
    public var databaseDuration: Duration?

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

/// Places whose fields a writer reads one place at a time, without a value being made of each first.
public protocol PlaceSource {
    /// How many there are.
    var count: Int { get }

    /// Passes the fields of a place to a closure; `index` is below `count`.
    ///
    /// - Throws: `failed` where a stored place can't be read.
    func withFields(at index: Int, _ body: (PlaceFields) -> Void) throws(PlaceStoreError)
}

extension PlaceSource {
    /// The places as values of their own.
    ///
    /// - Throws: what `withFields(at:_:)` throws.
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
    /// Passes the fields of an element; never throws.
    public func withFields(at index: Int, _ body: (PlaceFields) -> Void) throws(PlaceStoreError) {
        self[index].withFields(body)
    }
}

/// Every category with its number of places, as a store has counted them.
public struct CategoryCounts: Hashable, Sendable {
    /// The categories, most frequent first, then by name.
    public let categories: [CategoryCount]
    /// The dataset that was counted; nil where it isn't known.
    public let datasetID: DatasetID?
    /// How long the database took; nil for counts from memory.
    public let databaseDuration: Duration?

    /// Sorts the categories, which may come in any order.
    public init(
        categories: [CategoryCount], datasetID: DatasetID? = nil, databaseDuration: Duration? = nil
    ) {
        self.categories = categories.sorted { ($1.count, $0.name) < ($0.count, $1.name) }
        self.datasetID = datasetID
        self.databaseDuration = databaseDuration
    }
}

/// Identifies a dataset: while it is the same, so are all places. Random, so that no id ever comes back.
public struct DatasetID: Hashable, Sendable {
    /// The first 8 of its 16 bytes.
    public let high: UInt64
    /// The last 8 bytes.
    public let low: UInt64

    /// Makes an id of its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The id in 32 hexadecimal digits.
    var hexadecimal: String {
        [high, low].map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        .joined()
    }
}
