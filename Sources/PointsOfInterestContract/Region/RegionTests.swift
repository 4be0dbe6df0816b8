import Foundation
import PointsOfInterestClient
import Testing

@Suite("Searches in a region whose places are all known", .timeLimit(.minutes(2)))
struct RegionTests {
    @Test(
        "Searches return a region's nearest places in order, as many as their limit, with distances and all members",
        .contract(
            .invariant, in: .locations,
            otherwise: "The app would show places in the wrong order, or leave a nearer one out."),
        .needs(.place))
    func nearest() async throws {
        try await Region.compareSearches { region in
            let sorted = region.places.map(\.place).sorted { $0.latitude < $1.latitude }
            let places = [sorted[0], sorted[sorted.count / 2]]
            let centers: [Coordinate?] = places.map(\.position) + [try region.quarter.middlePoint]
            return zip(centers + [nil, nil], [33, nil, 100, 1, 13]).map { center, limit in
                var request = NearbyPlacesRequest(box: region.box, limit: limit)
                request.center = center
                return request
            }
        }
    }

    @Test(
        "Distances have one decimal at most",
        .contract(
            .invariant, in: .conventions,
            otherwise: "Two apps that round for themselves would show different distances."), .needs(.place))
    func rounding() async throws {
        try await Region.compare { region, differences in
            var request = NearbyPlacesRequest(box: region.box, limit: 20)
            request.center = try region.quarter.middlePoint
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
            let (place, maximum) = region.disc
            var request = NearbyPlacesRequest(box: region.box, limit: 40)
            request.center = place.position
            let nearest = try await Service.client().nearbyPlaces(request).places
            (request.box, request.limit) = (nil, 100)
            let far = nearest.last { $0.distance ?? 0 > 0.1 && $0.distance ?? .infinity < maximum - 1 }
            let radius = far?.distance ?? maximum / 2
            for radius in [max(0.01, radius - 0.06), radius + 0.06] {
                request.radiusMeters = radius
                try await region.compare(request, into: &differences)
            }
        }
    }

    @Test(
        "A filter by categories returns the places of any of them, and no others",
        .contract(
            .invariant, in: .locations,
            otherwise: "The app would show places of categories that were not chosen, or miss some."),
        .needs(.twoCategories))
    func categories() async throws {
        try await Region.compareSearches { region in
            let names = region.categories
            return [[names[0]], [names[names.count / 2], names[0]]].map {
                NearbyPlacesRequest(box: region.box, limit: 100, categories: $0)
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
        // Also one that has no places here, if there is one.
        let names = try await Service.client().attributions().map(\.dataset)
        try await Region.compareSearches { region in
            [names.prefix(1), names.suffix(1), names.prefix(50)].map { chosen in
                var request = NearbyPlacesRequest(box: region.box, limit: 100)
                request.datasets = Array(chosen)
                return request
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
        try await Region.compareSearches { region in
            [true, false].map { NearbyPlacesRequest(box: region.box, limit: 50, featured: $0) }
        }
    }

    @Test(
        "A box holds the places in it and on its edges, in the order from its middle where there is no centre",
        .contract(
            .invariant, in: .locations,
            otherwise: "A map would lack places that are on it, at its edges for instance."), .needs(.place))
    func boxes() async throws {
        try await Region.compareSearches { region in
            let (one, other) = (region.places[region.places.count / 2].place, region.places[0].place)
            // With a place at one of its corners and another at the opposite one.
            let corners = try BoundingBox.edges(
                min(one.longitude, other.longitude), min(one.latitude, other.latitude),
                max(one.longitude, other.longitude), max(one.latitude, other.latitude))
            let pacific = region.isWholeEarth ? [try BoundingBox.edges(150, -60, -100, 60)] : []
            return ([try region.quarter, corners, try one.pointBox] + pacific).map {
                NearbyPlacesRequest(box: $0, limit: 50)
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
        try await Region.compareSearches { region in
            let word = try region.needed(\.word, .word)
            let place = try #require(region.places.first { $0.name.match(word) }?.place)
            var request = NearbyPlacesRequest(
                box: region.box, limit: 100, categories: [place.category], searchText: word,
                featured: place.featured)
            request.datasets = place.source.map { [$0.dataset] } ?? []
            let (center, radius) = region.disc
            var around = request
            (around.box, around.center, around.radiusMeters) = (nil, center.position, max(0.1, radius))
            around.featured = nil
            return [request, around]
        }
    }
}

@Suite("Searching for words of names in a region", .timeLimit(.minutes(2)))
struct RegionTextTests {
    private func compare(
        sourceLocation: SourceLocation = #_sourceLocation, _ texts: (Region) throws -> [String]
    ) async throws {
        try await Region.compareSearches(sourceLocation: sourceLocation) { region in
            try texts(region).map { NearbyPlacesRequest(box: region.box, limit: 50, searchText: $0) }
        }
    }

    @Test(
        "A word, or its beginning, finds the places that have it, whatever the case and added accents, and no others",
        .contract(
            .invariant, in: .locations, otherwise: "A search field would not find what was typed."),
        .needs(.word))
    func word() async throws {
        try await compare { region in
            let word = try region.needed(\.word, .word)
            let others = [RegionWords.withAccent(word), region.words.run].compactMap(\.self)
            return [word, String(word.prefix(3)), word.uppercased()] + others
        }
    }

    @Test(
        "Two words find the places with both, not those with one of them",
        .contract(
            .invariant, in: .locations,
            otherwise: "A search for a full name would list everything that shares a word with it."),
        .needs(.sharedWord))
    func twoWords() async throws {
        try await compare { region in
            let pair = try region.needed(\.pair, .sharedWord)
            return ["\(pair.first) \(pair.second)", "\(pair.second) \(pair.first)"]
        }
    }

    @Test(
        "The end of a word doesn't find its place, unless that has another name",
        .contract(
            .invariant, in: .locations,
            otherwise: "A search for a short word would list all places with it anywhere in their names."),
        .needs(.word))
    func ends() async throws {
        try await Region.compare { region, differences in
            var (triedCount, found) = (0, [String]())
            for known in region.places where triedCount < 8 {
                let word = known.name.plainWords.first { $0.utf8.count >= 6 }
                guard let end = word.map({ String($0.suffix(4)) }), !known.name.match(end) else { continue }
                triedCount += 1
                if try await known.place.isFound(by: end) { found.append("\(known.place.name) by \(end)") }
            }
            // A few may have such names, but not most.
            differences.expect(2 * found.count <= triedCount, "found: \(found)")
        }
    }

    @Test(
        "A name with accents is found with them and without",
        .contract(
            .invariant, in: .locations,
            otherwise: "People without these letters on their keyboards would not find the place."),
        .needs(.accentedWord))
    func accents() async throws {
        try await compare { region in
            let word = try region.needed(\.accented, .accentedWord)
            return [word, word.decomposedStringWithCanonicalMapping] + NameWords(word).plainWords
        }
    }
}
