import Geodesy
import PointsOfInterestServerAPI
import EventLoop
import Places
import PointsOfInterestAPI

/// A store in memory that is filled once and measures every place for every request: the truth that tests compare other
/// stores with.
package final class FixtureStore: PlaceStore {
    private let stored: [StoredPlace]
    /// The words for categories by language, by the categories' names.
    private let labels: [String: [String: [String]]]
    private let places: [PointOfInterest]
    /// The places' names in languages, by their ids.
    private let names: [Int: [String: String]]
    /// What the rule of relevance reads of each place, by their ids, once a request has needed it.
    private lazy var rules: [Int: ExpectedRelevance.Place] = Dictionary(
        uniqueKeysWithValues: stored.map { stored in
            let place = stored.place
            return (
                place.id,
                ExpectedRelevance.Place(
                    names: stored.allNames, address: place.address, category: place.category,
                    labels: (labels[place.category] ?? [:]).values.flatMap(\.self))
            )
        })
    /// The last request for places by relevance without its page, and what it finds: the pages that follow have the rest.
    private var lastSearch: (question: NearbyPlacesRequest, found: [FoundPlace])?
    /// The words of each of a place's names, by their ids, once a request has needed them: without optimisation, finding
    /// them takes much longer than measuring.
    private var words: [Int: [NameWords]] = [:]
    /// The names that requests may filter by.
    package let vocabulary: FilterVocabulary?
    /// The dataset, which never changes, since the places don't.
    package let currentDatasetID: DatasetID?

    /// Keeps `places`; their ids are expected to be unique.
    ///
    /// - Parameter vocabulary: the names that requests may filter by; nil takes those of `places`.
    package convenience init(_ places: [PointOfInterest], vocabulary: FilterVocabulary? = nil) {
        self.init(stored: places.map { StoredPlace($0) }, vocabulary: vocabulary)
    }

    /// Keeps places with their names in languages.
    package init(
        stored: [StoredPlace], vocabulary: FilterVocabulary? = nil, labels: [String: [String: [String]]] = [:]
    ) {
        self.labels = labels
        let places = stored.map(\.place)
        self.stored = stored
        self.places = places
        names = Dictionary(uniqueKeysWithValues: stored.map { ($0.place.id, $0.names) })
        self.vocabulary =
            vocabulary
            ?? FilterVocabulary(
                categories: places.map(\.category), datasets: places.compactMap(\.source?.dataset))
        currentDatasetID = DatasetID(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max))
    }

    /// The vocabulary, which never changes; never throws.
    package func currentVocabulary() -> Stored<FilterVocabulary> {
        .now(vocabulary ?? FilterVocabulary(categories: []))
    }

    /// Looks at every place; never throws.
    package func places(
        for request: NearbyPlacesRequest, from client: @autoclosure () -> IPAddress
    ) -> Stored<RankedPage> {
        if !request.ids.isEmpty { return .now(places(byIDs: request)) }
        if request.sort == .relevance { return .now(placesByRelevance(request)) }
        guard let ranking = Ranking(pageOf: request) else { return .now(RankedPage(places: PlainPlaces([]))) }
        let isAskedFor = condition(request.filter, in: request.box)
        let matching = stored.filter(isAskedFor).map(\.place)
        let candidates = matching.map(Candidate.init)
        let page = ranking.page(of: ranking.rank(candidates), from: candidates)
        let placed = page.placed.map { placed in
            named(matching[placed.index], in: request.languages)
                .at(distance: request.center == nil ? nil : placed.distanceMeters)
        }
        return .now(RankedPage(places: PlainPlaces(placed), end: page.end, datasetID: currentDatasetID))
    }

    /// All places that a request finds by relevance, in order, whatever its page.
    private func foundByRelevance(_ request: NearbyPlacesRequest) -> [FoundPlace] {
        let expected = ExpectedRelevance(searchText: request.searchText ?? "")
        var filter = request.filter
        filter.searchText = nil
        let isAskedFor = condition(filter, in: request.box)
        let admitted = stored.filter(isAskedFor)
        // Each only where nothing has been found by those before it.
        for step in ExpectedRelevance.Step.allCases {
            let found = admitted.compactMap { stored -> FoundPlace? in
                let place = stored.place
                guard let rule = rules[place.id], let match = expected.match(rule, by: step) else {
                    return nil
                }
                let meters =
                    request.orderCenter.map { Geodesic.distanceMeters(from: $0, to: Candidate(place)) } ?? 0
                guard meters <= request.radiusMeters ?? .infinity else { return nil }
                return FoundPlace(
                    place: place, names: stored.allNames, match: match,
                    leftOut: match.leftOut.map { expected.writtenWords[$0] },
                    isNear: request.nearLimit.map { meters <= $0 } ?? false, distanceMeters: meters)
            }
            if !found.isEmpty { return found.sorted { $0.order.lexicographicallyPrecedes($1.order) } }
        }
        return []
    }

    private func placesByRelevance(_ request: NearbyPlacesRequest) -> RankedPage {
        var question = request
        question.cursor = nil
        if lastSearch?.question != question { lastSearch = (question, foundByRelevance(question)) }
        var found = lastSearch?.found ?? []
        let start = request.start
        if let start, let rank = start.rank {
            let order = FoundPlace.order(rank, start.distanceMeters, start.id)
            found.removeAll { !order.lexicographicallyPrecedes($0.order) }
        }
        let size = request.limit ?? NearbyPlacesRequest.defaultLimit
        let places = found.prefix(size).map { found in
            let shown = named(found.place, in: request.languages)
            let matches = found.match.names.map { found.names[$0] }
            return shown.at(distance: request.center == nil ? nil : found.distanceMeters)
                .found(by: matches.contains(shown.name) ? nil : matches.first, without: found.leftOut)
        }
        let last = found.count > size ? found.prefix(size).last : nil
        return RankedPage(
            places: PlainPlaces(places), end: last?.position(after: (start?.count ?? 0) + size),
            datasetID: currentDatasetID)
    }

    /// Adds up every place; never throws.
    package func clusters(
        for request: ClustersRequest, from client: @autoclosure () -> IPAddress
    ) -> Stored<ClusterPage> {
        let cells = ClusterCells(request)
        var members: [Int: [PointOfInterest]] = [:]
        for place in stored.filter(condition(request.filter)).map(\.place) {
            let quadkey = Quadkey(latitude: place.latitude, longitude: place.longitude)
            if let cell = cells.cell(of: quadkey) { members[cell, default: []].append(place) }
        }
        let clusters = members.sorted { $0.key < $1.key }.map(\.value)
        let sums = clusters.map { places in
            places.reduce(into: ClusterSum()) { $0.add(latitude: $1.latitude, longitude: $1.longitude) }
        }
        let single = clusters.filter { $0.count == 1 }.flatMap(\.self).map {
            named($0, in: request.languages)
        }
        return .now(ClusterPage(sums: sums, places: PlainPlaces(single), datasetID: currentDatasetID))
    }

    /// Whether a place matches.
    private func condition(_ filter: PlaceFilter, in box: BoundingBox? = nil) -> (StoredPlace) -> Bool {
        let categories = Set(filter.categories)
        let datasets = Set(filter.datasets.map(ExactName.init))
        let searchText = filter.searchText.map { NameWords.SearchText($0) }
        return { stored in
            let place = stored.place
            if place.operatingStatus == .permanentlyClosed { return false }
            if !categories.isEmpty, !categories.contains(place.category) { return false }
            if !datasets.isEmpty {
                guard let source = place.source, datasets.contains(ExactName(source.dataset)) else {
                    return false
                }
            }
            if let featured = filter.featured, featured != place.featured { return false }
            if let box, !box.contains(latitude: place.latitude, longitude: place.longitude) {
                return false
            }
            guard filter.propertyFilters.allSatisfy({ $0.keeps(place) }) else { return false }
            return searchText.map { self.words(of: stored).contains(where: $0.finds) } ?? true
        }
    }

    private func words(of stored: StoredPlace) -> [NameWords] {
        if let words = words[stored.place.id] { return words }
        let found = stored.allNames.map { NameWords($0) }
        words[stored.place.id] = found
        return found
    }

    /// The place with the name and the label that RFC 4647, section 3.4, finds.
    private func named(_ place: PointOfInterest, in languages: [String]) -> PointOfInterest {
        let label = Self.lookUp(languages, labels[place.category] ?? [:])?.value.first
        let name = Self.lookUp(languages, names[place.id] ?? [:])
        return place.named(name?.value ?? place.name, in: name?.key, label: label)
    }

    private static func lookUp<Value>(
        _ languages: [String], _ values: [String: Value]
    ) -> (key: String, value: Value)? {
        for language in languages {
            var range = language.lowercased()
            while true {
                if let found = values.first(where: { $0.key.lowercased() == range }) { return found }
                guard let end = range.lastIndex(of: "-") else { break }
                range.removeSubrange(end...)
                while range.dropLast().last == "-" { range.removeLast(2) }
            }
        }
        return nil
    }

    private func places(byIDs request: NearbyPlacesRequest) -> RankedPage {
        let center = request.center
        let found = places.filter { request.ids.contains($0.id) }.map { place in
            (
                named(place, in: request.languages),
                center.map { Geodesic.distanceMeters(from: $0, to: Candidate(place)) }
            )
        }
        let sorted = found.sorted { ($0.1 ?? 0, $0.0.id) < ($1.1 ?? 0, $1.0.id) }
        return RankedPage(
            places: PlainPlaces(sorted.map { $0.at(distance: $1) }), datasetID: currentDatasetID)
    }

    /// Counts the places; never throws.
    package func categories() -> Stored<DatasetCounts<CategoryCount>> {
        var counts: [String: Int] = [:]
        for name in vocabulary?.categories.sortedNames ?? [] { counts[name] = 0 }
        for place in places where place.operatingStatus != .permanentlyClosed {
            counts[place.category, default: 0] += 1
        }
        let items = counts.map { CategoryCount(name: $0.key, count: $0.value) }
        return .now(DatasetCounts(items, datasetID: currentDatasetID))
    }

    /// Counts the places; never throws. There is nothing to credit beyond what each place says.
    package func attributions() -> Stored<DatasetCounts<Attribution>> {
        let sources = Dictionary(grouping: places.compactMap(\.source), by: { ExactName($0.dataset) })
        let attributions = sources.map { name, sources in
            Attribution(
                dataset: name.text, license: Set(sources.map(\.license)).sorted().joined(separator: " AND "),
                places: sources.count)
        }
        return .now(DatasetCounts(attributions, datasetID: currentDatasetID))
    }

    /// Always reachable.
    package func checkHealth() async -> StoreHealth? {
        .reachable(missingMigrations: [])
    }

    /// Nothing to release.
    package func close() async {}
}

extension PointOfInterest {
    /// The same place with a name in a language.
    package func named(
        _ name: String, in language: String?, label: String? = nil
    ) -> PointOfInterest {
        PointOfInterest(
            id: id, name: name, category: category, latitude: latitude, longitude: longitude,
            featured: featured,
            distance: distance, address: address, website: website, source: source, importance: importance,
            properties: properties, language: language, leftOut: leftOut, categoryLabel: label,
            operatingStatus: operatingStatus)
    }

    /// The same place with the name that it was found by, and the word that it was found without.
    fileprivate func found(by name: String?, without word: String?) -> PointOfInterest {
        PointOfInterest(
            id: id, name: self.name, category: category, latitude: latitude, longitude: longitude,
            featured: featured,
            distance: distance, address: address, website: website, source: source, importance: importance,
            properties: properties, language: language, matchedName: name, leftOut: word,
            categoryLabel: categoryLabel, operatingStatus: operatingStatus)
    }
}

/// A place that a search by relevance finds.
private struct FoundPlace {
    let place: PointOfInterest
    let names: [String]
    let match: ExpectedRelevance.Match
    /// The word that it is found without, as it is written.
    let leftOut: String?
    let isNear: Bool
    let distanceMeters: Double

    var points: Int { match.points(importance: place.importance, isNear: isNear) }

    /// What it is ordered by: group, points, distance, id.
    var order: [Double] {
        [Double(match.group), Double(-points), distanceMeters, Double(place.id)]
    }

    /// The order of the place that a page ends with.
    static func order(_ rank: RelevanceRank, _ distanceMeters: Double, _ id: Int64) -> [Double] {
        [Double(rank.group.rawValue), Double(-rank.points), distanceMeters, Double(id)]
    }

    /// Where a page ends with this place.
    func position(after count: Int) -> PagePosition {
        let rank = RelevanceRank(
            match.relevanceClass, importance: UInt16(place.importance), isNear: isNear,
            leavesOut: match.leftOut != nil)
        precondition(
            rank.group.rawValue == match.group && rank.points == points,
            "\(match) has the group \(rank.group) and \(rank.points) points instead of \(points)")
        return PagePosition(
            rank: rank, distanceMeters: distanceMeters, id: Int64(place.id), count: count)
    }
}

extension ExpectedRelevance.Match {
    /// What the server calls it.
    fileprivate var relevanceClass: RelevanceClass {
        switch relevance {
        case .name?: .name
        case .category?: .category
        case .beginning?: .beginning
        case .words?: .words
        case .surroundings?: .surroundings
        case .elsewhere?: .surroundingsOnly
        case .error?: .error
        case nil: step == .begunError ? .begunError : .twoErrors
        }
    }
}

extension StoredPlace {
    /// All names, in the order in which the first of several is the one that a place was found by.
    fileprivate var allNames: [String] {
        [place.name] + names.sorted { $0.key.lowercased() < $1.key.lowercased() }.map(\.value) + otherNames
    }
}

extension PropertyFilter {
    /// Whether a place has one of the values. The name is that of a property whose values are all of the right kind.
    ///
    /// Swift compares texts by canonical equivalence, which is comparing them in Normalization Form C.
    fileprivate func keeps(_ place: PointOfInterest) -> Bool {
        let member = place.properties?.members.first { $0.name.utf8.elementsEqual(name.utf8) }
        let texts: [JSONValue] =
            switch member?.value {
            case .boolean(let value)?: [.string(value ? "true" : "false")]
            case .array(let values)?: values
            case let value?: [value]
            case nil: []
            }
        return texts.contains { text in
            if case .string(let text) = text { values.contains(text) && !text.contains(",") } else { false }
        }
    }
}

extension Candidate {
    fileprivate init(_ place: PointOfInterest) {
        self.init(id: Int64(place.id), latitude: place.latitude, longitude: place.longitude)
    }
}

extension NowOrLater {
    /// The value where it is there; nil where it has to be waited for.
    package var atOnce: Value? {
        if case .now(let value) = self { value } else { nil }
    }
}
