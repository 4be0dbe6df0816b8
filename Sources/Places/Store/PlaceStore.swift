import EventLoop
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import SpatialIndex
import Telemetry

/// A value that a store returns: mostly at once if the places are in memory, otherwise once the database has responded.
package typealias Stored<Value> = NowOrLater<Value, PlaceStoreError>

/// Where the service's places are kept.
///
/// A store belongs to one loop and is used on its thread only. Every store returns exactly what a scan over all places
/// would, in the order of `Ranking`.
package protocol PlaceStore: AnyObject {
    /// The dataset that a page would most likely come from if it were read now. The store doesn't ask the database for
    /// it; nil if it isn't known.
    var currentDatasetID: DatasetID? { get }

    /// The names that requests may filter by. The store doesn't ask the database for them; nil if they aren't known.
    var vocabulary: FilterVocabulary? { get }

    /// The names that requests may filter by now, read if necessary. Call it if `vocabulary` lacks a name.
    func currentVocabulary() throws(PlaceStoreError) -> Stored<FilterVocabulary>

    /// How many seconds ago the data that are served now were last known to be the newest; nil while they count as the
    /// newest.
    var staleSeconds: Int? { get }

    /// The page of places that a request asks for, nearest first or by relevance. Those with some ids are all on one page; without a centre
    /// they are in the order of their ids. In place of one that was merged into another one, that one is there.
    ///
    /// - Parameter client: who sent the request. It matters only if the page has to be waited for: a client that asks
    ///   for many costly pages waits behind its own ones.
    /// - Throws: `indexRequired` for what the store doesn't find, or another reason why places couldn't be read.
    func places(
        for request: NearbyPlacesRequest, from client: @autoclosure () -> IPAddress
    ) throws(PlaceStoreError) -> Stored<RankedPage>

    /// The place with an id; a page without any where there is no such place, which says what became of it.
    ///
    /// - Throws: as `places`.
    func place(for request: PlaceRequest) throws(PlaceStoreError) -> Stored<RankedPage>

    /// The matching places of each cell that a request's box touches. `client` is used as in `places`.
    ///
    /// - Throws: `indexRequired` where the store doesn't count them, or another reason why they couldn't be counted.
    func clusters(
        for request: ClustersRequest, from client: @autoclosure () -> IPAddress
    ) throws(PlaceStoreError) -> Stored<ClusterPage>

    /// The sums of the places that match a filter, or the places of some buckets. `client` is used as in `places`.
    ///
    /// - Parameters:
    ///   - maximumCount: with more places, the response has none of it.
    ///   - compress: what makes the body shorter, where the client prefers that. A long one isn't compressed on the loop.
    /// - Throws: as `clusters`.
    func digest(
        for request: DigestRequest, maximumCount: Int, compressedBy compress: DigestPage.Compression?,
        from client: @autoclosure () -> IPAddress
    ) throws(PlaceStoreError) -> Stored<DigestPage>

    /// Every category with its number of places and the words for it, most frequent first, then by name.
    func categories() throws(PlaceStoreError) -> Stored<DatasetCounts<CategoryCount>>

    /// Every source dataset that has places, by its name.
    func attributions() throws(PlaceStoreError) -> Stored<DatasetCounts<Attribution>>

    /// Waits until responses have what a revision of the dataset has. False where that takes longer than `time`.
    func waitUntilServed(_ revision: Int64, atMost time: Duration) async -> Bool

    /// Whether the store could be read now; nil where that isn't known yet.
    func checkHealth() async -> StoreHealth?

    /// Adds the store's own metrics, such as `DatabaseMetrics`, for its own loop only.
    func collectMetrics(into snapshot: inout MetricsSnapshot)

    /// Releases what the store holds; to be awaited before its loop stops.
    func close() async
}

extension PlaceStore {
    /// By default, sums aren't kept, and are refused.
    package func digest(
        for request: DigestRequest, maximumCount: Int, compressedBy compress: DigestPage.Compression?,
        from client: @autoclosure () -> IPAddress
    ) throws(PlaceStoreError) -> Stored<DigestPage> {
        throw .indexRequired
    }

    /// Nil, by default: each read returns the newest data.
    package var staleSeconds: Int? { nil }

    /// True, by default: each read returns the newest data.
    package func waitUntilServed(_ revision: Int64, atMost time: Duration) async -> Bool { true }

    /// One place, found as several are, of a store that knows no removed places.
    package func place(for request: PlaceRequest) throws(PlaceStoreError) -> Stored<RankedPage> {
        try places(for: NearbyPlacesRequest(request), from: .unknown)
    }

    package func places(for request: NearbyPlacesRequest) async throws(PlaceStoreError) -> RankedPage {
        try await places(for: request, from: .unknown).value()
    }

    /// The clusters for a client that isn't known.
    package func clusters(for request: ClustersRequest) async throws(PlaceStoreError) -> ClusterPage {
        try await clusters(for: request, from: .unknown).value()
    }

    /// Nothing to add.
    package func collectMetrics(into snapshot: inout MetricsSnapshot) {}
}

package enum StoreHealth: Hashable, Sendable {
    /// It can't be reached; `reason` is for the log, never for a client.
    case unreachable(reason: String)
    /// It responds, but its places are still being read into memory, and the process isn't ready without them.
    case loading
    /// It responds, but its places take more memory than they may, and the process isn't ready without them.
    case tooLarge
    /// It can't be reached, for a reason that is nil while that is being tried, and places are served all the same.
    case kept(reason: String?)
    /// It can't be reached, and the places in memory are too old to be served.
    case stale(reason: String)
    /// It responds. These migrations, which this binary relies on, are missing.
    case reachable(missingMigrations: [String])

    /// How long a query that finds out may take.
    package static let maximumQueryTime = Duration.seconds(2)
}

/// Why a store couldn't be read. A client learns only the case.
package enum PlaceStoreError: Error, Hashable, Sendable {
    /// The database can't be reached; `reason` is for the log.
    case unavailable(reason: String)
    /// No connection became free in time.
    case busy
    /// Too many searches wait, of this client or of all.
    case overloaded
    /// The request's time, or that of a query, was up.
    case timeout(Awaited)
    /// The places aren't in memory yet, or weren't compared with the database for too long.
    case notReady
    /// Only a process that has its places in memory answers such a request.
    case indexRequired
    case cancelled
    /// The store failed; `reason` is for the log, never for a client.
    case failed(reason: String)

    /// What a request waited for when its time was up, as the log names it.
    package enum Awaited: String, Hashable, Sendable, CaseIterable {
        case connection
        case query
        case turn
        case search
    }
}

/// The places of one response, as a store returns them and a handler writes them.
package struct RankedPage {
    /// The places, in order.
    package let places: any PlaceSource
    /// Where the page ends; nil if no other page follows.
    package let end: PagePosition?
    /// The id of the dataset that all of the places were read from, in the same snapshot; nil where it isn't known.
    package let datasetID: DatasetID?
    /// How long the database took; nil where there is none.
    package var databaseDuration: Duration?

    package init(
        places: any PlaceSource, end: PagePosition? = nil, datasetID: DatasetID? = nil,
        databaseDuration: Duration? = nil
    ) {
        self.places = places
        self.end = end
        self.datasetID = datasetID
        self.databaseDuration = databaseDuration
    }
}

/// The clusters of one response, as a store returns them and a handler writes them.
package struct ClusterPage {
    /// The number of places, mean position and box of each cluster, in the order of the cells; none is empty.
    package let sums: [ClusterSum]
    /// The places of those clusters that have a single place, in the same order.
    package let places: any PlaceSource
    /// The dataset whose places were counted; nil if it isn't known.
    package let datasetID: DatasetID?

    package init(sums: [ClusterSum], places: any PlaceSource, datasetID: DatasetID?) {
        self.sums = sums
        self.places = places
        self.datasetID = datasetID
    }
}

/// The places of one response, which can write themselves.
/// A store has them as records, or makes these of rows.
package protocol PlaceSource {
    /// How many there are.
    var count: Int { get }

    /// What became of the place that was asked for by its id, where it isn't there; nil where there never was one.
    var former: FormerPlace? { get }

    /// About how many bytes their JSON takes, so that memory for a response is allocated once. A little too many is better
    /// than too few.
    var expectedBytes: Int { get }

    /// Writes a place; `index` is below `count`.
    func write(_ index: Int, as style: PlaceStyle, to writer: inout JSONWriter) throws(PlaceStoreError)

    /// Writes all of them, one after the other.
    func writeAll(as style: PlaceStyle, to writer: inout JSONWriter) throws(PlaceStoreError)
}

extension PlaceSource {
    /// Nil.
    package var former: FormerPlace? { nil }

    /// 448 bytes a place.
    package var expectedBytes: Int { 448 * count }

    package func writeAll(as style: PlaceStyle, to writer: inout JSONWriter) throws(PlaceStoreError) {
        for index in 0..<count { try write(index, as: style, to: &writer) }
    }
}

extension NearbyPlacesRequest {
    /// A request for one place as for several.
    package init(_ request: PlaceRequest) {
        self.init(ids: [request.id], center: request.center)
        languages = request.languages
    }
}

/// The places of a page that has none.
package struct NoPlaces: PlaceSource {
    package var former: FormerPlace?

    package init(former: FormerPlace? = nil) { self.former = former }

    package var count: Int { 0 }

    package func write(_ index: Int, as style: PlaceStyle, to writer: inout JSONWriter) {}
}

extension DatasetCounts<CategoryCount> {
    /// The categories of a request, with their labels.
    package func items(of request: CategoriesRequest) -> [CategoryCount] { items.items(of: request, labels) }
}

/// What a store counts all places by: categories or source datasets.
package protocol DatasetCount: Hashable, Sendable {
    /// Whether a response lists `one` before `other`.
    static func isOrdered(_ one: Self, before other: Self) -> Bool
}

extension CategoryCount: DatasetCount {}

extension Attribution: DatasetCount {
    /// By name, in the order of its UTF-8.
    package static func isOrdered(_ one: Self, before other: Self) -> Bool {
        one.dataset.utf8.lexicographicallyPrecedes(other.dataset.utf8)
    }
}

package struct DatasetCounts<Item: DatasetCount>: Hashable, Sendable {
    /// The counts, in their order.
    package let items: [Item]
    /// The id of the dataset that was counted, as it is served; nil where it isn't known.
    package let datasetID: DatasetID?
    /// How long the database took; nil for counts from memory.
    package let databaseDuration: Duration?
    /// The words for categories, where these are counted.
    package let labels: CategoryLabels

    /// Sorts the items, which may come in any order.
    package init(
        _ items: [Item], labels: CategoryLabels = .none, datasetID: DatasetID? = nil,
        databaseDuration: Duration? = nil
    ) {
        self.items = items.sorted(by: Item.isOrdered)
        self.labels = labels
        self.datasetID = datasetID
        self.databaseDuration = databaseDuration
    }
}

/// Identifies a dataset: as long as it is the same, all places are the same. It is random, so that no id is used twice.
package struct DatasetID: Hashable, Sendable {
    /// The first 8 of its 16 bytes.
    package let high: UInt64
    /// The last 8 bytes.
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
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
    package let form: PlacesForm
    package let selection: PlaceSelection?

    /// The languages that categories' labels are wanted in; nil where none are.
    package var labelLanguages: LanguageLookup? {
        guard let languages = selection?.languages, !languages.tags.isEmpty else { return nil }
        return languages
    }

    package init(_ form: PlacesForm, properties: PropertySelection = .none, languages: [String] = []) {
        self.form = form
        selection = PlaceSelection(properties, languages: languages)
    }

    /// The style of a place's details: with all of its properties and, in JSON, its version and when it was changed last.
    package init(ofDetails form: PlacesForm, languages: [String]) {
        self.form = form
        selection = PlaceSelection(.all, languages: languages, showsLastChange: true)
    }

    @inline(__always)
    package init(_ form: PlacesForm, _ content: borrowing PlaceContent) {
        self.form = form
        selection = PlaceSelection(content)
    }

    /// Writes the body of a response with all of these places.
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

    /// Writes a place, at a distance in metres.
    @inline(__always)
    package func write(_ record: PlaceRecord, distance: Double?, to writer: inout JSONWriter) {
        switch form {
        case .json: record.writeItem(distance: distance, selection: selection, to: &writer)
        case .geoJSON: record.writeFeature(distance: distance, selection: selection, to: &writer)
        }
    }

    /// Writes a place with what only this response has of it.
    package func write(
        _ record: PlaceRecord, distance: Double?, _ additions: borrowing PlaceAdditions,
        to writer: inout JSONWriter
    ) {
        record.write(
            asFeature: form == .geoJSON, distance: distance, selection: selection, additions, to: &writer)
    }

    /// Writes a place that isn't in the index.
    package func write(
        _ place: PlaceFields, distance: Double?, _ additions: PlaceAdditions = PlaceAdditions(),
        to writer: inout JSONWriter
    ) throws(PlaceStoreError) {
        var record: [UInt8] = []
        guard PlaceRecord.encode(place, into: &record) else {
            throw .failed(reason: "place \(place.id) can't be written")
        }
        record.withRecord { write($0, distance: distance, additions, to: &writer) }
    }
}
