import Geodesy
import PointsOfInterestServerAPI
import BruteForce
import DifficultPlaces
import Foundation
import Places
import PointsOfInterestAPI
import Randomness

/// Random requests about some places, with many difficult cases.
struct RandomRequests {
    /// The pages that are right: measures the places one by one.
    let truth: Truth

    /// Datasets of the places. The second and the third are equal as strings, and not byte by byte.
    static let datasets = ["set", "caf\u{E9}, all", "cafe\u{301}, all"]

    private let places: [Coordinate]
    private let focus: Coordinate
    private var generator: SeededGenerator

    /// - Parameter focus: a point that many places are around, or equally far from.
    init(about places: [StoredPlace], around focus: Coordinate, using generator: SeededGenerator) {
        truth = Truth(places)
        self.places = places.map { Coordinate(wrapping: $0.place.latitude, $0.place.longitude) }
        self.focus = focus
        self.generator = generator
    }

    /// Half of them have no filter.
    mutating func next() -> NearbyPlacesRequest {
        let center = center()
        var request = NearbyPlacesRequest(
            center: center, radiusMeters: radius(around: center), limit: limit())
        request.languages = pick([
            [], [], ["ja"], ["de-AT", "zh-Hant-TW"], ["zh-hans", "EN-x-a", "ja"], ["fr"],
        ])
        guard Bool.random(using: &generator) else { return request }
        request.categories = pick([[], [], ["cafe"], ["bar"], ["cafe", "bar", "zoo"]])
        request.datasets = pick([[], [], [], [Self.datasets[0]], [Self.datasets[1]], Self.datasets])
        request.featured = pick([nil, nil, true, false])
        request.searchText = pick([nil, nil] + PlaceNames.searches.map { $0 })
        if Int.random(in: 0..<3, using: &generator) == 0 {
            request.box = box()
            request.radiusMeters = nil
            if Bool.random(using: &generator) { request.center = nil }
        }
        return request
    }

    /// One that can be answered without an index: around a centre, without words, and with no place at the radius, since PostGIS
    /// measures a little differently.
    mutating func nextWithoutIndex() -> NearbyPlacesRequest {
        var request = next()
        let center = request.center ?? center()
        (request.center, request.box, request.searchText) = (center, nil, nil)
        while let radius = request.radiusMeters,
            places.contains(where: { abs(Geodesic.distanceMeters(from: center, to: $0) - radius) < 1e-5 })
        {
            request.radiusMeters = radius + (radius < 20_000_000 ? 0.001 : -0.001)
        }
        return request
    }

    /// A place's names in languages, mostly none.
    static func names(using generator: inout SeededGenerator) -> [String: String] {
        guard Bool.random(using: &generator) else { return [:] }
        let tags = ["ja", "de", "zh", "zh-Hant", "EN"].filter { _ in Bool.random(using: &generator) }
        return Dictionary(uniqueKeysWithValues: tags.map { ($0, PlaceNames.random(using: &generator)) })
    }

    /// A few page sizes, to be taken in turn.
    mutating func pageSizes() -> [Int] {
        (0..<3).map { _ in pick([1, 7, 20, 100, .random(in: 10...100, using: &generator)]) }
    }

    /// The ids of all places that a request asks for, in order, by measuring every place.
    func allIDs(_ request: NearbyPlacesRequest) async throws -> [Int] {
        var request = request
        request.limit = places.count + 1
        return try await truth.places(for: request).places.map(\.id)
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &generator)]
    }

    /// Of any size and anywhere: around places, across the antimeridian, over a pole, a band, a line, a point, a
    /// narrow one that touches a pole.
    private mutating func box() -> BoundingBox {
        let (one, other) = (center(), center())
        let size = pow(180, Double.random(in: -3...1, using: &generator))
        let box: BoundingBox? =
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: BoundingBox(west: -180, south: -90, east: 180, north: 90)
            case 1:
                BoundingBox(
                    west: -180, south: min(one.latitude, other.latitude), east: 180,
                    north: max(one.latitude, other.latitude))
            case 2:
                BoundingBox(
                    west: one.longitude, south: one.latitude, east: one.longitude, north: one.latitude)
            case 3:
                BoundingBox(
                    west: one.moved(north: 0, east: -min(179, size)).longitude,
                    south: max(-90, one.latitude - size),
                    east: one.moved(north: 0, east: min(179, size)).longitude,
                    north: min(90, one.latitude + size))
            case 4:
                BoundingBox(
                    west: one.longitude, south: one.latitude,
                    east: one.moved(north: 0, east: min(10, size)).longitude, north: 90)
            case 5:
                BoundingBox(
                    west: one.longitude, south: -90, east: one.moved(north: 0, east: min(10, size)).longitude,
                    north: one.latitude)
            default:
                BoundingBox(
                    west: one.longitude, south: min(one.latitude, other.latitude), east: other.longitude,
                    north: max(one.latitude, other.latitude))
            }
        guard let box else { preconditionFailure("\(one) and \(other) are no corners") }
        return box
    }

    private mutating func center() -> Coordinate {
        let place = places.randomElement(using: &generator) ?? focus
        return .difficultCenter(near: place, or: focus, using: &generator)
    }

    private mutating func limit() -> Int {
        let edges = [1, 2, 8, 9, 20, 21, 50, 51, 99, 100]
        return Bool.random(using: &generator)
            ? edges[Int.random(in: edges.indices, using: &generator)]
            : .random(in: NearbyPlacesRequest.limits, using: &generator)
    }

    /// None; any, from a metre to half the Earth; or one at which a place just is inside, or just isn't.
    private mutating func radius(around center: Coordinate) -> Double? {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0, 1: return nil
        case 2, 3: return pow(NearbyPlacesRequest.maximumRadiusMeters, .random(in: 0...1, using: &generator))
        default:
            let place = places.randomElement(using: &generator) ?? focus
            let distance = Geodesic.distanceMeters(from: center, to: place)
            guard distance > 0 else { return .leastNonzeroMagnitude }
            return [distance, distance.nextDown].pick(using: &generator)
        }
    }
}

/// Names of places, and texts that find some of them.
enum PlaceNames {
    /// Mostly a word that few have; accents, apostrophes, other scripts, and words that begin alike.
    static let words = [
        "Café", "cafeteria", "Cafés", "Children's", "Musée d’Orsay", "Straße", "STRASSE", "Łódź", "Ærø",
        "ŒUVRE",
        "東京タワー", "Ελλάς", "ΣΊΣΥΦΟΣ", "Москва́", "naïve", "Place", "place", "№5", "ﬁne", "Ａｌｐｈａ", "don't",
        "100%",
        "a_b", "back\\slash", "\u{10FFFF}", "x\u{10FFFF}y", "İstanbul", "ŉ", "가나다", "ß", "-", "…",
        "Müller", "Mu\u{308}ller’s", "Mueller", "MULLER", "Ålesund", "Køge", "東京Tower", "パンダ・カフェ", "วัดพระแก้ว",
        "ភ្នំពេញ",
    ]

    /// Whole words, beginnings, several, none, and what has no word in it.
    static let searches = [
        "cafe", "CAFÉ", "caf", "c", "children", "childrens", "s", "musee dorsay", "d'orsay", "strasse",
        "straß", "lodz",
        "aero", "東京", "ελλας", "σισυφος", "москва", "place", "place c", "no5", "fine", "alpha", "dont", "100",
        "a b", "back",
        "x\u{10FFFF}", "istanbul", "n", "가", "ss", "zzz", "place zzz", "%", "…", "'", "p l a c e", "place 7",
        "cafe 23", "c 31", "s 12 c", "17",
        "müller", "mueller", "muller", "alesund", "aalesund", "koeg", "kö", "京タ", "タワー", "東京to", "ー", "カフェ",
        "ンダカ",
        "พระ", "ពេ",
    ]

    static func random(using generator: inout SeededGenerator) -> String {
        (0..<Int.random(in: 1...3, using: &generator))
            .map { _ in words[Int.random(in: words.indices, using: &generator)] }.joined(separator: " ")
    }
}

/// The right page for a request, by measuring every place. It decides by a rule of its own which places are in a box.
struct Truth {
    private let places: [StoredPlace]
    private let everywhere: FixtureStore

    /// What the categories of the places are called.
    static let labels = [
        "museum": ["en": ["Museum"]], "cafe": ["DE": ["Café", "Kaffee"], "zh-Hant": ["咖啡館"]],
        "park": [:], "bar": ["ja": ["\"バー\""], "fr": ["Bar"]],
    ]

    init(_ places: [StoredPlace]) {
        self.places = places
        everywhere = FixtureStore(stored: places, labels: Self.labels)
    }

    func places(for request: NearbyPlacesRequest) async throws -> (
        places: [PointOfInterest], end: PagePosition?
    ) {
        guard let box = request.box, let center = request.orderCenter else {
            let page = try await everywhere.places(for: request)
            return (try page.places.copied(), page.end)
        }
        let rest = FixtureStore(
            stored: places.filter { Self.isIn(box, $0.place.latitude, $0.place.longitude) },
            labels: Self.labels)
        var unboxed = request
        (unboxed.box, unboxed.center) = (nil, center)
        if let start = request.start { unboxed.cursor = PageCursor(start, in: unboxed) }
        let page = try await rest.places(for: unboxed)
        let found = try page.places.copied()
        return (request.center == nil ? found.map { $0.at(distance: nil) } : found, page.end)
    }

    /// Tries every longitude that names the place's meridian; at a pole all do.
    private static func isIn(_ box: BoundingBox, _ latitude: Double, _ longitude: Double) -> Bool {
        var meridians = [longitude]
        if abs(longitude) == 180 { meridians = [180, -180] }
        if abs(latitude) == 90 { meridians = [box.west] }
        let spans = box.west > box.east ? [box.west...180, -180...box.east] : [box.west...box.east]
        return (box.south...box.north).contains(latitude)
            && meridians.contains { meridian in spans.contains { $0.contains(meridian) } }
    }
}
