import Geodesy
import PointsOfInterestServerAPI
import PointsOfInterestAPI
import SpatialIndex

/// The places of a page that was found in memory.
///
/// It is no larger than three words, so that a `RankedPage` can hold it without allocating memory.
struct IndexedPlaces: PlaceSource {
    private let snapshot: IndexSnapshot
    private let placed: [IndexPage.Placed]
    private let showsDistances: Bool

    init(_ placed: [IndexPage.Placed], in snapshot: IndexSnapshot, showsDistances: Bool) {
        self.snapshot = snapshot
        self.placed = placed
        self.showsDistances = showsDistances
    }

    var count: Int { placed.count }

    func write(_ index: Int, as style: PlaceStyle, to writer: inout JSONWriter) {
        let (place, records) = (placed[index], snapshot.records)
        style.write(
            records[place.reference], distance: showsDistances ? place.distanceMeters : nil,
            snapshot.additions(to: place.reference, style), to: &writer)
    }

    func writeAll(as style: PlaceStyle, to writer: inout JSONWriter) {
        // Most requests select nothing.
        guard style.form == .json, style.selection == nil else {
            for index in placed.indices { write(index, as: style, to: &writer) }
            return
        }
        let records = snapshot.records
        for place in placed {
            records[place.reference]
                .writeItem(distance: showsDistances ? place.distanceMeters : nil, to: &writer)
        }
    }
}

/// The places with some ids, of which some were merged into these.
struct MergedPlaces: PlaceSource {
    private let snapshot: IndexSnapshot
    private let placed: [IndexPage.Placed]
    private let showsDistances: Bool
    private let merged: [Int64: [Int64]]

    /// - Parameter merged: the ids that were asked for and merged, by those of the places that they were merged into.
    init(
        _ placed: [IndexPage.Placed], in snapshot: IndexSnapshot, showsDistances: Bool,
        merged: [Int64: [Int64]]
    ) {
        self.snapshot = snapshot
        self.placed = placed
        self.showsDistances = showsDistances
        self.merged = merged
    }

    var count: Int { placed.count }

    func write(_ index: Int, as style: PlaceStyle, to writer: inout JSONWriter) {
        let place = placed[index]
        var additions = snapshot.additions(to: place.reference, style)
        additions.mergedFrom = merged[place.id] ?? []
        style.write(
            snapshot.records[place.reference], distance: showsDistances ? place.distanceMeters : nil,
            additions, to: &writer)
    }
}

/// The places of a page that was found by relevance.
struct RelevantPlaces: PlaceSource {
    private let snapshot: IndexSnapshot
    private let found: [RelevancePage.Found]
    private let showsDistances: Bool
    /// The words of the search text, as they are written in JSON; empty where places have all of them.
    private let words: [[UInt8]]

    init(
        _ found: [RelevancePage.Found], in snapshot: IndexSnapshot, searchText: String?, showsDistances: Bool
    ) {
        self.snapshot = snapshot
        self.found = found
        self.showsDistances = showsDistances
        words = RelevancePage.leftOutWords(of: found, searchText)
    }

    var count: Int { found.count }

    func write(_ index: Int, as style: PlaceStyle, to writer: inout JSONWriter) {
        let place = found[index]
        let additions = PlaceAdditions(
            place, words, categoryLabel: snapshot.additions(to: place.placed.reference, style).categoryLabel)
        style.write(
            snapshot.records[place.placed.reference],
            distance: showsDistances ? place.placed.distanceMeters : nil, additions, to: &writer)
    }
}

extension IndexSnapshot {
    /// What the responses in a style have of a place whatever it was found by.
    fileprivate func additions(to place: IndexPlaceReference, _ style: PlaceStyle) -> PlaceAdditions {
        PlaceAdditions(
            categoryLabel: style.labelLanguages.flatMap { categoryLabel(of: place, in: $0) })
    }
}

extension RankedPage {
    /// The page of a search in memory.
    init(_ page: IndexPage, of request: borrowing NearbyPlacesRequest, in snapshot: IndexSnapshot) {
        // A box without a centre is ordered around its middle, and shows no distances.
        let places = IndexedPlaces(page.placed, in: snapshot, showsDistances: request.center != nil)
        self.init(places: places, end: page.end, datasetID: snapshot.datasetID)
    }

    init(_ page: RelevancePage, of request: borrowing NearbyPlacesRequest, in snapshot: IndexSnapshot) {
        let places = RelevantPlaces(
            page.found, in: snapshot, searchText: request.searchText, showsDistances: request.center != nil)
        self.init(places: places, end: page.end, datasetID: snapshot.datasetID)
    }

    /// The places with the request's ids, and those that others were merged into; nil where some aren't there and it isn't known
    /// what became of them.
    init?(byIDs request: NearbyPlacesRequest, in snapshot: IndexSnapshot, _ former: FormerIDs? = nil) {
        let ids = Set(request.ids)
        var placed = ids.compactMap { snapshot.placed(Int64($0), from: request.center) }
        var merged: [Int64: [Int64]] = [:]
        if placed.count < ids.count {
            guard let former else { return nil }
            for id in Set(ids.map(Int64.init)).subtracting(placed.map(\.id)).sorted() {
                guard case .merged(let survivor) = former.place(id, in: snapshot) else { continue }
                merged[survivor, default: []].append(id)
            }
            for id in merged.keys where !ids.contains(Int(id)) {
                if let place = snapshot.placed(id, from: request.center) { placed.append(place) }
            }
        }
        placed.sort { ($0.distanceMeters, $0.id) < ($1.distanceMeters, $1.id) }
        let showsDistances = request.center != nil
        let places: any PlaceSource =
            merged.isEmpty
            ? IndexedPlaces(placed, in: snapshot, showsDistances: showsDistances)
            : MergedPlaces(placed, in: snapshot, showsDistances: showsDistances, merged: merged)
        self.init(places: places, datasetID: snapshot.datasetID)
    }
}

extension ClusterPage {
    /// The clusters of a count in memory.
    init(_ clusters: [IndexCluster], in snapshot: IndexSnapshot) {
        let placed = clusters.compactMap(\.place).map {
            IndexPage.Placed(reference: $0, id: 0, distanceMeters: 0)
        }
        let places = IndexedPlaces(placed, in: snapshot, showsDistances: false)
        self.init(sums: clusters.map(\.sum), places: places, datasetID: snapshot.datasetID)
    }
}

extension IndexSnapshot {
    package var datasetID: DatasetID { DatasetID(high: version.datasetIDHigh, low: version.datasetIDLow) }

    /// The sources of its places, each with its number of places.
    private var usedSources: [(source: IndexSource, count: Int)] {
        zip(vocabulary.sources, sourceCounts.dropFirst()).filter { $0.1 > 0 }
            .map { (source: $0.0, count: $0.1) }
    }

    /// The names that a request may filter by.
    func filterVocabulary(_ facts: ServedIndex.Facts) -> FilterVocabulary {
        let used = usedSources.lazy.map(\.source.dataset)
        return FilterVocabulary(
            categories: facts.categories, datasets: NameVocabulary(used + facts.datasets.keys.map(\.text)),
            properties: vocabulary.properties)
    }

    /// The datasets that its places came from. A dataset of which nothing else is known has the licenses of its places,
    /// joined by `AND`.
    func attributions(_ datasets: [ExactName: DatasetFacts]) -> [Attribution] {
        var (places, licenses): ([ExactName: Int], [ExactName: [String]]) = ([:], [:])
        for (source, count) in usedSources {
            let name = ExactName(source.dataset)
            places[name, default: 0] += count
            licenses[name, default: []].append(source.license)
        }
        return places.map { name, count in
            let facts = datasets[name]
            let license = licenses[name, default: []].sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            return Attribution(
                dataset: name.text, license: facts?.license ?? license.joined(separator: " AND "),
                credit: facts?.credit,
                url: facts?.url, places: count)
        }
    }
}
