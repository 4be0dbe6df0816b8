import PointsOfInterestClient
import Testing

@Suite("Pages of searches in a region", .timeLimit(.minutes(2)))
struct RegionPageTests {
    private static let maximumPages = 6

    @Test(
        "The pages of a filtered search have each of its places once, and no others",
        .contract(
            .invariant, in: .locations,
            otherwise: "A list that goes on while it is scrolled would show places that don't match."),
        .needs(.morePages))
    func filteredPages() async throws {
        try await Region.compareSearches(pages: Self.maximumPages) { region in
            // Best one with several pages, but no more than are followed.
            let counts = Dictionary(grouping: region.places, by: \.place.category).mapValues(\.count)
            let categories = region.categories
            let category =
                categories.first { (8...7 * Self.maximumPages).contains(counts[$0, default: 0]) }
                ?? categories[0]
            var request = NearbyPlacesRequest(box: region.box, limit: 7, categories: [category])
            request.center = region.first { $0.category != category }?.position
            var ofDataset = request
            ofDataset.categories = []
            ofDataset.datasets = region.first { $0.source != nil }?.source.map { [$0.dataset] } ?? []
            return [request, ofDataset]
        }
    }

    @Test(
        "The pages of a search for a text, around a centre or in a box, have each match once",
        .contract(
            .invariant, in: .locations,
            otherwise: "A search's list would repeat places, or end before the last."), .needs(.word))
    func textPages() async throws {
        try await Region.compareSearches(pages: Self.maximumPages) { region in
            let word = try region.needed(\.word, .word)
            let place = try #require(region.places.first { $0.name.match(word) }?.place)
            let (center, radius) = region.disc
            return [
                NearbyPlacesRequest(
                    center: center.position, radiusMeters: max(0.1, radius), limit: 7, searchText: word),
                NearbyPlacesRequest(
                    box: region.box, limit: 4, searchText: String(word.prefix(3)), featured: place.featured),
            ]
        }
    }

    @Test(
        "Places at one position come in ascending order of id, on one page and over several",
        .contract(
            .invariant, in: .locations,
            otherwise: "Places in one building would change their order, or vanish between two pages."),
        .needs(.onePosition))
    func ties() async throws {
        try await Region.compareSearches(pages: Self.maximumPages) { region in
            guard let crowd = region.crowds.first else { throw NotShown(fact: .onePosition) }
            return [1, 100].flatMap { limit in
                var request = NearbyPlacesRequest(box: region.box, limit: limit)
                request.center = crowd[0].position
                // Seen from elsewhere, too.
                var other = request
                other.center = region.places[region.places.count / 2].place.position
                other.categories = Array(Set(crowd.prefix(50).map(\.category)))
                return [request, other]
            }
        }
    }

    @Test(
        "A page as GeoJSON has the places of the page as JSON, with all members",
        .contract(
            .invariant, in: .forms,
            otherwise: "A map that reads GeoJSON would say something else of a place than the list."),
        .needs(.place))
    func geoJSON() async throws {
        try await Region.compare { region, differences in
            var request = NearbyPlacesRequest(
                box: region.box, limit: 50, categories: Array(region.categories.prefix(3)))
            request.center = try region.quarter.middlePoint
            let places = try await Service.geoJSONPlaces(request)
            differences.expect(!places.contains(nil), "a feature isn't a point")
            try ExpectedSearch(request, in: region)
                .compare(places.compactMap(\.self), isWhole: places.count < 50, into: &differences)
        }
    }
}

@Suite("Attributions, compared with places", .timeLimit(.minutes(2)))
struct RegionAttributionTests {
    @Test(
        "Each place's dataset has an attribution, and attributions have no more places than there are",
        .contract(
            .invariant, in: .attributions,
            otherwise: "A map would show places without the credit that their license asks for."),
        .needs(.source))
    func datasets() async throws {
        try await Region.compare { region, differences in
            let service = try await Service.client()
            let attributions = try await service.attributions()
            let total = try await service.categories().map(\.count).reduce(0, +)
            differences.expect(
                attributions.map(\.places).reduce(0, +) <= total,
                "attributions have more than \(total) places: \(attributions)")
            let byDataset = Dictionary(attributions.map { ($0.dataset, $0.places) }) { $1 }
            let counts = Dictionary(grouping: region.places.compactMap(\.place.source), by: \.dataset)
            for (dataset, sources) in counts {
                let places = byDataset[dataset] ?? 0
                differences.expect(
                    region.isWholeEarth ? places == sources.count : places >= sources.count,
                    "\(places) places of \(dataset), of which the region has \(sources.count)")
            }
        }
    }

    @Test(
        "A credit is a text to show",
        .contract(
            .invariant, in: .attributions,
            otherwise: "A map would have an empty line where the data's license asks for a credit."),
        .needs(.credit))
    func credits() async throws {
        let credits = try await Service.client().attributions().compactMap(\.credit)
        #expect(credits.allSatisfy { !$0.allSatisfy(\.isWhitespace) && !$0.contains(where: \.isNewline) })
    }

    @Test(
        "A URL is a text without white space",
        .contract(
            .invariant, in: .attributions, otherwise: "The link beside a credit would lead nowhere."),
        .needs(.attributionURL))
    func urls() async throws {
        let urls = try await Service.client().attributions().compactMap(\.url)
        #expect(urls.allSatisfy { !$0.isEmpty && !$0.contains(where: \.isWhitespace) })
    }
}
