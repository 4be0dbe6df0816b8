import Foundation
import PointsOfInterestClient
import Testing

extension Region {
    /// Sends a search of a page and compares the response with brute force.
    func compare(_ request: NearbyPlacesRequest, into differences: inout Differences) async throws {
        let expected = try ExpectedSearch(request, in: self)
        let page = try await Service.client().nearbyPlaces(request)
        let limit = request.limit ?? NearbyPlacesRequest.defaultLimit
        expected.compare(page.places, limit: limit, into: &differences)
        try await expected.compareOtherNames(of: page.places, into: &differences)
        differences.expect(
            page.next != nil || expected.certainCount <= page.places.count,
            "/locations?\(request.encodedQuery): no link to the places that follow")
    }
}

@Suite("Searches in a region whose places are all known", .timeLimit(.minutes(2)))
struct RegionTests {
    @Test(
        "Searches from several centres return a region's places nearest first, with distances and all members",
        .contract(
            .invariant, in: .locations,
            otherwise: "The app would show places in the wrong order, or leave a nearer one out."),
        .needs(.place))
    func nearest() async throws {
        try await Region.compare { region, differences in
            let sorted = region.places.sorted { $0.place.latitude < $1.place.latitude }
            for (place, limit) in [(sorted[0], 33), (sorted[sorted.count / 2], nil)] {
                var request = NearbyPlacesRequest(box: region.box, limit: limit)
                request.center = place.position
                try await region.compare(request, into: &differences)
            }
            var request = NearbyPlacesRequest(box: region.box, limit: 100)
            request.center = try #require(region.quarter).middlePoint
            try await region.compare(request, into: &differences)
        }
    }

    @Test(
        "Distances have one decimal at most",
        .contract(
            .invariant, in: .conventions,
            otherwise: "Two apps that round for themselves would show different distances."),
        .needs(.place))
    func rounding() async throws {
        try await Region.compare { region, differences in
            var request = NearbyPlacesRequest(box: region.box, limit: 20)
            request.center = try #require(region.quarter).middlePoint
            let response = try await PlacesResponse(to: "/locations?" + request.encodedQuery)
            for distance in try response.distances {
                let number = try #require(distance)
                differences.expect((number * 10).rounded() / 10 == number, "a distance of \(number)")
            }
        }
    }

    @Test(
        "A radius keeps the places within it, to the place at its very edge",
        .contract(
            .invariant, in: .locations,
            otherwise: "The app would miss places that are near enough, or show some that aren't."),
        .needs(.place))
    func radius() async throws {
        try await Region.compare { region, differences in
            let (place, maximum) = try #require(region.disc)
            var request = NearbyPlacesRequest(box: region.box, limit: 40)
            request.center = place.position
            let nearest = try await Service.client().nearbyPlaces(request).places
            request.box = nil
            request.limit = 100
            let far = nearest.last { $0.distance ?? 0 > 0.1 && $0.distance ?? .infinity < maximum - 1 }
            let radius = far?.distance ?? maximum / 2
            for radius in [max(0.01, radius - 0.06), radius + 0.06] {
                request.radiusMeters = radius
                try await region.compare(request, into: &differences)
            }
        }
    }

    @Test(
        "A page has the nearest places, as many as its limit",
        .contract(
            .invariant, in: .locations, otherwise: "The app would show fewer places than it asked for."),
        .needs(.place), arguments: [1, 13])
    func limit(limit: Int) async throws {
        try await Region.compare { region, differences in
            try await region.compare(NearbyPlacesRequest(box: region.box, limit: limit), into: &differences)
        }
    }

    @Test(
        "A filter by categories returns the places of any of them, and no others",
        .contract(
            .invariant, in: .locations,
            otherwise: "The app would show places of categories that were not chosen, or miss some."),
        .needs(.twoCategories))
    func categories() async throws {
        try await Region.compare { region, differences in
            let names = region.categories
            for chosen in [[names[0]], [names[names.count / 2], names[0]]] {
                try await region.compare(
                    NearbyPlacesRequest(box: region.box, limit: 100, categories: chosen), into: &differences)
            }
        }
    }

    @Test(
        "A filter by datasets returns the places that came from any of them, and no others",
        .contract(
            .invariant, in: .locations,
            otherwise: "An app that shows its team's own places would show others among them, or miss some."),
        .needs(.source))
    func datasets() async throws {
        try await Region.compare { region, differences in
            // Also one that has no places here, if there is one.
            let names = try await Service.client().attributions().map(\.dataset)
            for chosen in [names.prefix(1), names.suffix(1), names.prefix(50)] {
                var request = NearbyPlacesRequest(box: region.box, limit: 100)
                request.datasets = Array(chosen)
                try await region.compare(request, into: &differences)
            }
            // A dataset without places here is asked for where it has one, as one of several.
            let here = Set(region.places.compactMap { $0.place.source?.dataset })
            for name in names.prefix(50) where !here.contains(name) {
                let earth = try #require(BoundingBox(west: -180, south: -90, east: 180, north: 90))
                var request = NearbyPlacesRequest(box: earth, limit: 1)
                request.datasets = [name]
                guard let place = try await Service.client().nearbyPlaces(request).places.first else {
                    continue
                }
                request = NearbyPlacesRequest(
                    center: RegionPlace(place).position, radiusMeters: 1, limit: 100)
                request.datasets = Array(names.prefix(50))
                let around = try await Service.client().nearbyPlaces(request).places
                differences.expect(
                    around.count == 100 || around.contains { $0.id == place.id },
                    "\(request.encodedQuery) lacks the place \(place.id) of \(name)")
            }
        }
    }

    @Test(
        "A filter by featured returns only featured places, or only the others",
        .contract(
            .invariant, in: .locations,
            otherwise: "The app would put places first that nobody has chosen to feature."),
        .needs(.featured), .needs(.notFeatured))
    func featured() async throws {
        try await Region.compare { region, differences in
            for featured in [true, false] {
                try await region.compare(
                    NearbyPlacesRequest(box: region.box, limit: 50, featured: featured), into: &differences)
            }
        }
    }

    @Test(
        "A box holds the places in it and on its edges, in the order from its middle where there is no centre",
        .contract(
            .invariant, in: .locations,
            otherwise: "A map would lack places that are on it, at its edges for instance."),
        .needs(.place))
    func boxes() async throws {
        try await Region.compare { region, differences in
            let place = region.places[region.places.count / 2].place
            let point = BoundingBox(
                west: place.longitude, south: place.latitude, east: place.longitude, north: place.latitude)
            var boxes = [region.quarter, region.corners(at: place), point].compactMap(\.self)
            if region.isWholeEarth { boxes.append(try FoundBox.box(150, -60, -100, 60)) }
            for box in boxes {
                try await region.compare(NearbyPlacesRequest(box: box, limit: 50), into: &differences)
            }
        }
    }

    @Test(
        "Filters that are combined return the places that match all of them",
        .contract(
            .invariant, in: .locations,
            otherwise: "An app that combines two filters would lose one of them."),
        .needs(.word))
    func together() async throws {
        try await Region.compare { region, differences in
            let word = try region.needed(\.word, .word)
            let place = try #require(region.first { NameWords($0.name).match(word) })
            var request = NearbyPlacesRequest(
                box: region.box, limit: 100, categories: [place.category], searchText: word,
                featured: place.featured)
            request.datasets = place.source.map { [$0.dataset] } ?? []
            try await region.compare(request, into: &differences)
            request.box = nil
            let disc = try #require(region.disc)
            (request.center, request.radiusMeters) = (disc.center.position, max(0.1, disc.radius))
            request.featured = nil
            try await region.compare(request, into: &differences)
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
            let byDataset = Dictionary(attributions.map { ($0.dataset, $0) }, uniquingKeysWith: { $1 })
            let counts = Dictionary(grouping: region.places.compactMap(\.place.source), by: \.dataset)
            for (dataset, sources) in counts {
                let places = byDataset[dataset]?.places ?? 0
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
