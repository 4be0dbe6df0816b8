import PointsOfInterestClient
import Testing

@Suite("Members of a place in lists and details", .timeLimit(.minutes(2)))
struct PlaceMemberTests {
    /// Compares a place's details, as JSON and as GeoJSON, with lists.
    private func compare(_ fact: Fact) async throws {
        try await Region.compare { _, differences in
            // Looked up again: in a new region it is another place.
            guard let place = try await Fact.example(of: fact) else { throw NotShown(fact: fact) }
            let details = try await Service.client().place(id: place.id)
            differences.expect(details.distance == nil, "a distance from nowhere: \(details)")
            let feature = try #require(
                try await Service.geoJSONPlace(id: place.id), "\(place.id) isn't a point as GeoJSON")
            let clusters = try await Self.cluster(of: place).map { [("a cluster", $0)] } ?? []
            for (form, found) in [("JSON", details), ("GeoJSON", feature)] + clusters {
                for difference in found.differences(from: place) {
                    differences.expect(false, "place \(place.id) as \(form), \(difference)")
                }
            }
        }
    }

    /// The place as its cluster has it; nil if it isn't alone in its cell, or clusters aren't counted.
    private static func cluster(of place: PointOfInterest) async throws -> PointOfInterest? {
        let (latitude, longitude) = (place.latitude, place.longitude)
        let request = ClustersRequest(
            box: try FoundBox.box(longitude, latitude, longitude, latitude),
            zoom: ClustersRequest.zooms.upperBound)
        do {
            let clusters = try await Service.client().clusters(request).clusters
            return clusters.first { $0.place?.id == place.id }?.place
        } catch RequestError.problem(let problem) where problem.code == .indexRequired {
            return nil
        }
    }

    @Test(
        "The details of a place with an address are those of the list",
        .contract(.invariant, in: .place, otherwise: "A place would lose its address when it is opened."),
        .needs(.address))
    func address() async throws { try await compare(.address) }

    @Test(
        "The details of a place with a website are those of the list",
        .contract(.invariant, in: .place, otherwise: "A place would lose its website when it is opened."),
        .needs(.website))
    func website() async throws { try await compare(.website) }

    @Test(
        "The details of a place with a source are those of the list",
        .contract(
            .invariant, in: .place, otherwise: "An app would show a place without the credit it owes."),
        .needs(.source))
    func source() async throws { try await compare(.source) }

    @Test(
        "A name with letters beyond ASCII is the same in lists, details and GeoJSON",
        .contract(.invariant, in: .place, otherwise: "Names would come out garbled."),
        .needs(.letterBeyondASCII))
    func letters() async throws { try await compare(.letterBeyondASCII) }

    @Test(
        "A name with an ampersand is the same in lists, details and GeoJSON",
        .contract(.invariant, in: .place, otherwise: "Names would have `&amp;` in them."),
        .needs(.ampersand))
    func ampersand() async throws { try await compare(.ampersand) }

    @Test(
        "A name with an apostrophe or a quotation mark is the same in lists, details and GeoJSON",
        .contract(.invariant, in: .place, otherwise: "Names would be cut off, or be escaped twice."),
        .needs(.quotationMark))
    func quotationMark() async throws { try await compare(.quotationMark) }
}
