import Foundation
import PointsOfInterestClient
import Testing

@Suite("Members of a place in lists and details", .timeLimit(.minutes(2)))
struct PlaceMemberTests {
    /// Compares a place in all forms with the list that the region was read from.
    private func compare(_ fact: Fact) async throws {
        try await Region.compare { _, differences in
            // Looked up again: in a new region it is another place.
            let place = try await fact.needed()
            for (form, found) in try await Service.forms(of: place) {
                let members = found.map { $0.differences(from: place) } ?? ["isn't there"]
                differences.expect(members.isEmpty, "place \(place.id) in \(form): \(members)")
                differences.expect(found?.distance == nil, "place \(place.id) in \(form): a distance")
            }
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
        "The details of a place that is closed for a time are those of the list",
        .contract(
            .invariant, in: .place,
            otherwise: "An app would send somebody to a closed door, or away from an open one."),
        .needs(.temporarilyClosed))
    func temporarilyClosed() async throws { try await compare(.temporarilyClosed) }

    @Test(
        "A place that no list has is closed permanently, which its details and lists of ids say",
        .contract(
            .invariant, in: .place,
            otherwise: "A favourite that has closed would be gone, or seem to be open."),
        .needs(.unlisted))
    func permanentlyClosed() async throws {
        try await Region.compare { region, differences in
            let place = try await Fact.unlisted.needed()
            let ids = NearbyPlacesRequest(ids: [place.id])
            for (form, found) in [
                ("a list of ids", try await Service.client().nearbyPlaces(ids).places.first),
                ("a list of ids as GeoJSON", try await Service.geoJSONPlaces(ids).first ?? nil),
                ("details", try await Service.client().place(id: place.id)),
                ("details as GeoJSON", try await Service.geoJSONPlace(id: place.id)),
            ] {
                differences.expect(
                    found?.operatingStatus == .permanentlyClosed && found?.id == place.id,
                    "place \(place.id) in \(form): \(found?.operatingStatus?.rawValue ?? "no status")")
            }
        }
    }

    @Test(
        "No list has a place that is closed permanently",
        .contract(
            .invariant, in: .locations, otherwise: "A map would be full of places that are no more."),
        .needs(.place))
    func openInLists() async throws {
        try await Region.compare { region, differences in
            for place in region.places where place.place.operatingStatus == .permanentlyClosed {
                differences.expect(false, "place \(place.place.id) is in a list, and closed permanently")
            }
        }
    }

    @Test(
        "The details of a place have its version and when it was changed last",
        .contract(
            .invariant, in: .place, otherwise: "Whoever corrects a place could undo what others have changed."
        ),
        .needs(places: 1))
    func lastChange() async throws {
        let client = try await Service.client()
        let center = try await Service.center()
        for place in try await client.nearbyPlaces(NearbyPlacesRequest(center: center, limit: 3)).places {
            let details = try await client.place(id: place.id)
            #expect(details.version.map { (0..<1 << 53).contains($0) } == true, "place \(place.id)")
            #expect(details.updatedAt != nil, "place \(place.id)")
        }
    }

    @Test(
        "A name with letters beyond ASCII is the same in lists, details and GeoJSON",
        .contract(.invariant, in: .place, otherwise: "Names would come out garbled."),
        .needs(.letterBeyondASCII))
    func letters() async throws { try await compare(.letterBeyondASCII) }

    @Test(
        "A name with an ampersand is the same in lists, details and GeoJSON",
        .contract(.invariant, in: .place, otherwise: "Names would have `&amp;` in them."), .needs(.ampersand))
    func ampersand() async throws { try await compare(.ampersand) }

    @Test(
        "A name with an apostrophe or a quotation mark is the same in lists, details and GeoJSON",
        .contract(.invariant, in: .place, otherwise: "Names would be cut off, or be escaped twice."),
        .needs(.quotationMark))
    func quotationMark() async throws { try await compare(.quotationMark) }
}

private struct GeoJSON: Decodable {
    struct Geometry: Decodable {
        let type: String
        let coordinates: [Double]
    }

    let type: String
    let id: JSONValue?
    let geometry: Geometry?
    let properties: JSONValue.Object?
    let features: [GeoJSON]?

    /// The place that JSON would have; nil where the feature isn't a point.
    var place: PointOfInterest? {
        get throws {
            guard type == "Feature", let id, let geometry, geometry.type == "Point",
                geometry.coordinates.count == 2, var place = properties
            else { return nil }
            let (longitude, latitude) = (geometry.coordinates[0], geometry.coordinates[1])
            place.append([("id", id), ("latitude", .number(latitude)), ("longitude", .number(longitude))])
            return try JSONDecoder().decode(PointOfInterest.self, from: JSONEncoder().encode(place))
        }
    }
}

extension Service {
    /// A place in all responses that may have it, found by its position. Lists are left out where a page doesn't have all
    /// places of this position, and clusters where they aren't counted, or have several places there.
    static func forms(
        of place: PointOfInterest, properties: [String] = [], languages: [String] = []
    ) async throws -> [(form: String, place: PointOfInterest?)] {
        let (client, id) = (try await client(), place.id)
        var list = NearbyPlacesRequest(box: try place.pointBox, limit: NearbyPlacesRequest.limits.upperBound)
        (list.properties, list.languages) = (properties, languages)
        var clusters = ClustersRequest(box: try place.pointBox, zoom: ClustersRequest.zooms.upperBound)
        (clusters.properties, clusters.languages) = (properties, languages)
        let page = try await client.nearbyPlaces(list)
        let features = try await geoJSONPlaces(list).compactMap(\.self)
        let byID = try await client.places(ids: [id], properties: properties, languages: languages)
        var forms: [(form: String, place: PointOfInterest?)] = [
            ("a list of ids", byID.first),
            ("details", try await client.place(id: id, center: nil, languages: languages)),
            ("details as GeoJSON", try await geoJSONPlace(id: id, languages: languages)),
        ]
        if page.next == nil {
            forms.append(("a list", page.places.first { $0.id == id }))
            forms.append(("a list as GeoJSON", features.first { $0.id == id }))
        }
        // For clusters, 180 is -180.
        let longitude = place.longitude == 180 ? -180 : place.longitude
        let cluster = try await client.clusters(clusters).clusters.first {
            $0.box.contains(latitude: place.latitude, longitude: longitude)
        }
        if cluster?.count ?? 1 == 1 { forms.append(("a cluster", cluster?.place)) }
        return forms
    }

    static func geoJSONPlace(id: Int, languages: [String] = []) async throws -> PointOfInterest? {
        let query = languages.isEmpty ? "" : "?lang=" + languages.joined(separator: ",")
        return try await geoJSON("/locations/\(id)" + query).place
    }

    static func geoJSONPlaces(_ request: NearbyPlacesRequest) async throws -> [PointOfInterest?] {
        let collection = try await geoJSON("/locations?" + request.encodedQuery)
        guard collection.type == "FeatureCollection" else { return [] }
        return try (collection.features ?? []).map { try $0.place }
    }

    private static func geoJSON(_ target: String) async throws -> GeoJSON {
        let response = try await response(to: target, headers: ["Accept": "application/geo+json"])
        guard response.status == 200 else { throw RequestError.unexpectedStatus(response.status) }
        return try JSONDecoder().decode(GeoJSON.self, from: response.body)
    }
}

/// The members of a place that have to be the same in every response: all but the distance and the properties. Texts are
/// compared by their code points: `==` takes é for e with an accent behind it.
struct PlaceMembers {
    private(set) var differences: [String] = []

    mutating func compare(_ member: String, _ text: String?, _ expected: String?) {
        let isSame = text.map { text in expected.map { text.isExactly($0) } ?? false } ?? (expected == nil)
        if !isSame { differences.append("\(member): \(Self.shown(text)) instead of \(Self.shown(expected))") }
    }

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
            featured: featured, distance: distance, address: address, website: website, source: source,
            importance: importance, language: language, categoryLabel: categoryLabel,
            operatingStatus: operatingStatus)
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
        members.compare("operatingStatus", operatingStatus?.rawValue, place.operatingStatus?.rawValue)
        return members.differences
    }
}

extension String {
    func isExactly(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
