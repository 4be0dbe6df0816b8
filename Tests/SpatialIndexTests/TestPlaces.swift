import DifficultPlaces
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Randomness
import SpatialIndex
import Testing

@testable import Geodesy

/// A place as tests know it.
struct TestPlace: Hashable {
    static let categories = ["cafe", "bar", "museum", "zoo"]
    static let words = [
        "alba", "albatros", "bar", "ba", "city", "museum", "musee", "d", "orsay", "dorsay", "muller",
        "mueller",
        "東京", "東京都庁", "ハハハヒ", "都",
    ]

    var id: Int64
    var position: Coordinate
    var category: String
    var isFeatured: Bool
    /// The words of each of its names.
    var names: [[String]]
    /// Its properties as JSON; nil where it has none.
    var properties: String?
    var operatingStatus: OperatingStatus?
    var version: Int

    init(id: Int64, at position: Coordinate, using generator: inout SeededGenerator) {
        self.id = id
        self.position = position
        // The last category is rare.
        let category = Int.random(in: 0..<64, using: &generator)
        self.category = Self.categories[category == 0 ? 3 : category % 3]
        isFeatured = Int.random(in: 0..<10, using: &generator) == 0
        version = Int(id) * 1_000_003
        names = (0..<[1, 1, 1, 2, 5].pick(using: &generator)).map { _ in
            (0..<Int.random(in: 0...3, using: &generator)).map { _ in Self.words.pick(using: &generator) }
        }
        properties = TestProperties.random(using: &generator)
        operatingStatus = [
            nil, nil, nil, nil, nil, .temporarilyClosed, .permanentlyClosed, OperatingStatus(rawValue: "x"),
        ]
        .pick(using: &generator)
    }

    var isListed: Bool { operatingStatus != .permanentlyClosed }

    /// Some have none, others share one.
    var source: IndexSource? {
        id % 5 == 0 ? nil : IndexSource(dataset: "dataset \(id % 3)", license: "license \(id % 2)")
    }
    var record: [UInt8] {
        var record: [UInt8] = []
        let name = ArraySlice("\(names)".utf8)
        let fields = PlaceFields(
            id: Int(id), name: name, category: name, latitude: position.latitude,
            longitude: position.longitude, featured: isFeatured,
            properties: properties.map { ArraySlice($0.utf8) }, operatingStatus: operatingStatus,
            version: version, updatedAtSeconds: 1_700_000_000 + Int(id))
        #expect(PlaceRecord.encode(fields, into: &record))
        return record
    }
    var foldedNames: [UInt8] {
        Array(names.map { name in name.map { " \($0)" }.joined() }.joined(separator: "\n").utf8)
    }
}

extension IndexPart {
    /// Packs places.
    static func packing(
        _ places: [TestPlace],
        _ vocabulary: IndexVocabulary = IndexVocabulary(properties: TestProperties.filterable)
    ) -> IndexPart {
        var builder = IndexPartBuilder(expecting: places.count, vocabulary: vocabulary)
        for place in places {
            guard let category = builder.category(named: place.category) else { continue }
            let source = place.source.map { builder.number(of: $0) } ?? 0
            place.foldedNames.withUnsafeBufferPointer { names in
                place.record.withUnsafeBytes { record in
                    var entry = IndexEntry(
                        id: place.id, latitude: place.position.latitude,
                        longitude: place.position.longitude, category: category,
                        isFeatured: place.isFeatured, source: source, foldedNames: names, record: record)
                    entry.isListed = place.isListed
                    builder.add(entry)
                }
            }
        }
        return builder.build()
    }
}

extension IndexVersion {
    static func revision(_ revision: Int64) -> IndexVersion {
        IndexVersion(revision: revision, datasetIDHigh: 1, datasetIDLow: 2)
    }
}

/// What is asked, in the terms of both sides.
struct TestQuery {
    var ranking: Ranking
    var box: BoundingBox?
    var categories: [String]?
    var datasets: [String]?
    var isFeatured: Bool?
    var words: [QueryWord]?
    var properties: [PropertyFilter] = []

    func query(_ vocabulary: IndexVocabulary) -> IndexQuery {
        var query = IndexQuery(ranking: ranking)
        query.box = box
        query.filter.categories = categories.map { $0.compactMap { vocabulary.number(of: $0) } }
        query.filter.sources = datasets.map { datasets in
            [false] + vocabulary.sources.map { datasets.contains($0.dataset) }
        }
        query.filter.isFeatured = isFeatured
        query.filter.words = words
        query.filter.require(properties)
        return query
    }

    func admits(_ place: TestPlace) -> Bool {
        guard place.isListed else { return false }
        if let box, !box.contains(latitude: place.position.latitude, longitude: place.position.longitude) {
            return false
        }
        if let categories, !categories.contains(place.category) { return false }
        if let datasets, !datasets.contains(place.source?.dataset ?? "") { return false }
        if let isFeatured, isFeatured != place.isFeatured { return false }
        guard properties.allSatisfy({ TestProperties.admits($0, place.properties) }) else { return false }
        guard let words else { return true }
        return !words.isEmpty
            && place.names.contains { name in words.allSatisfy { Self.begins($0, aWordOf: name) } }
    }

    private static func begins(_ query: QueryWord, aWordOf name: [String]) -> Bool {
        name.map { Array($0.utf8) }.contains { word in
            switch query {
            case .word(let beginning): word.starts(with: beginning)
            case .either(let plain, let spelledOut):
                word.starts(with: plain) || word.starts(with: spelledOut)
            case .run(let run): word.indices.contains { word[$0...].starts(with: run) }
            }
        }
    }

    /// The page that is right, by measuring every place.
    func truth(of places: some Sequence<TestPlace>) -> TruePage {
        let measured = places.filter(admits)
            .map { (Geodesic.distanceMeters(from: ranking.center, to: $0.position), $0.id) }
            .filter { $0.0 <= ranking.radiusMeters ?? .infinity }
            .filter { place in ranking.after.map { ($0.distanceMeters, $0.id) < (place.0, place.1) } ?? true }
            .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
        let page = measured.prefix(ranking.limit - 1)
        let end = page.last.map {
            PagePosition(distanceMeters: $0.0, id: $0.1, count: (ranking.after?.count ?? 0) + page.count)
        }
        let next = measured.dropFirst(page.count).first.map {
            PagePosition(distanceMeters: $0.0, id: $0.1, count: 0)
        }
        return TruePage(ids: page.map(\.1), meters: page.map(\.0), last: end, next: next)
    }
}

/// A page as it has to be.
struct TruePage {
    let ids: [Int64]
    let meters: [Double]
    /// Where its last place is; nil on an empty page.
    let last: PagePosition?
    /// Where the first place behind the page is.
    let next: PagePosition?

    /// Where the page ends, by the last place's exact distance; nil if no place follows.
    var end: PagePosition? { next == nil ? nil : last }

    /// Whether a page may end there: at the last place or behind it, and before the one that follows.
    func mayEnd(at end: PagePosition?) -> Bool {
        guard let last, let next, let end else { return end == nil && next == nil }
        return end.id == last.id && end.count == last.count && end.distanceMeters >= last.distanceMeters
            && (end.distanceMeters, end.id) < (next.distanceMeters, next.id)
    }
}

/// Random queries about some places, with many difficult cases.
struct RandomQueries {
    let places: [TestPlace]
    let focus: Coordinate
    var generator: SeededGenerator

    mutating func next() -> TestQuery {
        let center = center()
        var query = TestQuery(
            ranking: Ranking(
                center: center, radiusMeters: radius(around: center),
                limit: [1, 2, 8, 9, 20, 21, 50, 100].pick(using: &generator) + 1))
        guard Bool.random(using: &generator) else { return query }
        query.categories = [
            nil, nil, [], ["cafe"], ["zoo"], ["bar", "bar"], ["cafe", "zoo", "nothing"],
        ].pick(using: &generator)
        query.datasets = [
            nil, nil, nil, ["dataset 1"], ["dataset 0", "dataset 2"], ["dataset 9"],
        ].pick(using: &generator)
        query.isFeatured = [nil, nil, true, false].pick(using: &generator)
        query.words = [
            nil, nil, nil, [], ["a"], ["ba"], ["bar"], ["alb", "mus"], ["dorsay", "d"], ["東"], ["zebra"],
            ["m", "c"], ["mu|mue"], ["muller|mueller"], ["bar", "muller|mueller"], ["京都"], ["東京都"],
            ["京都庁", "a"],
            ["ハハ"], ["ハハハ"], ["ハハハハ"], ["ハヒ", "東京都庁"], ["都"],
        ].pick(using: &generator)
        query.properties = TestProperties.randomFilters(using: &generator)
        if Int.random(in: 0..<3, using: &generator) == 0 { query.box = box() }
        return query
    }

    private mutating func box() -> BoundingBox? {
        let (one, other) = (center(), center())
        let size = [0.01, 0.5, 5, 60].pick(using: &generator)
        let (south, north) = (min(one.latitude, other.latitude), max(one.latitude, other.latitude))
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: return BoundingBox(west: -180, south: south, east: 180, north: north)
        case 1:
            return BoundingBox(
                west: one.longitude, south: one.latitude, east: one.longitude, north: one.latitude)
        case 2, 3:
            return BoundingBox(
                west: one.moved(north: 0, east: -size).longitude, south: max(-90, one.latitude - size),
                east: one.moved(north: 0, east: size).longitude, north: min(90, one.latitude + size))
        case 4:
            return BoundingBox(
                west: one.longitude, south: one.latitude, east: one.moved(north: 0, east: size).longitude,
                north: 90)
        default: return BoundingBox(west: one.longitude, south: south, east: other.longitude, north: north)
        }
    }

    private mutating func center() -> Coordinate {
        let place = places.randomElement(using: &generator)?.position ?? focus
        return .difficultCenter(near: place, or: focus, using: &generator)
    }

    /// None; any, from a metre to half the Earth; or one at which a place just is inside, or just isn't.
    private mutating func radius(around center: Coordinate) -> Double? {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0, 1: return nil
        case 2, 3: return [1, 1000, 100_000, 3e6, 20_037_509].pick(using: &generator)
        default:
            let place = places.randomElement(using: &generator)?.position ?? focus
            let distance = Geodesic.distanceMeters(from: center, to: place)
            guard distance > 0 else { return .leastNonzeroMagnitude }
            return [distance, distance.nextDown].pick(using: &generator)
        }
    }
}

extension QueryWord: ExpressibleByStringLiteral {
    /// A word as it is folded, a run, or both forms of a word with `|` between them.
    package init(stringLiteral text: String) {
        let forms = text.split(separator: "|").map { Array($0.utf8) }
        let first = forms[0]
        let isRun = SearchWords.isRun(first.span)
        self =
            forms.count > 1
            ? .either(plain: forms[0], spelledOut: forms[1]) : isRun ? .run(forms[0]) : .word(forms[0])
    }
}
