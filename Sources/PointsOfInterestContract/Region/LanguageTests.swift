import PointsOfInterestClient
import Testing

@Suite("Names in languages", .timeLimit(.minutes(2)))
struct LanguageTests {
    /// A place with a name in one of `Fact.languages`, with that name, and its language.
    private func example() async throws -> (place: PointOfInterest, language: String) {
        guard let place = try await Fact.example(of: .names) else { throw NotShown(fact: .names) }
        return (place, try #require(place.language, "no language with the name \(place.name)"))
    }

    /// The same place from a list, from one as GeoJSON, from a list of ids, from a cluster, and its details.
    private func found(_ id: Int, _ place: PointOfInterest, _ languages: [String]) async throws -> [(
        String, PointOfInterest?
    )] {
        let service = try await Service.client()
        var request = NearbyPlacesRequest(
            center: Coordinate(validLatitude: place.latitude, validLongitude: place.longitude),
            radiusMeters: 1,
            limit: NearbyPlacesRequest.limits.upperBound)
        request.languages = languages
        var clusters = ClustersRequest(
            box: try FoundBox.box(place.longitude, place.latitude, place.longitude, place.latitude),
            zoom: ClustersRequest.zooms.upperBound)
        clusters.languages = languages
        var forms = [
            ("a list", try await service.nearbyPlaces(request).places.first { $0.id == id }),
            (
                "a list as GeoJSON",
                try await Service.geoJSONPlaces(request).compactMap(\.self).first { $0.id == id }
            ),
            ("a list of ids", try await service.places(ids: [id], languages: languages).first),
            ("details as GeoJSON", try await Service.geoJSONPlace(id: id, languages: languages)),
            ("details", try await service.place(id: id, center: nil, languages: languages)),
        ]
        do {
            let single = try await service.clusters(clusters).clusters.compactMap(\.place)
            if let found = single.first(where: { $0.id == id }) { forms.append(("a cluster", found)) }
        } catch RequestError.problem(let problem) where problem.code == .indexRequired {
            // Clusters aren't counted here.
        }
        return forms
    }

    @Test(
        "A place is found by its name in a language, whatever the request's languages",
        .contract(
            .invariant, in: .locations,
            otherwise: "A traveller who types a name as it is written at home finds nothing."),
        .needs(.names))
    func search() async throws {
        try await Region.compare { _, differences in
            let (place, _) = try await example()
            guard !NameWords.SearchText(place.name).isEmpty else { return }
            // No text is longer than this.
            let text = String(String.UnicodeScalarView(place.name.unicodeScalars.prefix(100)))
            let isFound = try await place.isFound(by: text)
            differences.expect(isFound, "place \(place.id) isn't found by \(text)")
        }
    }

    @Test(
        "A place has the same name in a language in every response, and all else as without",
        .contract(
            .invariant, in: .locations,
            otherwise: "A place changes its name when it is opened, or loses something with it."),
        .needs(.names))
    func everywhere() async throws {
        try await Region.compare { _, differences in
            let (place, language) = try await example()
            let plain = try await Service.client().place(id: place.id).inLists
            differences.expect(plain.language == nil, "a language that nobody asked for: \(plain)")
            for (form, found) in try await found(place.id, place, [language]) {
                guard let found else {
                    differences.expect(false, "place \(place.id) isn't in \(form)")
                    continue
                }
                for difference in found.differences(from: place) {
                    differences.expect(false, "place \(place.id) in \(form), \(difference)")
                }
                let others = found.differences(from: plain).filter {
                    !$0.hasPrefix("name:") && !$0.hasPrefix("language:")
                }
                differences.expect(others.isEmpty, "place \(place.id) in \(form): \(others)")
            }
        }
    }

    @Test(
        "A language is found by a longer tag in any case, and behind one that the place has no name in",
        .contract(
            .invariant, in: .locations,
            otherwise: "A user in Austria reads names that are there in German, as in no language at all."),
        .needs(.names))
    func lookup() async throws {
        try await Region.compare { _, differences in
            let (place, language) = try await example()
            for asked in [
                ["\(language.uppercased())-ZZ"], ["\(language)-Zzzz-ZZ-x-a-b"], ["qaa", language],
                [language, "qaa"],
            ] {
                for (form, found) in try await found(place.id, place, asked) {
                    differences.expect(
                        found.map { $0.name.isExactly(place.name) && $0.language == language } ?? false,
                        "place \(place.id) in \(form), asked for \(asked): \(found?.name ?? "nothing")")
                }
            }
        }
    }

    @Test(
        "A place has its own name, and no language, where there is none in those that are asked for",
        .contract(
            .invariant, in: .locations, otherwise: "A place has no name at all for some users."),
        .needs(.place))
    func unknownLanguage() async throws {
        try await Region.compare { region, differences in
            guard let place = region.places.first?.place else { return }
            // Reserved for private use.
            for (form, found) in try await found(place.id, place, ["qaa", "qtz-Latn"]) {
                differences.expect(
                    found.map { $0.name.isExactly(place.name) && $0.language == nil } ?? false,
                    "place \(place.id) in \(form): \(found?.name ?? "nothing")")
            }
        }
    }

    @Test(
        "The next page is in the languages of the first, whatever case they were asked for in",
        .contract(
            .invariant, .recorded, in: .locations,
            otherwise: "A list changes its language where the user scrolls on."))
    func nextPage() async throws {
        let target = "/locations?bbox=-180,-90,180,90&limit=1"
        let one = try await Service.response(to: target + "&lang=zh-Hant-TW,EN,en")
        let other = try await Service.response(to: target + "&lang=ZH-hant-tw,en")
        #expect(one.status == 200)
        #expect(one.header("Link") == other.header("Link"))
        #expect(one.header("ETag") == other.header("ETag"))
        if let link = one.header("Link") { #expect(link.contains("&lang=zh-hant-tw,en&"), "\(link)") }
        let reversed = try await Service.response(to: target + "&lang=en,zh-hant-tw")
        #expect(reversed.header("ETag") == nil || reversed.header("ETag") != one.header("ETag"))
    }
}
