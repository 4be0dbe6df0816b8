import PointsOfInterestClient

/// A property of the data, which a target can't show if none of its places has it.
enum Fact: CaseIterable {
    case place, clusters, morePages
    case address, website, source, featured, notFeatured
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
        case .credit: try await attributions.value.contains { $0.credit != nil }
        case .attributionURL: try await attributions.value.contains { $0.url != nil }
        case .clusters, .morePages, .twoCategories, .onePosition, .word, .accentedWord, .sharedWord:
            try await Region.current().map(fact.isShown) ?? false
        default: try await example(of: fact) != nil
        }
    }

    /// A place that shows it, without a distance; nil where there is none, or where no single place can.
    static func example(of fact: Fact) async throws -> PointOfInterest? {
        if let place = try await Region.current()?.first(where: fact.holds) { return place }
        return try await KnownPlaces.found().compactMap(\.place).first(where: fact.holds)
    }

    private static let attributions = Task { try await Service.client().attributions() }

    /// Whether it holds for a place.
    private func holds(for place: PointOfInterest) -> Bool {
        switch self {
        case .place: true
        case .address: place.address != nil
        case .website: place.website != nil
        case .source: place.source != nil
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
