import PointsOfInterestClient

/// A property of the data, which a target can't show if none of its places has it.
struct Fact: Sendable {
    let text: String
    let isShown: @Sendable () async throws -> Bool
    /// A place that shows it, without a distance; nil where there is none, or where no single place can.
    let example: @Sendable () async throws -> PointOfInterest?

    private init(_ text: String, region holds: @escaping @Sendable (Region) async throws -> Bool) {
        self.text = text
        isShown = {
            guard let region = try await Region.current() else { return false }
            return try await holds(region)
        }
        example = { nil }
    }

    /// A fact of one place, which is looked for in the region and among the places that the target is expected to have.
    private init(_ text: String, place holds: @escaping @Sendable (PointOfInterest) -> Bool) {
        let example: @Sendable () async throws -> PointOfInterest? = {
            if let place = try await Region.current()?.first(where: holds) { return place }
            return try await KnownPlaces.found().compactMap(\.place).first(where: holds)
        }
        self.init(text, example: example)
    }

    private init(_ text: String, example: @escaping @Sendable () async throws -> PointOfInterest?) {
        (self.text, self.example) = (text, example)
        isShown = { try await example() != nil }
    }

    private init(_ text: String, attribution holds: @escaping @Sendable (Attribution) -> Bool) {
        self.text = text
        isShown = { try await Self.attributions.value.contains(where: holds) }
        example = { nil }
    }

    private static let attributions = Task { try await Service.client().attributions() }
}

extension Fact {
    static let place = Fact("a place", place: { _ in true })
    static let address = Fact("a place with an address", place: { $0.address != nil })
    static let website = Fact("a place with a website", place: { $0.website != nil })
    static let source = Fact("a place with a source", place: { $0.source != nil })
    static let importance = Fact("a place with an importance above 0", place: { $0.importance > 0 })
    static let temporarilyClosed = Fact(
        "a place that is closed for a time", place: { $0.operatingStatus == .temporarilyClosed })
    static let featured = Fact("a place that is featured", place: { $0.featured })
    static let notFeatured = Fact("a place that isn't featured", place: { !$0.featured })
    static let letterBeyondASCII = Fact(
        "a name with a letter beyond ASCII", place: { $0.name.contains { $0.isLetter && !$0.isASCII } })
    static let ampersand = Fact("a name with an ampersand", place: { $0.name.contains("&") })
    static let quotationMark = Fact(
        "a name with an apostrophe or a quotation mark",
        place: { $0.name.contains { "'\"’‘“”«»ʼ".contains($0) } })

    static let morePages = Fact("more than a page of seven places", region: { $0.places.count > 7 })
    static let twoCategories = Fact("places of two categories", region: { $0.categories.count > 1 })
    static let onePosition = Fact("two places at one position", region: { !$0.crowds.isEmpty })
    static let word = Fact(
        "a name with a word of four letters A to Z or more", region: { $0.words.word != nil })
    static let accentedWord = Fact(
        "a name with an accent on a letter A to Z", region: { $0.words.accented != nil })
    static let sharedWord = Fact(
        "a name of two words, of which another name has only the first", region: { $0.words.pair != nil })
    static let filterableProperty = Fact(
        "a value of a property that places in memory are filtered by",
        region: { try await !FilterablePlaces(of: $0).filters.isEmpty })

    static let credit = Fact("an attribution with a credit", attribution: { $0.credit != nil })
    static let attributionURL = Fact("an attribution with a URL", attribution: { $0.url != nil })

    /// Its example has its properties, as details have them.
    static let properties = Fact("properties of one of the fifty most important places") {
        let places = try await Region.current()?.places.map(\.place) ?? []
        let client = try await Service.client()
        for place in places.sorted(by: { ($1.importance, $0.id) < ($0.importance, $1.id) }).prefix(50) {
            let details = try await client.place(id: place.id)
            if details.properties?.valuesByName.isEmpty == false { return details }
        }
        return nil
    }

    /// Its example is found by its id, and isn't in the region, though its position is.
    static let unlisted = Fact("a place that is found by its id alone, among a hundred ids") {
        guard let region = try await Region.current() else { return nil }
        let last = region.places.map(\.place.id).max() ?? 0
        let between = (max(1, last - 10_000)..<last).filter { region.place(id: $0) == nil }.suffix(50)
        let ids = Array(between) + Array(last + 1...last + 50)
        return try await Service.client().places(ids: ids).first {
            region.box.contains(latitude: $0.latitude, longitude: $0.longitude)
                && region.place(id: $0.id) == nil
        }
    }

    /// Its example has that name.
    static let names = Fact("a place that has another name in one of ten languages") {
        guard let region = try await Region.current() else { return nil }
        let languages = ["de", "fr", "es", "it", "pt", "ru", "ar", "hi", "zh", "ja"]
        return try await region.places(languages: languages).first {
            region.place(id: $0.id)?.place.name.isExactly($0.name) == false
        }
    }

    /// The example, which was there when the test began.
    func needed() async throws -> PointOfInterest {
        guard let place = try await example() else { throw NotShown(fact: self) }
        return place
    }
}

/// A fact that was shown when the test began, and isn't any more.
struct NotShown: Error, CustomStringConvertible {
    let fact: Fact

    var description: String { "no longer shown by this target: \(fact.text)" }
}

extension Region {
    /// Something to search for, which was there when the test began.
    func needed<Value>(_ path: KeyPath<RegionWords, Value?>, _ fact: Fact) throws -> Value {
        guard let value = words[keyPath: path] else { throw NotShown(fact: fact) }
        return value
    }
}
