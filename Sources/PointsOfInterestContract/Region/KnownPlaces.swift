import Foundation
import PointsOfInterestClient
import Testing

/// The expected places, looked up in the target.
enum KnownPlaces {
    /// An expected place, and what the target has at its position.
    struct Known: Sendable {
        let expected: ExpectedPlace
        /// All places within a metre, in the response's order, without distances.
        let nearby: [PointOfInterest]
        /// The target's place; nil if none has the expected id in the dataset or, without an expected id, the name.
        let place: PointOfInterest?
    }

    /// All expected places, in the file's order; none without a file. They are looked up once.
    static func found() async throws -> [Known] { try await lookup.value }

    /// One of them, found; else an error that says what is there instead.
    static func found(_ expected: ExpectedPlace) async throws -> PointOfInterest {
        let known = try await found().first { $0.expected == expected }
        guard let place = known?.place else {
            throw NotFound(line: expected.line, nearby: known?.nearby ?? [])
        }
        return place
    }

    /// An expected place that the target doesn't have.
    struct NotFound: Error, CustomStringConvertible {
        let line: Int
        let nearby: [PointOfInterest]

        var description: String { "the place of line \(line) isn't there; within a metre are: \(nearby)" }
    }

    private static let lookup = Task {
        var found: [Known] = []
        for expected in ExpectedPlaces.current?.places ?? [] {
            let nearby = try await nearby(expected)
            found.append(Known(expected: expected, nearby: nearby, place: chosen(expected, nearby)))
        }
        return found
    }

    /// A place is nobody else's neighbour by more than this.
    private static let maximumNeighbours = 1000

    private static func nearby(_ expected: ExpectedPlace) async throws -> [PointOfInterest] {
        var places: [PointOfInterest] = []
        for try await place in try await Service.client().allNearbyPlaces(expected.search) {
            places.append(place.at(distance: nil))
            if places.count == maximumNeighbours { break }
        }
        return places
    }

    private static func chosen(
        _ expected: ExpectedPlace, _ nearby: [PointOfInterest]
    ) -> PointOfInterest? {
        if let id = expected.id {
            return nearby.first {
                $0.source?.id == id && (expected.dataset ?? $0.source?.dataset) == $0.source?.dataset
            }
        }
        // To `==`, a name in another normal form is the same: the place is found, and its name is reported as a
        // difference.
        let named = nearby.filter { $0.name == expected.name }
        return named.first { expected.differences(from: $0).isEmpty } ?? named.first
    }
}

extension ExpectedPlace {
    /// A search for what is within a metre.
    var search: NearbyPlacesRequest {
        var request = NearbyPlacesRequest(
            center: Coordinate(validLatitude: latitude, validLongitude: longitude), radiusMeters: 1,
            limit: NearbyPlacesRequest.limits.upperBound)
        request.properties = Array(propertyValues.keys.sorted().prefix(20))
        return request
    }

    private var propertyValues: [String: JSONValue] { properties?.valuesByName ?? [:] }

    /// The members in which a place differs from the file, without those that the file leaves out.
    func differences(from place: PointOfInterest) -> [String] {
        var members = PlaceMembers()
        func compare(_ member: String, _ text: String?, _ expected: String?) {
            if expected != nil { members.compare(member, text, expected) }
        }
        compare("name", place.name, name)
        compare("category", place.category, category)
        compare("address", place.address, address)
        compare("website", place.website, website)
        compare("source.dataset", place.source?.dataset, dataset)
        compare("source.id", place.source?.id, id)
        compare("source.license", place.source?.license, license)
        members.compare("latitude", place.latitude, latitude)
        members.compare("longitude", place.longitude, longitude)
        if let featured { members.compare("featured", place.featured, featured) }
        if let importance { members.compare("importance", place.importance, importance) }
        for (name, value) in propertyValues.sorted(by: { $0.key < $1.key }).prefix(20) {
            members.compare("properties.\(name)", place.properties?[name], value)
        }
        return members.differences
    }
}

/// A property of the data, which a target can't show if none of its places has it.
enum Fact: CaseIterable {
    case place, clusters, morePages
    case address, website, source, importance, featured, notFeatured, properties, names
    case filterableProperty
    case letterBeyondASCII, ampersand, quotationMark
    case twoCategories, onePosition
    case word, accentedWord, sharedWord
    case credit, attributionURL

    /// What it is, for people.
    var text: String {
        switch self {
        case .place: "a place"
        case .clusters: "clusters, for which places have to be in memory"
        case .morePages: "more than a page of seven places"
        case .address: "a place with an address"
        case .website: "a place with a website"
        case .source: "a place with a source"
        case .importance: "a place with an importance above 0"
        case .names: "a place that has another name in one of ten languages"
        case .filterableProperty:
            "a value of a property that places in memory are filtered by"
        case .properties: "properties of one of the fifty most important places"
        case .featured: "a place that is featured"
        case .notFeatured: "a place that isn't featured"
        case .letterBeyondASCII: "a name with a letter beyond ASCII"
        case .ampersand: "a name with an ampersand"
        case .quotationMark: "a name with an apostrophe or a quotation mark"
        case .twoCategories: "places of two categories"
        case .onePosition: "two places at one position"
        case .word: "a name with a word of four letters A to Z or more"
        case .accentedWord: "a name with an accent on a letter A to Z"
        case .sharedWord: "a name of two words, of which another name has only the first"
        case .credit: "an attribution with a credit"
        case .attributionURL: "an attribution with a URL"
        }
    }

    /// Whether the target shows it: in the region, in its attributions, or by a place that it is expected to have.
    static func isShown(_ fact: Fact) async throws -> Bool {
        switch fact {
        case .credit: return try await attributions.value.contains { $0.credit != nil }
        case .attributionURL: return try await attributions.value.contains { $0.url != nil }
        case .filterableProperty:
            guard let region = try await Region.current(), region.earth != nil else { return false }
            return try await !FilterablePlaces(of: region).filters.isEmpty
        case .clusters, .morePages, .twoCategories, .onePosition, .word, .accentedWord, .sharedWord:
            return try await Region.current().map(fact.isShown) ?? false
        default: return try await example(of: fact) != nil
        }
    }

    /// A place that shows it, without a distance; nil where there is none, or where no single place can.
    static func example(of fact: Fact) async throws -> PointOfInterest? {
        if fact == .properties { return try await withProperties() }
        if fact == .names { return try await withLanguage() }
        if let place = try await Region.current()?.first(where: fact.holds) { return place }
        return try await KnownPlaces.found().compactMap(\.place).first(where: fact.holds)
    }

    /// A place with properties, as its details have it; nil where none of the region's fifty most important ones has any.
    private static func withProperties() async throws -> PointOfInterest? {
        let places = try await Region.current()?.places.map(\.place) ?? []
        let client = try await Service.client()
        for place in places.sorted(by: { ($1.importance, $0.id) < ($0.importance, $1.id) }).prefix(50) {
            let details = try await client.place(id: place.id)
            if details.properties?.valuesByName.isEmpty == false { return details }
        }
        return nil
    }

    /// The languages that names are looked for in.
    static let languages = ["de", "fr", "es", "it", "pt", "ru", "ar", "hi", "zh", "ja"]

    /// A place of the region with another name in one of these languages, with that name; nil where none has any.
    private static func withLanguage() async throws -> PointOfInterest? {
        let places = try await Region.current()?.places.map(\.place) ?? []
        let client = try await Service.client()
        for start in stride(from: 0, to: places.count, by: 100) {
            let hundred = places[start..<min(start + 100, places.count)]
            let named = try await client.places(ids: hundred.map(\.id), languages: languages)
            let names = Dictionary(hundred.map { ($0.id, $0.name) }) { $1 }
            if let place = named.first(where: { names[$0.id]?.isExactly($0.name) == false }) { return place }
        }
        return nil
    }

    private static let attributions = Task { try await Service.client().attributions() }

    /// Whether it holds for a place.
    private func holds(for place: PointOfInterest) -> Bool {
        switch self {
        case .place: true
        case .address: place.address != nil
        case .website: place.website != nil
        case .source: place.source != nil
        case .importance: place.importance > 0
        case .featured: place.featured
        case .notFeatured: !place.featured
        case .letterBeyondASCII: place.name.contains { $0.isLetter && !$0.isASCII }
        case .ampersand: place.name.contains("&")
        case .quotationMark: place.name.contains { "'\"’‘“”«»ʼ".contains($0) }
        default: false
        }
    }

    /// Whether a region as a whole shows it.
    private func isShown(by region: Region) -> Bool {
        switch self {
        case .clusters: region.earth != nil
        case .morePages: region.places.count > 7
        case .twoCategories: region.categories.count > 1
        case .onePosition: !region.crowds.isEmpty
        case .word: region.words.word != nil
        case .accentedWord: region.words.accented != nil
        case .sharedWord: region.words.pair != nil
        default: false
        }
    }
}

/// A fact that was shown when the test began, and isn't any more.
struct NotShown: Error, CustomStringConvertible {
    let fact: Fact

    var description: String { "no longer shown by this target: \(fact.text)" }
}
