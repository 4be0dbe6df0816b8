import Foundation
import PointsOfInterestClient
import Testing

@Suite("Searching a region by relevance", .timeLimit(.minutes(2)))
struct RelevanceTests {
    /// Searches the region for texts, and compares the first pages with the rule applied to every place.
    private func compare(
        sourceLocation: SourceLocation = #_sourceLocation, _ texts: (Region) throws -> [String]
    ) async throws {
        try await Region.compare(sourceLocation: sourceLocation) { region, differences in
            for text in try texts(region) {
                var request = NearbyPlacesRequest(box: region.box, limit: 100, searchText: text)
                request.sort = .relevance
                let expected = ExpectedRelevance(searchText: text)
                guard let (places, isWhole) = try await firstPlaces(request) else { return }
                try check(places, of: request, expected, &differences)
                guard isWhole else { continue }
                let ids = Set(places.map(\.id))
                for known in region.places where !ids.contains(known.place.id) {
                    differences.expect(
                        expected.found(known.ranked) == nil, "\(text): \(known.place.name) is missing")
                }
            }
        }
    }

    /// The places of the first five pages, and whether there are no more; nil where the service has no places in memory.
    private func firstPlaces(
        _ request: NearbyPlacesRequest
    ) async throws -> (places: [PointOfInterest], isWhole: Bool)? {
        let pager = try await Service.client().pager(for: request)
        var places: [PointOfInterest] = []
        do {
            for _ in 0..<5 {
                guard let page = try await pager.loadNext() else { return (places, true) }
                places += page.places
            }
        } catch RequestError.problem(let problem) where problem.code == .indexRequired {
            return nil
        }
        return (places, try await pager.loadNext() == nil)
    }

    /// Checks that places are found by the name that the response says, and that they are in order.
    private func check(
        _ places: [PointOfInterest], of request: NearbyPlacesRequest, _ expected: ExpectedRelevance,
        _ differences: inout Differences
    ) throws {
        let query = "/locations?\(request.encodedQuery)"
        differences.expect(Set(places.map(\.id)).count == places.count, "\(query): a place comes twice")
        var last: (order: [Int], meters: Double, place: PointOfInterest)?
        for place in places {
            let shown = expected.relevance(of: place, by: place.name)
            let found = place.matchedName.map { expected.relevance(of: place, by: $0) } ?? shown
            guard let found else {
                differences.expect(
                    false, "\(query): \(place.name) isn't found by \(place.matchedName ?? "it")")
                continue
            }
            differences.expect(
                place.matchedName == nil || found.rawValue < shown?.rawValue ?? .max,
                "\(query): \(place.name) is found as well by itself as by \(place.matchedName ?? "")")
            let order = [found.rawValue, -place.importance]
            let meters = try meters(to: place, request)
            if let last {
                differences.expect(
                    last.order.lexicographicallyPrecedes(order)
                        || last.order == order && (last.meters, last.place.id) < (meters + 0.1, place.id),
                    "\(query): \(last.place.name) before \(place.name)")
            }
            last = (order, meters, place)
        }
    }

    private func meters(to place: PointOfInterest, _ request: NearbyPlacesRequest) throws -> Double {
        if request.center != nil { return place.distance ?? -1 }
        let position = Coordinate(validLatitude: place.latitude, validLongitude: place.longitude)
        guard let middle = try request.box?.middlePoint else { return 0 }
        return Vincenty.meters(from: middle, to: position) ?? .infinity
    }

    @Test(
        "A name comes first, then those that begin with it, those with its words, and the important ones among them",
        .contract(
            .invariant, in: .locations,
            otherwise: "Who types the name of a city gets a hamlet that has it somewhere in its name."),
        .needs(.word))
    func order() async throws {
        try await compare { region in
            let word = try region.needed(\.word, .word)
            return [word, String(word.prefix(2)), region.places[0].place.name.searchText]
                + [region.words.run, region.words.accented].compactMap(\.self)
        }
    }

    @Test(
        "A place is found by its name with words written together, and by words of its category behind one of its own",
        .contract(
            .invariant, in: .locations,
            otherwise: "A user finds nothing by \"HongKong\" or \"Plaza Hotel\"."),
        .needs(.word))
    func surroundings() async throws {
        try await compare { region in
            let known = try #require(region.places.first { $0.name.plainWords.contains { $0.count > 2 } })
            let word = try #require(known.name.plainWords.filter { $0.count > 2 }.min())
            let joined = known.place.name.split(separator: " ").joined()
            return ["\(word) \(known.place.category)".searchText, String(joined).searchText]
        }
    }

    @Test(
        "A place is found in spite of an error in a word of four letters or more",
        .contract(
            .invariant, in: .locations, otherwise: "A user who swaps two letters finds nothing."),
        .needs(.word))
    func errors() async throws {
        try await compare { region in
            let word = try region.needed(\.word, .word)
            var (swapped, other) = (Array(word), Array(word))
            swapped.swapAt(1, 2)
            other[other.count - 1] = "q"
            return [String(swapped), String(word.dropFirst()), "\(word)q", String(other), "q\(word)"]
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
            guard let place = try await Fact.example(of: .names) else { throw NotShown(fact: .names) }
            let plain = try await Service.client().place(id: place.id)
            let expected = ExpectedRelevance(searchText: place.name.searchText)
            guard let best = expected.relevance(of: plain, by: place.name) else { return }
            let properties = Array((plain.properties?.valuesByName.keys.sorted() ?? []).prefix(20))
            for languages in [[], [try #require(place.language)]] {
                var request = NearbyPlacesRequest(
                    searchText: place.name.searchText,
                    center: Coordinate(validLatitude: place.latitude, validLongitude: place.longitude),
                    limit: 100)
                request.radiusMeters = 1
                request.languages = languages
                request.properties = properties
                guard let found = try await firstPlaces(request)?.places else { return }
                try check(found, of: request, expected, &differences)
                let own = found.first { $0.id == place.id }
                differences.expect(own != nil, "place \(place.id) isn't found by \(place.name)")
                differences.expect(
                    properties.allSatisfy { own?.properties?[$0] == plain.properties?[$0] },
                    "place \(place.id) lacks properties of its details")
                let isShown = expected.relevance(of: plain, by: own?.name ?? "") == best
                differences.expect(
                    isShown == (own?.matchedName == nil),
                    "place \(place.id) in \(languages): \(own?.name ?? ""), found by \(own?.matchedName ?? "it")"
                )
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
            guard let (whole, _) = try await firstPlaces(request) else { return }
            try check(whole, of: request, ExpectedRelevance(searchText: String(word.prefix(3))), &differences)
            differences.expect(whole.allSatisfy { $0.distance == nil }, "a distance from nowhere")
            request.limit = 5
            guard let (pages, _) = try await firstPlaces(request) else { return }
            differences.expect(pages.count, is: min(whole.count, 25), "places in five pages of 5")
            for (one, other) in zip(pages, whole) {
                differences.expect(one.id, is: other.id, "a place in pages of 5 and of 12")
            }
        }
    }
}

extension String {
    /// No longer than a search text may be.
    fileprivate var searchText: String { String(String.UnicodeScalarView(unicodeScalars.prefix(100))) }
}

extension ExpectedRelevance {
    /// The class of a place by one of its names; nil where it isn't found by that.
    fileprivate func relevance(of place: PointOfInterest, by name: String) -> Class? {
        found(Place(place, name: name))?.relevance
    }
}

extension ExpectedRelevance.Place {
    /// A place by one of its names.
    init(_ place: PointOfInterest, name: String) {
        self.init(names: [name], address: place.address, category: place.category)
    }
}
