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
        "The details of a place that is important are those of the list",
        .contract(
            .invariant, in: .place, otherwise: "A map would label another place once this one was opened."),
        .needs(.importance))
    func importance() async throws { try await compare(.importance) }

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

/// The members of a place that have to be the same in every response: all but the distance and the properties.
///
/// Texts are compared by their code points: `==` takes é for e with an accent behind it.
struct PlaceMembers {
    private(set) var differences: [String] = []

    /// Notes a text unless it is the expected one.
    mutating func compare(_ member: String, _ text: String?, _ expected: String?) {
        let isSame = text.map { text in expected.map { text.isExactly($0) } ?? false } ?? (expected == nil)
        if !isSame { differences.append("\(member): \(Self.shown(text)) instead of \(Self.shown(expected))") }
    }

    /// Notes a value unless it is the expected one.
    mutating func compare<Value: Equatable>(_ member: String, _ value: Value, _ expected: Value) {
        if value != expected { differences.append("\(member): \(value) instead of \(expected)") }
    }

    /// A text with its code points beyond ASCII as numbers.
    private static func shown(_ text: String?) -> String {
        guard let text else { return "nothing" }
        return text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
    }
}

extension PointOfInterest {
    /// The place of a response to a request for one place as lists have it: without its properties.
    var inLists: PointOfInterest {
        PointOfInterest(
            id: id, name: name, category: category, latitude: latitude, longitude: longitude,
            featured: featured,
            distance: distance, address: address, website: website, source: source, importance: importance,
            language: language)
    }

    /// The members that differ from those of the same place elsewhere, without the distance and the properties.
    func differences(from place: PointOfInterest) -> [String] {
        var members = PlaceMembers()
        members.compare("id", id, place.id)
        members.compare("name", name, place.name)
        members.compare("language", language, place.language)
        members.compare("category", category, place.category)
        members.compare("latitude", latitude, place.latitude)
        members.compare("longitude", longitude, place.longitude)
        members.compare("featured", featured, place.featured)
        members.compare("address", address, place.address)
        members.compare("website", website, place.website)
        members.compare("source.dataset", source?.dataset, place.source?.dataset)
        members.compare("source.id", source?.id, place.source?.id)
        members.compare("source.license", source?.license, place.source?.license)
        members.compare("importance", importance, place.importance)
        return members.differences
    }
}

extension String {
    /// Whether two texts have the same code points.
    func isExactly(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
