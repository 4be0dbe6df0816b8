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
        let place: PointOfInterest?
    }

    /// All expected places, in the file's order; none without a file. They are looked up once.
    static func found() async throws -> [Known] { try await lookup.value }

    /// One of them, found; else an error that says what is there instead.
    static func found(_ expected: ExpectedPlace) async throws -> PointOfInterest {
        let known = try await found().first { $0.expected == expected }
        guard let place = known?.place else {
            throw NotFound(line: expected.line, nearby: known?.nearby ?? [])
        }
        return place
    }

    /// An expected place that the target doesn't have.
    struct NotFound: Error, CustomStringConvertible {
        let line: Int
        let nearby: [PointOfInterest]

        var description: String { "the place of line \(line) isn't there; within a metre are: \(nearby)" }
    }

    private static let lookup = Task {
        var found: [Known] = []
        for expected in ExpectedPlaces.current?.places ?? [] {
            let nearby = try await nearby(expected)
            found.append(Known(expected: expected, nearby: nearby, place: chosen(expected, nearby)))
        }
        return found
    }

    /// A place is nobody else's neighbour by more than this.
    private static let maximumNeighbours = 1000

    private static func nearby(_ expected: ExpectedPlace) async throws -> [PointOfInterest] {
        var places: [PointOfInterest] = []
        for try await place in try await Service.client().allNearbyPlaces(expected.search) {
            places.append(place.withoutDistance)
            if places.count == maximumNeighbours { break }
        }
        return places
    }

    private static func chosen(
        _ expected: ExpectedPlace, _ nearby: [PointOfInterest]
    ) -> PointOfInterest? {
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

extension ExpectedPlace {
    /// A search for what is within a metre.
    var search: NearbyPlacesRequest {
        NearbyPlacesRequest(
            center: Coordinate(validLatitude: latitude, validLongitude: longitude), radiusMeters: 1,
            limit: NearbyPlacesRequest.limits.upperBound)
    }

    /// The members in which a place differs from the file, without those that the file leaves out.
    func differences(from place: PointOfInterest) -> [String] {
        var members = PlaceMembers()
        func compare(_ member: String, _ text: String?, _ expected: String?) {
            if expected != nil { members.compare(member, text, expected) }
        }
        compare("name", place.name, name)
        compare("category", place.category, category)
        compare("address", place.address, address)
        compare("website", place.website, website)
        compare("source.dataset", place.source?.dataset, dataset)
        compare("source.id", place.source?.id, id)
        compare("source.license", place.source?.license, license)
        members.compare("latitude", place.latitude, latitude)
        members.compare("longitude", place.longitude, longitude)
        if let featured { members.compare("featured", place.featured, featured) }
        return members.differences
    }
}
