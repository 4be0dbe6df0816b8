import Foundation
import PointsOfInterestClient
import Testing

@Suite("One place, the categories, and the attributions", .timeLimit(.minutes(2)))
struct EndpointTests {
    @Test(
        "A place by its id is the place of a list, with its distance where there is a centre",
        .contract(
            .invariant, .recorded, in: .place,
            otherwise: "The details of a place differ from its row in the list."), .needs(places: 1))
    func place() async throws {
        let service = try await Service.client()
        let center = try await Service.center()
        let places = try await service.nearbyPlaces(NearbyPlacesRequest(center: center, limit: 5)).places
        #expect(!places.isEmpty)
        for place in places {
            #expect(try await service.place(id: place.id, center: center).inLists == place)
            let alone = try await service.place(id: place.id)
            #expect(alone.distance == nil)
            #expect(alone.name == place.name && alone.source == place.source)
        }
    }

    @Test(
        "A place that isn't there is a 404 problem",
        .contract(
            .invariant, .recorded, in: .place,
            otherwise: "The app offers to try again instead of removing a place that is gone."),
        arguments: ["0", "-1", "01", "9223372036854775807", "x"])
    func noPlace(id: String) async throws {
        let problem = try #require(await Service.problem(of: "/locations/\(id)"))
        #expect(problem.status == 404)
        #expect(problem.code == .notFound)
    }

    @Test(
        "A request for a place with only half of a centre is refused",
        .contract(
            .invariant, .recorded, in: .place,
            otherwise: "The app shows details without a distance, and nobody notices the forgotten parameter."
        ))
    func halfCenter() async throws {
        let problem = try #require(await Service.problem(of: "/locations/1?lat=1"))
        #expect(problem.status == 400)
        #expect(problem.errors.map(\.parameter) == ["long"])
        #expect(problem.code == .missingParameter)
    }

    @Test(
        "Places by their ids come once each, nearest first where there is a centre and else by id, without unknown ones",
        .contract(
            .invariant, .recorded, in: .locations,
            otherwise:
                "A user's favourites are missing, doubled or in disorder, or one that is gone hides the others."
        ),
        .needs(places: 1))
    func byID() async throws {
        let service = try await Service.client()
        let center = try await Service.center()
        let places = try await service.nearbyPlaces(NearbyPlacesRequest(center: center, limit: 5)).places
        let ids = places.map(\.id).reversed() + [places[0].id, .max]
        #expect(try await service.places(ids: ids, center: center) == places)
        let alone = try await service.places(ids: ids)
        #expect(alone.map(\.id) == places.map(\.id).sorted())
        for place in alone { #expect(try await service.place(id: place.id).inLists == place) }
        #expect(try await service.places(ids: [.max]) == [])
    }

    @Test(
        "A response to ids is one page, which is cached by that client alone",
        .contract(
            .invariant, .recorded, in: .locations,
            otherwise: "A cache shows one user's favourites to another user."))
    func byIDIsPrivate() async throws {
        for target in ["/locations?ids=1,2", "/locations?ids=2%2C1&lat=1&long=2"] {
            let response = try await Service.response(to: target)
            #expect(response.header("Link") == nil)
            let directives = response.list("Cache-Control")
            #expect(directives.contains("private") && !directives.contains("public"), "\(target)")
        }
    }

    @Test(
        "Ids that no place can have are refused, more than 100, and what doesn't go with ids",
        .contract(
            .invariant, .recorded, in: .locations,
            otherwise: "A mistake in the app's list of favourites looks as if these places were gone."),
        arguments: [
            ("0", ProblemCode.notAnInteger), ("-1", .notAnInteger), ("01", .notAnInteger),
            ("1,,2", .notAnInteger), ("1,x", .notAnInteger), ("9223372036854775808", .notAnInteger),
            ("", .emptyParameter), ((1...101).map(String.init).joined(separator: ","), .tooManyValues),
            ("1&limit=5", .conflictingParameters), ("1&radius=5", .conflictingParameters),
            ("1&bbox=1,2,3,4", .conflictingParameters), ("1&q=a", .conflictingParameters),
            ("1&featured=true", .conflictingParameters), ("1&cursor=a", .conflictingParameters),
            ("1&lat=1", .missingParameter),
        ])
    func refusedIDs(query: String, code: ProblemCode) async throws {
        let problem = try #require(await Service.problem(of: "/locations?ids=\(query)"))
        #expect(problem.status == 400)
        #expect(problem.code == code)
        #expect(problem.errors.count == 1)
    }

    @Test(
        "Categories come most frequent first, then by name, each once",
        .contract(
            .invariant, .recorded, in: .categories,
            otherwise: "The filter shows rare categories first, or one twice."), .needs(places: 1))
    func categories() async throws {
        let categories = try await Service.client().categories()
        #expect(!categories.isEmpty)
        #expect(categories.allSatisfy { $0.count >= 0 })
        #expect(Set(categories.map(\.name)).count == categories.count)
        let sorted = categories.sorted { ($1.count, $0.name) < ($0.count, $1.name) }
        #expect(categories == sorted)
    }

    @Test(
        "The categories are those that a request may name",
        .contract(
            .invariant, in: .categories,
            otherwise: "A filter lacks a category, or offers one that is refused."))
    func vocabulary() async throws {
        let names = try await Service.client().categories().map(\.name)
        #expect(Set(names) == Set(try await Service.description().categories))
    }

    @Test(
        "With a language, places and categories have the same labels, and a label's beginning finds its category",
        .contract(
            .invariant, .recorded, in: .categories,
            otherwise:
                "A place shows conference_centre, or another word than the filter; a filter's field completes nothing."
        ))
    func labels() async throws {
        let (service, languages) = (try await Service.client(), ["de-CH", "en"])
        let categories = try await service.categories(languages: languages)
        #expect(categories.map(\.name) == (try await service.categories().map(\.name)))
        let labels = Dictionary(uniqueKeysWithValues: categories.map { ($0.name, $0.label) })
        var request = NearbyPlacesRequest(center: try await Service.center(), limit: 100)
        request.languages = languages
        for place in try await service.nearbyPlaces(request).places {
            #expect(place.categoryLabel == labels[place.category] ?? nil, "\(place.category)")
        }
        for category in categories.prefix(5) {
            guard let label = category.label else { continue }
            let found = try await service.categories(
                languages: languages, searchText: String(label.prefix(3)))
            #expect(found.contains(category), "\(label)")
        }
        #expect(try await service.categories(languages: [], searchText: "qqqzzz").isEmpty)
    }

    @Test(
        "A category is found by the words for it in any language, and called as the user's first language has it",
        .contract(
            .seeded, in: .categories, otherwise: "Somebody who types bruecke or cinema is offered nothing."))
    func words() async throws {
        let service = try await Service.client()
        for (text, languages, name, label) in [
            ("bruec", ["de"], "bridge", "Brücke"), ("coffee sh", ["fr", "en"], "cafe", "Café"),
            ("zoológicos", ["es-MX"], "zoo", "Zoológico"),
            ("conference_c", ["xx", "en"], "conference_centre", "Conference centre"),
        ] {
            let found = try await service.categories(languages: languages, searchText: text)
            #expect(found.first { $0.name == name }?.label == label, "\(text)")
        }
        #expect(try await service.categories(languages: ["ja"], searchText: "bridge").map(\.label) == [nil])
    }

    @Test(
        "Categories come with all words for them, the labels first, and each finds its category",
        .contract(
            .invariant, .recorded, in: .categories,
            otherwise: "A region on the device finds other places by a word than the service does."))
    func allWords() async throws {
        let service = try await Service.client()
        let categories = try await service.categories()
        let all = try await service.categories(CategoriesRequest(languages: ["de"], hasAllWords: true))
        #expect(all.map(\.name) == categories.map(\.name))
        #expect(categories.allSatisfy { $0.words == nil })
        #expect(all.map(\.label) == (try await service.categories(languages: ["de"]).map(\.label)))
        for category in all {
            let words = try #require(category.words)
            #expect(category.label == words["de"]?.first)
            #expect(words.allSatisfy { $0.key == $0.key.lowercased() && !$0.value.isEmpty })
        }
        for category in all.prefix(3) {
            for word in Set((category.words ?? [:]).values.joined()).sorted().prefix(4) {
                let found = try await service.categories(languages: [], searchText: word)
                #expect(found.map(\.name).contains(category.name), "\(word)")
            }
        }
        let problem = try #require(await Service.problem(of: "/categories?words=de"))
        #expect(problem.errors.map(\.parameter) == ["words"])
        #expect(problem.code == .outOfRange)
    }

    @Test(
        "A category has as many places as it says",
        .contract(
            .seeded, in: .categories, otherwise: "The filter promises more or fewer places than the list has."
        ))
    func counts() async throws {
        let service = try await Service.client()
        let center = try await Service.center()
        let categories = try await service.categories()
        #expect(categories.map(\.count).reduce(0, +) == (try Seed.all().count))
        for category in categories.prefix(5) + categories.suffix(2) {
            let request = NearbyPlacesRequest(center: center, limit: 100, categories: [category.name])
            #expect(
                try await service.nearbyPlaces(request).places.count == category.count, "\(category.name)")
        }
    }

    @Test(
        "Clusters count each place once, and their boxes have their means, unless the index is required",
        .contract(
            .invariant, .recorded, in: .clusters,
            otherwise: "The map's bubbles add up to another number than there are places."),
        .needsIndex, .needs(places: 1))
    func clusters() async throws {
        let service = try await Service.client()
        let earth = try #require(BoundingBox(west: -180, south: -90, east: 180, north: 90))
        var request = ClustersRequest(box: earth, zoom: 3)
        request.languages = ["en"]
        let response = try await service.clusters(request)
        #expect(response.zoom == 3)
        let total = try await service.categories().map(\.count).reduce(0, +)
        #expect(response.clusters.map(\.count).reduce(0, +) == total)
        for cluster in response.clusters {
            #expect(cluster.box.contains(latitude: cluster.latitude, longitude: cluster.longitude))
            #expect((cluster.count == 1) == (cluster.place != nil))
        }
        if let place = response.clusters.compactMap(\.place).first {
            #expect(try await service.place(id: place.id, center: nil, languages: ["en"]).inLists == place)
        }
    }

    @Test(
        "A request for clusters with too many cells is refused",
        .contract(
            .invariant, .recorded, in: .clusters,
            otherwise: "A map that asks for too much gets a part of it, and looks empty elsewhere."))
    func tooManyCells() async throws {
        let problem = try #require(
            await Service.problem(of: "/locations/clusters?zoom=4&bbox=-180,-90,180,90"))
        #expect(problem.errors.map(\.parameter) == ["zoom"])
        #expect(problem.code == .outOfRange)
    }

    @Test(
        "Attributions come by name, each once, with a license and places",
        .contract(
            .invariant, .recorded, in: .attributions,
            otherwise: "The app doesn't show a credit that a license demands."), .needs(places: 1))
    func attributions() async throws {
        let attributions = try await Service.client().attributions()
        #expect(attributions.allSatisfy { !$0.license.isEmpty && $0.places > 0 })
        #expect(attributions.map(\.dataset) == Set(attributions.map(\.dataset)).sorted())
    }

    @Test(
        "Every seeded place is counted for its dataset, once",
        .contract(
            .seeded, in: .attributions,
            otherwise: "The app credits a dataset that it shows nothing of, or too few."))
    func attributedPlaces() async throws {
        let attributions = try await Service.client().attributions()
        #expect(attributions.map(\.dataset) == ["poi-seed-san-jose", "poi-seed-world"])
        #expect(attributions.allSatisfy { $0.license == "CC0-1.0" })
        #expect(attributions.map(\.places).reduce(0, +) == (try Seed.all().count))
    }

    @Test(
        "A request with an unknown category is refused, and the problem suggests a near one",
        .contract(
            .invariant, .recorded, in: .locations,
            otherwise: "A misspelt category gives an empty list, and nobody notices the mistake."),
        .needs(places: 1))
    func unknownCategory() async throws {
        let names = try await Service.client().categories().map(\.name)
        let name = try #require(names.max { ($0.count, $0) < ($1.count, $1) })
        // A name that is longer than the longest category can't be one.
        let problem = try #require(
            await Service.problem(of: "/locations?lat=1&long=2&category=\(name)x,\(name)"))
        #expect(problem.code == .unknownCategory)
        let detail = try #require(problem.errors.first?.detail)
        #expect(names.contains { detail.contains($0) })
    }

    @Test(
        "A request with a dataset that no place came from is refused",
        .contract(
            .invariant, .recorded, in: .locations,
            otherwise: "A misspelt dataset gives an empty list, and nobody notices the mistake."),
        arguments: ["/locations?lat=1&long=2", "/locations/clusters?bbox=1,2,3,4&zoom=3"])
    func unknownDataset(target: String) async throws {
        // No name is so long.
        let name = String(repeating: "x", count: 101)
        let problem = try #require(await Service.problem(of: "\(target)&dataset=\(name)"))
        #expect(problem.code == .unknownDataset)
        #expect(problem.errors.map(\.parameter) == ["dataset"])
    }
}

@Suite("The seeds' names", .timeLimit(.minutes(2)))
struct SeedNameTests {
    private func found(_ text: String) async throws -> [String] {
        let request = NearbyPlacesRequest(center: try await Service.center(), limit: 100, searchText: text)
        return try await Service.client().nearbyPlaces(request).places.compactMap { $0.source?.id }
    }

    @Test(
        "A search for a text ignores case, accents and apostrophes",
        .contract(
            .seeded, in: .locations,
            otherwise: "Somebody who types on a phone doesn't find a place whose name has an accent."),
        .needsIndex,
        arguments: [
            ("plaza cesar chav", "plaza-de-cesar-chavez"), ("SAN JOSÉ mus art", "san-jose-museum-of-art"),
            ("childrens disc", "childrens-discovery-museum-of-san-jose"),
            ("children's disc", "childrens-discovery-museum-of-san-jose"),
            ("asis", "mission-santa-clara-de-asis"),
            ("cafe good", "good-karma-artisan-ales-and-cafe"),
        ])
    func folding(text: String, slug: String) async throws {
        #expect(try await found(text).contains(slug))
    }

    @Test(
        "A text that no word begins with finds nothing",
        .contract(
            .seeded, .recorded, in: .locations,
            otherwise: "A search shows places that have nothing to do with the text."),
        .needsIndex,
        arguments: ["ntory", "zzzz", "plaza zzzz"])
    func nothing(text: String) async throws {
        #expect(try await found(text) == [])
    }
}
