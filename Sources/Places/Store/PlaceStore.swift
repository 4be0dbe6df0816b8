import EventLoop
import Foundation
import PointsOfInterestAPI
import Telemetry

/// What a store has: mostly at once where the places are in memory, else once the database has responded.
public typealias Stored<Value> = NowOrLater<Value, PlaceStoreError>

/// Where the service's places are kept.
///
/// A store belongs to one loop and is used on its thread only. Every store returns exactly what a scan over all places
/// would, in the order of `Ranking`.
public protocol PlaceStore: AnyObject {
    /// The dataset that a page read now would most likely come from, known without asking the database; nil where it
    /// isn't known.
    var currentDatasetID: DatasetID? { get }

    /// The names that requests may filter by, known without asking the database; nil where they aren't.
    var vocabulary: FilterVocabulary? { get }

    /// The names that requests may filter by now: for a name that `vocabulary` doesn't have.
    ///
    /// - Throws: why the database couldn't be read.
    func currentVocabulary() throws(PlaceStoreError) -> Stored<FilterVocabulary>

    /// How many seconds ago the data that are served now were last known to be the newest; nil while they count as such.
    var staleSeconds: Int? { get }

    /// The page of places that a request asks for, nearest first.
    ///
    /// - Parameter client: who asks, where the page has to be waited for: clients that ask for costly pages wait for their own
    ///   first.
    /// - Throws: why the places couldn't be read.
    func places(
        for request: NearbyPlacesRequest, from client: @autoclosure () -> IPAddress
    ) throws(PlaceStoreError) -> Stored<RankedPage>

    /// One place; an empty page where there is no such place.
    ///
    /// - Throws: why the database couldn't be read.
    func place(for request: PlaceRequest) throws(PlaceStoreError) -> Stored<RankedPage>

    /// The matching places of each cell that a request's box touches. As `places`.
    ///
    /// - Throws: `indexRequired` where the places aren't in memory; why they couldn't be counted.
    func clusters(
        for request: ClustersRequest, from client: @autoclosure () -> IPAddress
    ) throws(PlaceStoreError) -> Stored<ClusterPage>

    /// Every category with its number of places, most frequent first, then by name.
    ///
    /// - Throws: why the database couldn't be read.
    func categories() throws(PlaceStoreError) -> Stored<DatasetCounts<CategoryCount>>

    /// Every source dataset that has places, by its name.
    ///
    /// - Throws: why the database couldn't be read.
    func attributions() throws(PlaceStoreError) -> Stored<DatasetCounts<Attribution>>

    /// Has the places counted again for the next request: the last counts are older than what was served before.
    func forgetCounts()

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
    /// Nil: what is read is new.
    public var staleSeconds: Int? { nil }

    /// The page of places for a client that isn't known.
    package func places(for request: NearbyPlacesRequest) async throws(PlaceStoreError) -> RankedPage {
        try await places(for: request, from: .unknown).value()
    }

    /// The clusters for a client that isn't known.
    package func clusters(for request: ClustersRequest) async throws(PlaceStoreError) -> ClusterPage {
        try await clusters(for: request, from: .unknown).value()
    }

    /// Nothing to forget: places are counted for each request.
    public func forgetCounts() {}

    /// Nothing to wait for.
    public func warmUp() async {}

    /// Nothing to add.
    public func collectMetrics(into snapshot: inout MetricsSnapshot) {}
}

/// What a store knows about its own state.
public enum StoreHealth: Hashable, Sendable {
    /// It can't be reached; `reason` is for the log, never for a client.
    case unreachable(reason: String)
    /// It responds, and its places are being read into memory, without which the process isn't ready.
    case loading
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
    /// Too many searches wait, of this client or of all.
    case overloaded
    /// The request's time, or that of a query, was up.
    case timeout(Awaited)
    /// Only places in memory can be counted by cells, and there are none.
    case indexRequired
    /// The client has gone, and its query was cancelled.
    case cancelled
    /// The store failed; `reason` is for the log, never for a client.
    case failed(reason: String)

    /// What a request waited for when its time was up, as the log names it.
    public enum Awaited: String, Hashable, Sendable, CaseIterable {
        /// A connection to the database.
        case connection
        /// A query of the database.
        case query
        /// The turn of a search in memory.
        case turn
        /// A search in memory.
        case search
    }
}

/// The places of one response, as a store returns them and a handler writes them.
public struct RankedPage {
    /// The places, in order.
    package let places: any PlaceSource
    /// Where the page ends; nil where no other follows.
    public let end: PagePosition?
    /// The id of the dataset that all of the places were read from, in the same snapshot; nil where it isn't known.
    public package(set) var datasetID: DatasetID?
    /// That dataset, where it may be older than the places in memory; nil where that can't be, or isn't known.
    package let version: DatasetVersion?
    /// How long the database took; nil where there is none.
    public var databaseDuration: Duration?

    /// Makes a page.
    package init(
        places: any PlaceSource, end: PagePosition? = nil, datasetID: DatasetID? = nil,
        version: DatasetVersion? = nil, databaseDuration: Duration? = nil
    ) {
        self.places = places
        self.end = end
        self.datasetID = datasetID ?? version?.datasetID
        self.version = version
        self.databaseDuration = databaseDuration
    }
}

/// The clusters of one response, as a store returns them and a handler writes them.
public struct ClusterPage {
    /// What is known of each cluster, in the order of the cells; none is empty.
    package let sums: [ClusterSum]
    /// The places of the clusters that have one each, in the same order.
    package let places: any PlaceSource
    /// The dataset that all of it was counted in; nil where it isn't known.
    public let datasetID: DatasetID?

    /// Makes a response.
    package init(sums: [ClusterSum], places: any PlaceSource, datasetID: DatasetID?) {
        self.sums = sums
        self.places = places
        self.datasetID = datasetID
    }
}

/// The places of one response, which write themselves.
///
/// A store has them as rows, as records or as values. So a response is written from where they are, without a value
/// being made of each first.
package protocol PlaceSource {
    /// How many there are.
    var count: Int { get }

    /// About how many bytes their JSON takes, so that memory for a response is allocated once. A little too many is better
    /// than too few.
    var expectedBytes: Int { get }

    /// Writes a place; `index` is below `count`.
    ///
    /// - Throws: `failed` where a stored place can't be read.
    func write(_ index: Int, as form: PlacesForm, to writer: inout JSONWriter) throws(PlaceStoreError)

    /// Writes all of them, one after the other.
    ///
    /// - Throws: `failed` where a stored place can't be read.
    func writeAll(as form: PlacesForm, to writer: inout JSONWriter) throws(PlaceStoreError)
}

extension PlaceSource {
    /// 448 bytes a place.
    package var expectedBytes: Int { 448 * count }

    /// Writes each of them.
    package func writeAll(as form: PlacesForm, to writer: inout JSONWriter) throws(PlaceStoreError) {
        for index in 0..<count { try write(index, as: form, to: &writer) }
    }

    /// The places as values of their own, read from their JSON.
    ///
    /// - Throws: what `write` throws, and `DecodingError` for what isn't a place's JSON.
    package func copied() throws -> [PointOfInterest] {
        var writer = JSONWriter(capacity: expectedBytes)
        try PlacesForm.json.write(self, to: &writer)
        return try JSONDecoder().decode([PointOfInterest].self, from: Data(writer.bytes))
    }
}

extension [PointOfInterest]: PlaceSource {
    package func write(
        _ index: Int, as form: PlacesForm, to writer: inout JSONWriter
    ) throws(PlaceStoreError) {
        self[index].withFields { form.write($0, to: &writer) }
    }
}

/// Something that a store counts all places for.
public protocol DatasetCount: Hashable, Sendable {
    /// Whether a response has this one before another.
    static func isOrdered(_ one: Self, before other: Self) -> Bool
}

extension CategoryCount: DatasetCount {
    /// Most frequent first, then by name.
    public static func isOrdered(_ one: Self, before other: Self) -> Bool {
        (other.count, one.name) < (one.count, other.name)
    }
}

extension Attribution: DatasetCount {
    /// By name, in the order of its UTF-8.
    public static func isOrdered(_ one: Self, before other: Self) -> Bool {
        one.dataset.utf8.lexicographicallyPrecedes(other.dataset.utf8)
    }
}

/// What a store has counted all places of a dataset for.
public struct DatasetCounts<Item: DatasetCount>: Hashable, Sendable {
    /// The counts, in their order.
    public let items: [Item]
    /// The dataset that was counted; nil where it isn't known.
    package let version: DatasetVersion?
    /// The id that it is served by; nil where it isn't known.
    public package(set) var datasetID: DatasetID?
    /// How long the database took; nil for counts from memory.
    public let databaseDuration: Duration?

    /// Sorts the items, which may come in any order.
    ///
    /// - Parameter datasetID: the id that the dataset is served by, where that isn't its own.
    package init(
        _ items: [Item], version: DatasetVersion? = nil, datasetID: DatasetID? = nil,
        databaseDuration: Duration? = nil
    ) {
        self.items = items.sorted(by: Item.isOrdered)
        self.version = version
        self.datasetID = datasetID ?? version?.datasetID
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
    package var hexadecimal: String {
        [high, low].map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        .joined()
    }
}
