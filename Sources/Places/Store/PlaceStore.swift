import EventLoop
import Foundation
import PointsOfInterestAPI
import Telemetry

/// A value that a store returns: mostly at once if the places are in memory, otherwise once the database has responded.
public typealias Stored<Value> = NowOrLater<Value, PlaceStoreError>

/// Where the service's places are kept.
///
/// A store belongs to one loop and is used on its thread only. Every store returns exactly what a scan over all places
/// would, in the order of `Ranking`.
public protocol PlaceStore: AnyObject {
    /// The dataset that a page would most likely come from if it were read now. The store doesn't ask the database for
    /// it; nil if it isn't known.
    var currentDatasetID: DatasetID? { get }

    /// The names that requests may filter by. The store doesn't ask the database for them; nil if they aren't known.
    var vocabulary: FilterVocabulary? { get }

    /// The names that requests may filter by now, read if necessary. Call it if `vocabulary` lacks a name.
    ///
    /// - Throws: why the database couldn't be read.
    func currentVocabulary() throws(PlaceStoreError) -> Stored<FilterVocabulary>

    /// How many seconds ago the data that are served now were last known to be the newest; nil while they count as the
    /// newest.
    var staleSeconds: Int? { get }

    /// The page of places that a request asks for, nearest first or by relevance. Those with some ids are all on one page; without a centre
    /// they are in the order of their ids.
    ///
    /// - Parameter client: who sent the request. It matters only if the page has to be waited for: a client that asks
    ///   for many costly pages waits behind its own ones.
    /// - Throws: `indexRequired` if places are ordered by relevance or filtered by properties and aren't in memory, or another
    ///   reason why they couldn't be read.
    func places(
        for request: NearbyPlacesRequest, from client: @autoclosure () -> IPAddress
    ) throws(PlaceStoreError) -> Stored<RankedPage>

    /// The matching places of each cell that a request's box touches. `client` is used as in `places`.
    ///
    /// - Throws: `indexRequired` if the places aren't in memory, or another reason why they couldn't be counted.
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

    /// Drops the last counts, so that the next request counts the places again. Call it if these counts are older than
    /// what was served before.
    func forgetCounts()

    /// Waits until the store is as fast as it gets, or is known to be unreachable.
    func warmUp() async

    /// Whether the store could be read now.
    func checkHealth() async -> StoreHealth

    /// Adds the store's own metrics, such as `DatabaseMetrics`, for its own loop only.
    func collectMetrics(into snapshot: inout MetricsSnapshot)

    /// Releases what the store holds; to be awaited before its loop stops.
    func close() async
}

extension PlaceStore {
    /// Nil, by default: each read returns the newest data.
    public var staleSeconds: Int? { nil }

    /// One place, which is found as several are; an empty page where there is no such place.
    ///
    /// - Throws: why the database couldn't be read.
    package func place(for request: PlaceRequest) throws(PlaceStoreError) -> Stored<RankedPage> {
        var byID = NearbyPlacesRequest(ids: [request.id], center: request.center)
        byID.languages = request.languages
        return try places(for: byID, from: .unknown)
    }

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

/// The state of a store.
public enum StoreHealth: Hashable, Sendable {
    /// It can't be reached; `reason` is for the log, never for a client.
    case unreachable(reason: String)
    /// It responds, but its places are still being read into memory, and the process isn't ready without them.
    case loading
    /// It responds. These migrations, which this binary relies on, are missing.
    case reachable(missingMigrations: [String])
}

/// Why a store couldn't be read. A client learns only the case.
public enum PlaceStoreError: Error, Hashable, Sendable {
    /// The database can't be reached; `reason` is for the log.
    case unavailable(reason: String)
    /// No connection became free in time.
    case busy
    /// Too many searches wait, of this client or of all.
    case overloaded
    /// The request's time, or that of a query, was up.
    case timeout(Awaited)
    /// Counting places by cells, ordering them by relevance and filtering them by properties needs places in memory, and there are
    /// none.
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
    /// Where the page ends; nil if no other page follows.
    public let end: PagePosition?
    /// The id of the dataset that all of the places were read from, in the same snapshot; nil where it isn't known.
    public package(set) var datasetID: DatasetID?
    /// The version of that dataset, if it may be older than the places in memory; nil if it can't be older, or isn't
    /// known.
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
    /// The number of places, mean position and box of each cluster, in the order of the cells; none is empty.
    package let sums: [ClusterSum]
    /// The places of those clusters that have a single place, in the same order.
    package let places: any PlaceSource
    /// The dataset whose places were counted; nil if it isn't known.
    public let datasetID: DatasetID?

    /// Makes a page.
    package init(sums: [ClusterSum], places: any PlaceSource, datasetID: DatasetID?) {
        self.sums = sums
        self.places = places
        self.datasetID = datasetID
    }
}

/// The places of one response, which can write themselves.
///
/// A store has them as rows, as records or as values. Each of these forms writes its places directly, so that no place
/// has to become a value first.
package protocol PlaceSource {
    /// How many there are.
    var count: Int { get }

    /// About how many bytes their JSON takes, so that memory for a response is allocated once. A little too many is better
    /// than too few.
    var expectedBytes: Int { get }

    /// Writes a place; `index` is below `count`.
    ///
    /// - Throws: `failed` where a stored place can't be read.
    func write(_ index: Int, as style: PlaceStyle, to writer: inout JSONWriter) throws(PlaceStoreError)

    /// Writes all of them, one after the other.
    ///
    /// - Throws: `failed` where a stored place can't be read.
    func writeAll(as style: PlaceStyle, to writer: inout JSONWriter) throws(PlaceStoreError)
}

extension PlaceSource {
    /// 448 bytes a place.
    package var expectedBytes: Int { 448 * count }

    /// Writes each of them.
    package func writeAll(as style: PlaceStyle, to writer: inout JSONWriter) throws(PlaceStoreError) {
        for index in 0..<count { try write(index, as: style, to: &writer) }
    }

    /// The places as values of their own, read from their JSON, with their names in some languages where they have any.
    ///
    /// - Throws: what `write` throws, and `DecodingError` for what isn't a place's JSON.
    package func copied(languages: [String] = []) throws -> [PointOfInterest] {
        var writer = JSONWriter(capacity: expectedBytes)
        try PlaceStyle(.json, properties: .all, languages: languages).write(self, to: &writer)
        return try JSONDecoder().decode([PointOfInterest].self, from: Data(writer.bytes))
    }
}

extension [PointOfInterest]: PlaceSource {
    package func write(
        _ index: Int, as style: PlaceStyle, to writer: inout JSONWriter
    ) throws(PlaceStoreError) {
        self[index].withFields { style.write($0, to: &writer) }
    }
}

/// What a store counts all places by: categories or source datasets.
public protocol DatasetCount: Hashable, Sendable {
    /// Whether a response lists `one` before `other`.
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

/// The counts of all places of a dataset.
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

/// Identifies a dataset: as long as it is the same, all places are the same. It is random, so that no id is used twice.
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

/// How places are written: as the contract's JSON, or as GeoJSON (RFC 7946).
package enum PlacesForm: Int, CaseIterable {
    case json
    case geoJSON
}

/// How the places of a response are written: their form, and what of them beyond the members that all places have.
package struct PlaceStyle {
    let form: PlacesForm
    let selection: PlaceSelection?

    /// Makes a style.
    package init(_ form: PlacesForm, properties: PropertySelection = .none, languages: [String] = []) {
        self.form = form
        selection = PlaceSelection(properties, languages: languages)
    }

    /// Makes the style that a request asks for.
    @inline(__always)
    package init(_ form: PlacesForm, _ content: borrowing PlaceContent) {
        self.form = form
        selection = PlaceSelection(content)
    }

    /// Writes the body of a response with all of these places.
    ///
    /// - Throws: `failed` where a stored place can't be read.
    package func write(_ places: some PlaceSource, to writer: inout JSONWriter) throws(PlaceStoreError) {
        if form == .geoJSON {
            writer.beginObject()
            writer.member("type", "FeatureCollection")
            writer.name("features")
        }
        writer.beginArray()
        try places.writeAll(as: self, to: &writer)
        writer.endArray()
        if form == .geoJSON { writer.endObject() }
    }

    /// Writes a place from its fields.
    package func write(_ place: PlaceFields, to writer: inout JSONWriter) {
        if selection != nil, let record = place.record {
            return record.withUnsafeBytes { write(record: $0, distance: place.distance, to: &writer) }
        }
        switch form {
        case .json: writer.value(place)
        case .geoJSON: writer.feature(place)
        }
    }

    /// Writes a place from its record (see `PlaceRecord`), at a distance in metres.
    @inline(__always)
    package func write(record: UnsafeRawBufferPointer, distance: Double?, to writer: inout JSONWriter) {
        switch form {
        case .json: writer.value(record: record, distance: distance, selection: selection)
        case .geoJSON: writer.feature(record: record, distance: distance, selection: selection)
        }
    }

    /// Writes a place from its record with the name that it was found by, see `JSONWriter`.
    package func write(
        record: UnsafeRawBufferPointer, distance: Double?, matchedNames: [Int], to writer: inout JSONWriter
    ) {
        writer.value(
            record: record, distance: distance, selection: selection, matchedNames: matchedNames,
            isFeature: form == .geoJSON)
    }

    /// Writes a place whose texts are joined in one value (see `PlaceRecord.record`), at a distance in metres.
    ///
    /// - Returns: false where a mark isn't where it belongs.
    package func write(
        id: Int, latitude: Double, longitude: Double, joinedTexts texts: UnsafeRawBufferPointer,
        distance: Double?, to writer: inout JSONWriter
    ) -> Bool {
        if form == .json, selection == nil {
            return writer.value(
                id: id, latitude: latitude, longitude: longitude, joinedTexts: texts, distance: distance)
        }
        guard
            let record = PlaceRecord.record(
                id: id, latitude: latitude, longitude: longitude, joinedTexts: texts)
        else { return false }
        record.withUnsafeBytes { write(record: $0, distance: distance, to: &writer) }
        return true
    }
}
