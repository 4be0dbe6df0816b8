import Foundation
import PointsOfInterestClient
import Testing

/// What holds of searches by relevance without ranking the places again; the ranking itself is held against the rule by
/// the service's own tests.
@Suite("Searching a region by relevance", .timeLimit(.minutes(2)))
struct RelevanceTests {
    /// A text, and which places it has to find beside those whose names have its words.
    private typealias Search = (text: String, finds: (RegionPlace) -> Bool)

    /// Searches the region for texts, and checks the first pages.
    private func check(
        sourceLocation: SourceLocation = #_sourceLocation, _ searches: (Region) throws -> [Search]
    ) async throws {
        try await Region.compare(sourceLocation: sourceLocation) { region, differences in
            for search in try searches(region) {
                var request = NearbyPlacesRequest(box: region.box, limit: 100, searchText: search.text)
                request.sort = .relevance
                let (places, isWhole) = try await firstPlaces(request)
                try check(places, of: request, &differences)
                for place in places {
                    let known = region.place(id: place.id)
                    let others = known.map { place.differences(from: $0.place) } ?? ["isn't in the region"]
                    differences.expect(others.isEmpty, "\(search.text): \(place.name): \(others)")
                }
                guard isWhole else { continue }
                let ids = Set(places.map(\.id))
                for known in region.places where !ids.contains(known.place.id) {
                    differences.expect(
                        !known.name.match(search.text) && !search.finds(known),
                        "\(search.text): \(known.place.name) is missing")
                }
            }
        }
    }

    /// The places of the first five pages, and whether there are no more.
    private func firstPlaces(
        _ request: NearbyPlacesRequest
    ) async throws -> (places: [PointOfInterest], isWhole: Bool) {
        let pager = try await Service.client().pager(for: request)
        var places: [PointOfInterest] = []
        for _ in 0..<5 {
            guard let page = try await pager.loadNext() else { return (places, true) }
            places += page.places
        }
        return (places, try await pager.loadNext() == nil)
    }

    private func check(
        _ places: [PointOfInterest], of request: NearbyPlacesRequest, _ differences: inout Differences
    ) throws {
        let (query, text) = ("/locations?\(request.encodedQuery)", request.searchText ?? "")
        differences.expect(Set(places.map(\.id)).count == places.count, "\(query): a place comes twice")
        for place in places {
            let found = place.matchedName ?? place.name
            let texts = [found, place.category, place.address ?? ""]
            let searched = NameWords.SearchText(text.without(place.leftOut))
            differences.expect(
                texts.contains { searched.resembles(NameWords($0)) },
                "\(query): \(place.name) isn't found by \(found)")
            differences.expect(
                place.matchedName != place.name, "\(query): \(place.name) twice as the name of a place")
        }
        try checkOrder(places, of: request, &differences)
    }

    /// Checks the order of those places that are found by the name that is shown, and of which it is plain how.
    private func checkOrder(
        _ places: [PointOfInterest], of request: NearbyPlacesRequest, _ differences: inout Differences
    ) throws {
        let (query, text) = ("/locations?\(request.encodedQuery)", request.searchText ?? "")
        guard text.wholeMatch(of: Self.plain) != nil else { return }
        let plain = try places.compactMap { place -> (isName: Bool, isNear: Bool, rank: (Int, Double))? in
            let name = place.name.lowercased()
            guard place.matchedName == nil, place.leftOut == nil, name.wholeMatch(of: Self.plain) != nil,
                name.hasPrefix(text.lowercased()), place.category != text.lowercased()
            else { return nil }
            return (
                name == text.lowercased(), place.distance.map { $0 <= 50_000 } ?? false,
                (-place.importance, try meters(to: place, request))
            )
        }
        for (index, one) in plain.enumerated() {
            for other in plain[(index + 1)...] where one.isNear == other.isNear {
                // A name comes before a longer one that is no more important.
                differences.expect(
                    one.isName || !other.isName || one.rank.0 < other.rank.0,
                    "\(query): a place of this name isn't among the first")
                guard one.isName == other.isName else { continue }
                let isInOrder =
                    one.rank.0 < other.rank.0
                    || one.rank.0 == other.rank.0 && one.rank.1 <= other.rank.1 + 0.1
                differences.expect(isInOrder, "\(query): places that are found alike aren't in order")
            }
        }
    }

    /// A text of which it is plain which words it has.
    private static var plain: Regex<(Substring, Substring?)> { /[A-Za-z]+( [A-Za-z]+)*/ }

    private func meters(to place: PointOfInterest, _ request: NearbyPlacesRequest) throws -> Double {
        if request.center != nil { return place.distance ?? -1 }
        guard let middle = try request.box?.middlePoint else { return 0 }
        return Vincenty.meters(from: middle, to: place.position) ?? .infinity
    }

    @Test(
        "A name comes before longer ones, the important places come first, and none twice",
        .contract(
            .invariant, in: .locations,
            otherwise: "Who types the name of a city gets a hamlet that has it somewhere in its name."),
        .needs(.word))
    func order() async throws {
        try await check { region in
            let word = try region.needed(\.word, .word)
            let texts = [word, String(word.prefix(2)), region.places[0].place.name.searchText]
            return (texts + [region.words.run, region.words.accented].compactMap(\.self)).map {
                ($0, { _ in false })
            }
        }
    }

    @Test(
        "A place is found in spite of an error, by words written together, and by its category behind a word",
        .contract(
            .invariant, in: .locations,
            otherwise:
                "A user finds nothing by \"HongKong\", \"Plaza Hotel\", or two letters that are swapped."),
        .needs(.word))
    func leniency() async throws {
        try await check { region in
            let word = try region.needed(\.word, .word)
            var (swapped, other) = (Array(word), Array(word))
            swapped.swapAt(1, 2)
            other[other.count - 1] = "q"
            let errors = [String(swapped), String(word.dropFirst()), "\(word)q", String(other), "q\(word)"]
            var searches: [Search] = errors.map { text in
                (text, { text.count >= 4 && $0.name.plainWords.contains(word) })
            }
            let category = try #require(region.places.first { $0.name.match(word) }).place.category
            searches.append(
                ("\(word) \(category)".searchText, { $0.name.match(word) && $0.place.category == category }))
            let twoWords = region.first { $0.name.wholeMatch(of: /[A-Za-z]{2,40} [A-Za-z]{2,40}/) != nil }
            if let name = twoWords?.name {
                searches.append((name.replacing(" ", with: ""), { $0.place.name.isExactly(name) }))
            }
            return searches
        }
    }

    @Test(
        "A place that is found by another name than the one that is shown says by which",
        .contract(
            .invariant, in: .locations,
            otherwise: "A user who searches in the own script doesn't see why a place was found."),
        .needs(.names))
    func matchedName() async throws {
        try await Region.compare { _, differences in
            let place = try await Fact.names.needed()
            let plain = try await Service.client().place(id: place.id)
            guard place.name.searchText.isExactly(place.name), NameWords.count(in: place.name) > 0
            else { return }
            let properties = Array((plain.properties?.valuesByName.keys.sorted() ?? []).prefix(20))
            for languages in [[], [try #require(place.language)]] {
                var request = NearbyPlacesRequest(searchText: place.name, center: place.position, limit: 100)
                request.radiusMeters = 1
                request.languages = languages
                request.properties = properties
                let found = try await firstPlaces(request).places
                try check(found, of: request, &differences)
                let own = found.first { $0.id == place.id }
                differences.expect(own != nil, "place \(place.id) isn't found by \(place.name)")
                differences.expect(
                    properties.allSatisfy { own?.properties?[$0] == plain.properties?[$0] },
                    "place \(place.id) lacks properties of its details")
                // As a whole it is found by a name of the same words, and by no other.
                let name = own?.matchedName ?? own?.name ?? ""
                let counts = [name, place.name].map(NameWords.count)
                differences.expect(
                    NameWords(name).match(place.name) && counts[0] == counts[1],
                    "place \(place.id) in \(languages): \(own?.name ?? ""), found by \(name)")
                differences.expect(
                    own?.name.isExactly(place.name) == false || own?.matchedName == nil,
                    "place \(place.id) in \(languages) is found by \(name)")
                let feature = try await Service.geoJSONPlaces(request).first { $0?.id == place.id }
                differences.expect(feature == own, "place \(place.id) in \(languages) as GeoJSON")
            }
        }
    }

    @Test(
        "Without a centre places have no distance, and pages of any size have the same order",
        .contract(
            .invariant, in: .locations, otherwise: "A search without a location shows a place twice, or none."
        ),
        .needs(.word))
    func everywhere() async throws {
        try await Region.compare { region, differences in
            let word = try region.needed(\.word, .word)
            var request = NearbyPlacesRequest(searchText: String(word.prefix(3)), limit: 12)
            let (whole, _) = try await firstPlaces(request)
            try check(whole, of: request, &differences)
            differences.expect(whole.allSatisfy { $0.distance == nil }, "a distance from nowhere")
            request.limit = 5
            let (pages, _) = try await firstPlaces(request)
            differences.expect(pages.count, is: min(whole.count, 25), "places in five pages of 5")
            for (one, other) in zip(pages, whole) {
                differences.expect(one.id, is: other.id, "a place in pages of 5 and of 12")
            }
        }
    }
}

extension String {
    /// The text without a word that is written there; itself without one.
    fileprivate func without(_ word: String?) -> String {
        word.flatMap { range(of: $0) }.map { replacingCharacters(in: $0, with: " ") } ?? self
    }

    /// No longer than a search text may be.
    var searchText: String { String(String.UnicodeScalarView(unicodeScalars.prefix(100))) }
}

extension NameWords {
    /// How many words a text has, each run as one.
    fileprivate static func count(in text: String) -> Int {
        pieces(of: FoldedCharacter.characters(of: text)).count
    }
}

extension NameWords.SearchText {
    /// The least that a place needs to be found by a name: a word of it begins or ends as the first word of the text, of
    /// which an error, an abbreviation or a missing space leaves so much.
    fileprivate func resembles(_ name: NameWords) -> Bool {
        guard let word = words.first else { return false }
        return name.words.contains { other in
            [word.plain, word.spelledOut].contains { $0.first == other.first || $0.last == other.last }
        }
    }
}
