import PointsOfInterestClient
import Testing

@Suite("Names in languages", .timeLimit(.minutes(2)))
struct LanguageTests {
    private func example() async throws -> (place: PointOfInterest, language: String) {
        let place = try await Fact.names.needed()
        return (place, try #require(place.language, "no language with the name \(place.name)"))
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
            let isFound = try await place.isFound(by: place.name.searchText)
            differences.expect(isFound, "place \(place.id) isn't found by \(place.name)")
        }
    }

    @Test(
        "A place has the same name in a language in every response, also by a longer tag, and all else as without",
        .contract(
            .invariant, in: .locations,
            otherwise: "A user in Austria reads names that are there in German, as in no language at all."),
        .needs(.names))
    func everywhere() async throws {
        try await Region.compare { _, differences in
            let (place, language) = try await example()
            let plain = try await Service.client().place(id: place.id).inLists
            differences.expect(plain.language == nil, "a language that nobody asked for: \(plain)")
            for asked in [
                [language], ["\(language.uppercased())-ZZ"], ["\(language)-Zzzz-ZZ-x-a-b"],
                ["qaa", language], [language, "qaa"],
            ] {
                for (form, found) in try await Service.forms(of: place, languages: asked) {
                    let members = found.map { $0.differences(from: place) } ?? ["isn't there"]
                    let others = found?.differences(from: plain).filter {
                        !$0.hasPrefix("name:") && !$0.hasPrefix("language:")
                    }
                    differences.expect(
                        members.isEmpty && others == [],
                        "place \(place.id) in \(form), asked for \(asked): \(members), \(others ?? [])")
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
            let place = region.places[0].place
            // Reserved for private use.
            for (form, found) in try await Service.forms(of: place, languages: ["qaa", "qtz-Latn"]) {
                differences.expect(
                    found.map { $0.name.isExactly(place.name) && $0.language == nil } ?? false,
                    "place \(place.id) in \(form): \(found?.name ?? "nothing")")
            }
        }
    }
}
