import Foundation
import PointsOfInterestClient
import Testing

/// The expected places, looked up in the target.
enum KnownPlaces {
    /// An expected place, and what the target has at its position.
    struct Known: Sendable {
        let expected: ExpectedPlace
        /// All places within a metre, in the response's order, without distances.
        let nearby: [PointOfInterest]

        /// The target's place; nil if none has the expected id in the dataset or, without an expected id, the name.
        var place: PointOfInterest? {
            if let id = expected.id {
                return nearby.first {
                    $0.source?.id == id && (expected.dataset ?? $0.source?.dataset) == $0.source?.dataset
                }
            }
            // To `==`, a name in another normal form is the same: the place is found, and its name is reported as a
            // difference.
            let named = nearby.filter { $0.name == expected.name }
            return named.first { expected.differences(from: $0).isEmpty } ?? named.first
        }
    }

    /// A place is nobody else's neighbour by more than this.
    private static let maximumNeighbours = 1000

    private static let lookup = Task {
        var found: [Known] = []
        for expected in ExpectedPlaces.current?.places ?? [] {
            var nearby: [PointOfInterest] = []
            for try await place in try await Service.client().allNearbyPlacesAsSent(expected.search) {
                nearby.append(place.at(distance: nil))
                if nearby.count == maximumNeighbours { break }
            }
            found.append(Known(expected: expected, nearby: nearby))
        }
        return found
    }

    /// All expected places, in the file's order; none without a file. They are looked up once.
    static func found() async throws -> [Known] { try await lookup.value }

    /// One of them, found; else an error that says what is there instead.
    static func found(_ expected: ExpectedPlace) async throws -> PointOfInterest {
        let known = try await found().first { $0.expected == expected }
        return try #require(
            known?.place,
            "the place of line \(expected.line) isn't there; within a metre are: \(known?.nearby ?? [])")
    }
}

extension ExpectedPlace: CustomTestStringConvertible {
    var testDescription: String { "line \(line)" }

    fileprivate var search: NearbyPlacesRequest {
        var request = NearbyPlacesRequest(
            center: Coordinate(validLatitude: latitude, validLongitude: longitude), radiusMeters: 1,
            limit: NearbyPlacesRequest.limits.upperBound)
        request.properties = propertyValues.map(\.key)
        return request
    }

    /// As many properties as a request may name.
    private var propertyValues: [(key: String, value: JSONValue)] {
        Array((properties?.valuesByName ?? [:]).sorted { $0.key < $1.key }.prefix(20))
    }

    /// The members in which a place differs from the file, without those that the file leaves out.
    fileprivate func differences(from place: PointOfInterest) -> [String] {
        var members = PlaceMembers()
        let texts: [(String, String?, String?)] = [
            ("name", place.name, name), ("category", place.category, category),
            ("address", place.address, address), ("website", place.website, website),
            ("operatingStatus", place.operatingStatus?.rawValue, operatingStatus?.rawValue),
            ("source.dataset", place.source?.dataset, dataset), ("source.id", place.source?.id, id),
            ("source.license", place.source?.license, license),
        ]
        for (member, text, expected) in texts where expected != nil {
            members.compare(member, text, expected)
        }
        members.compare("latitude", place.latitude, latitude)
        members.compare("longitude", place.longitude, longitude)
        members.compare("featured", place.featured, featured ?? place.featured)
        members.compare("importance", place.importance, importance ?? place.importance)
        for (name, value) in propertyValues {
            members.compare("properties.\(name)", place.properties?[name], value)
        }
        return members.differences
    }
}

extension Trait where Self == ConditionTrait {
    fileprivate static var needsExpectedPlaces: Self {
        .enabled(if: ExpectedPlaces.current != nil, "POI_CONTRACT_EXPECT names no file of known places")
    }
}

@Suite("The places that the target is known to have", .timeLimit(.minutes(2)))
struct ExpectedPlacesTests {
    private static let places = ExpectedPlaces.current?.places ?? []

    @Test(
        "A known place is found at its position, with exactly the members that are known, in every response",
        .contract(
            .invariant, in: .locations,
            otherwise: "An app would show a place without its address, or with an altered name."),
        .needsExpectedPlaces, arguments: places)
    func members(expected: ExpectedPlace) async throws {
        let place = try await KnownPlaces.found(expected)
        #expect(expected.differences(from: place) == [])
        // Places at one position come in ascending order of id.
        let nearby = try await KnownPlaces.found().first { $0.expected == expected }?.nearby ?? []
        let ids = nearby.filter { $0.position == place.position }.map(\.id)
        #expect(ids == ids.sorted())
        let properties = expected.search.properties
        for (form, found) in try await Service.forms(of: place, properties: properties) {
            #expect(found.map(expected.differences) == [], "\(form)")
        }
    }

    @Test(
        "A known place is found by its name, by its category and by whether it is featured, and not by the opposite",
        .contract(
            .invariant, in: .locations, otherwise: "A filter or a search would hide a place that matches."),
        .needsExpectedPlaces, arguments: places)
    func filters(expected: ExpectedPlace) async throws {
        let place = try await KnownPlaces.found(expected)
        func isFound(_ change: (inout NearbyPlacesRequest) -> Void) async throws -> Bool {
            var request = expected.search
            change(&request)
            for try await found in try await Service.client().allNearbyPlacesAsSent(request)
            where found.id == place.id {
                return true
            }
            return false
        }
        // What is left of the last word begins that word.
        let text = expected.name.searchText
        if text.contains(where: { $0.isLetter || $0.isNumber }) {
            #expect(try await isFound { $0.searchText = text }, "by q")
        }
        if let category = expected.category {
            #expect(try await isFound { $0.categories = [category] }, "by category")
        }
        if let featured = expected.featured {
            #expect(try await isFound { $0.featured = featured }, "by featured")
            #expect(try await !isFound { $0.featured = !featured }, "by the opposite of featured")
        }
    }

    @Test(
        "A known place's dataset has the license, the credit, the URL and the number of places that are known",
        .contract(
            .invariant, in: .attributions,
            otherwise: "A map would not show the credit that the data's license asks for."),
        .needsExpectedPlaces, arguments: places)
    func attribution(expected: ExpectedPlace) async throws {
        guard let dataset = expected.dataset else { return }
        let attributions = try await Service.client().attributions()
        let attribution = try #require(attributions.first { $0.dataset.isExactly(dataset) })
        if let license = expected.license {
            // A dataset without a row of its own has the licenses of all its places.
            let licenses = [attribution.license] + attribution.license.components(separatedBy: " AND ")
            #expect(licenses.contains { $0.isExactly(license) }, "\(attribution)")
        }
        for (text, known) in [(attribution.credit, expected.credit), (attribution.url, expected.url)] {
            guard let known else { continue }
            #expect(text?.isExactly(known) == true, "\(attribution)")
        }
        if let count = expected.datasetPlaces { #expect(attribution.places == count, "\(attribution)") }
    }
}
