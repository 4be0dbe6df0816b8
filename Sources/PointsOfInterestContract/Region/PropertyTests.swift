import PointsOfInterestClient
import Testing

@Suite("A team's own properties of places", .timeLimit(.minutes(2)))
struct PropertyTests {
    /// Compares the properties of a place with properties, asked for by their names in all forms but details.
    private func compare(_ asked: ([String]) -> [[String]]) async throws {
        try await Region.compare { _, differences in
            let place = try await Fact.properties.needed()
            let properties = place.properties?.valuesByName ?? [:]
            for names in asked(properties.keys.sorted()) {
                let expected = properties.filter { names.contains($0.key) }
                for (form, found) in try await Service.forms(of: place, properties: names) {
                    let expected = form.hasPrefix("details") ? properties : expected
                    let (object, text) = (found?.properties?.valuesByName, "place \(place.id) in \(form)")
                    differences.expect(found != nil, "\(text) isn't there")
                    differences.expect(
                        object, is: expected.isEmpty ? nil : expected, "\(text), asked for \(names)")
                }
            }
        }
    }

    @Test(
        "A list has the properties that it is asked for, as the details have them, and no others",
        .contract(
            .invariant, in: .locations,
            otherwise:
                "A list shows no opening hours though the details have them, or sends more than was asked for."
        ),
        .needs(.properties))
    func named() async throws {
        try await compare { [[$0[0]], Array($0.prefix(20).reversed()), [$0[0], "no such property"]] }
    }

    @Test(
        "A list has no properties that it isn't asked for, or that the place doesn't have, and details have all",
        .contract(
            .invariant, in: .locations,
            otherwise: "Lists are many times as long as they were, for apps that need none."
        ), .needs(.properties))
    func absent() async throws {
        try await compare { _ in [[], ["no such property", "nor, this one"]] }
    }
}
