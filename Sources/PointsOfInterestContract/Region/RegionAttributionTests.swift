import PointsOfInterestClient
import Testing

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
