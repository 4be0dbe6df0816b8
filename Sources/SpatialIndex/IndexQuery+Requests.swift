import Geodesy
import PointsOfInterestAPI
import PointsOfInterestServerAPI

extension IndexFilter {
    /// What a request filters by.
    package init(_ filter: borrowing PlaceFilter, _ vocabulary: borrowing IndexVocabulary) {
        self.init()
        isFeatured = filter.featured
        if !filter.categories.isEmpty {
            // A category without places has no number, and matches nothing.
            categories = filter.categories.compactMap(vocabulary.number)
        }
        if filter.hasDatasets {
            let names = Set(filter.datasets.map(ExactName.init))
            sources = [false] + vocabulary.sources.map { names.contains(ExactName($0.dataset)) }
        }
        words = filter.searchText.map(SearchWords.words(ofQuery:))
        if filter.hasPropertyFilters { require(filter.propertyFilters) }
    }
}

extension RelevanceQuery {
    /// What a request by relevance looks for.
    package init(_ request: borrowing NearbyPlacesRequest, _ vocabulary: borrowing IndexVocabulary) {
        var filter = request.filter
        let text = filter.searchText ?? ""
        filter.searchText = nil
        self.init(
            SearchWords.orderedWords(ofQuery: text), center: request.orderCenter,
            radiusMeters: request.radiusMeters, nearMeters: request.nearLimit, box: request.box,
            filter: IndexFilter(filter, vocabulary),
            limit: (request.limit ?? NearbyPlacesRequest.defaultLimit) + 1, after: request.start,
            findsAllNames: !request.languages.isEmpty)
    }
}

extension RelevancePage {
    /// The words of a search text as they are written in JSON, where places were found without one of them; else none.
    package static func leftOutWords(of found: [Found], _ searchText: String?) -> [[UInt8]] {
        guard found.contains(where: { $0.leftOut != nil }) else { return [] }
        return SearchWords.written(in: searchText ?? "").map(PlaceAdditions.escaped)
    }
}

extension PlaceAdditions {
    /// What a response has of a place that was found by relevance.
    ///
    /// - Parameter words: the search text's, by `RelevancePage.leftOutWords(of:_:)`.
    package init(_ found: RelevancePage.Found, _ words: [[UInt8]], categoryLabel: [UInt8]?) {
        self.init(categoryLabel: categoryLabel)
        matchedNames = found.names
        leftOut = found.leftOut.map { words[$0] }
    }
}

extension IndexSnapshot {
    /// A place with its distance; 0 without a centre.
    package func placed(_ id: Int64, from center: Coordinate?) -> IndexPage.Placed? {
        place(withID: id).map { reference in
            let position = position(of: reference)
            let candidate = Candidate(id: id, latitude: position.latitude, longitude: position.longitude)
            let distance = center.map { Geodesic.distanceMeters(from: $0, to: candidate) }
            return IndexPage.Placed(reference: reference, id: id, distanceMeters: distance ?? 0)
        }
    }
}

extension CategoryCount {
    /// Most frequent first, then by name.
    package static func isOrdered(_ one: Self, before other: Self) -> Bool {
        (other.count, one.name) < (one.count, other.name)
    }
}

extension [CategoryCount] {
    /// Those that a request asks for, with their labels and words.
    package func items(of request: CategoriesRequest, _ labels: CategoryLabels) -> [CategoryCount] {
        let languages = LanguageLookup(request.languages)
        var items = self
        if let text = request.searchText {
            let words = [QueryWord](SearchWords.words(ofQuery: text).prefix(RelevanceQuery.maximumWordCount))
            var matcher = WordMatcher(words)
            items.removeAll { item in
                let text = ([item.name] + labels.words(for: item.name)).joined(separator: " ")
                let bytes = [UInt8](text.utf8)[...]
                return words.isEmpty
                    || matcher.mask(of: bytes.span) != (1 << UInt64(words.count)) - 1
            }
        }
        guard !languages.tags.isEmpty || request.hasAllWords else { return items }
        return items.map { item in
            CategoryCount(
                name: item.name, count: item.count, label: labels.label(of: item.name, in: languages),
                words: request.hasAllWords ? labels.wordsByLanguage(for: item.name) : nil)
        }
    }
}
