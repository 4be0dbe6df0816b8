import PointsOfInterestClient
import Testing

@Suite("A team's own properties of places", .timeLimit(.minutes(2)))
struct PropertyTests {
    /// A place with properties, as its details have it, and the names of these.
    private func example() async throws -> (place: PointOfInterest, names: [String]) {
        guard let place = try await Fact.example(of: .properties), let properties = place.properties else {
            throw NotShown(fact: .properties)
        }
        return (place, properties.valuesByName.keys.sorted())
    }

    /// The same place from a list, a list as GeoJSON and a cluster, with what they say of these properties.
    private func found(_ place: PointOfInterest, _ names: [String]) async throws -> [(
        String, PointOfInterest?
    )] {
        let service = try await Service.client()
        let center = Coordinate(validLatitude: place.latitude, validLongitude: place.longitude)
        var request = NearbyPlacesRequest(
            center: center, radiusMeters: 1, limit: NearbyPlacesRequest.limits.upperBound)
        request.properties = names
        let list = try await service.nearbyPlaces(request).places
        let features = try await Service.geoJSONPlaces(request).compactMap(\.self)
        var clusters = ClustersRequest(
            box: try FoundBox.box(place.longitude, place.latitude, place.longitude, place.latitude),
            zoom: ClustersRequest.zooms.upperBound)
        clusters.properties = names
        var forms = [("a list", list), ("a list as GeoJSON", features)].map { form, places in
            (form, places.first { $0.id == place.id })
        }
        forms.append(("a list of ids", try await service.places(ids: [place.id], properties: names).first))
        do {
            let single = try await service.clusters(clusters).clusters.compactMap(\.place)
            if let found = single.first(where: { $0.id == place.id }) { forms.append(("a cluster", found)) }
        } catch RequestError.problem(let problem) where problem.code == .indexRequired {
            // Clusters aren't counted here.
        }
        return forms
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
        try await Region.compare { _, differences in
            let (place, names) = try await example()
            let properties = place.properties?.valuesByName ?? [:]
            for asked in [[names[0]], Array(names.prefix(20).reversed()), [names[0], "no such property"]] {
                let expected = properties.filter { asked.contains($0.key) }
                for (form, found) in try await found(place, asked) {
                    differences.expect(
                        found?.properties?.valuesByName == expected,
                        "place \(place.id) in \(form), asked for \(asked): \(found?.properties?.valuesByName ?? [:])"
                    )
                }
            }
        }
    }

    @Test(
        "A list has no properties that it isn't asked for, or that the place doesn't have",
        .contract(
            .invariant, in: .locations,
            otherwise: "Lists are many times as long as they were, for apps that need none."
        ), .needs(.properties))
    func absent() async throws {
        try await Region.compare { _, differences in
            let (place, _) = try await example()
            for asked in [[], ["no such property", "nor, this one"]] {
                for (form, found) in try await found(place, asked) {
                    differences.expect(
                        found != nil && found?.properties == nil,
                        "place \(place.id) in \(form), asked for \(asked): \(found.map { "\($0)" } ?? "isn't there")"
                    )
                }
            }
        }
    }

    @Test(
        "All of a place's properties are in its details, also as GeoJSON",
        .contract(
            .invariant, in: .place, otherwise: "A place would lose its opening hours when it is opened."),
        .needs(.properties))
    func details() async throws {
        try await Region.compare { _, differences in
            let (place, _) = try await example()
            let feature = try await Service.geoJSONPlace(id: place.id)
            differences.expect(
                feature?.properties == place.properties,
                "place \(place.id) as GeoJSON: \(feature?.properties?.valuesByName ?? [:])")
        }
    }

    @Test(
        "The next page has the properties that the first was asked for, in whatever order they were named",
        .contract(
            .invariant, .recorded, in: .locations,
            otherwise: "A list loses its opening hours where the user scrolls on."))
    func nextPage() async throws {
        let target = "/locations?bbox=-180,-90,180,90&limit=1&properties="
        let one = try await Service.response(to: target + "b,a%2Cc,b")
        let other = try await Service.response(to: target + "a%2cc,b")
        #expect(one.status == 200)
        #expect(one.header("Link") == other.header("Link"))
        #expect(one.header("ETag") == other.header("ETag"))
        if let link = one.header("Link") { #expect(link.contains("&properties=a%2Cc,b&"), "\(link)") }
        let without = try await Service.response(to: "/locations?bbox=-180,-90,180,90&limit=1")
        #expect(without.header("ETag") == nil || without.header("ETag") != one.header("ETag"))
    }
}
