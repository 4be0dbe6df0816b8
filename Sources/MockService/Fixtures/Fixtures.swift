import Foundation
import PointsOfInterestAPI
import POIService

/// The places that a mock answers with.
package struct Fixtures: Sendable {
    /// The places, each with an id of its own.
    package let places: [PointOfInterest]

    /// Makes fixtures of places whose ids are unique.
    package init(_ places: [PointOfInterest]) {
        self.places = places
    }

    /// A store of its own over the places.
    ///
    /// Its vocabulary has the categories of the service's schema as well: an app may ask for a category that no
    /// fixture happens to be of, as it may ask a database without such a place.
    func makeStore() -> FixtureStore {
        FixtureStore(
            places, vocabulary: CategoryVocabulary(RecordedSeed.categories + places.map(\.category)))
    }
}

extension Fixtures {
    /// Reads fixtures: an array of the items of `GET /locations`, or the same as a feature collection (RFC 7946),
    /// as a server has answered them or as somebody has written them.
    ///
    /// Nothing is passed over in silence: a member that an item doesn't have is a fault, as is an id that is there
    /// twice. `distance` may be there, and is computed anew for each request.
    ///
    /// - Throws: `FixtureError` with a fault of each item that has one.
    package init(json: [UInt8]) throws(FixtureError) {
        let items: [Result<FixturePlace, DecodingError>]
        do {
            items = try JSONDecoder().decode(FixtureDocument.self, from: Data(json)).items
        } catch {
            throw FixtureError(faults: [DocumentFault(anyError: error)])
        }
        var faults: [DocumentFault] = []
        var places: [PointOfInterest] = []
        var ids: Set<Int> = []
        for item in items {
            switch item {
            case .success(let place) where !ids.insert(place.place.id).inserted:
                faults.append(
                    DocumentFault(path: place.path, detail: "has the id \(place.place.id) of another"))
            case .success(let place): places.append(place.place)
            case .failure(let error): faults.append(DocumentFault(anyError: error))
            }
        }
        guard faults.isEmpty else { throw FixtureError(faults: faults) }
        self.init(places)
    }
}

extension Fixtures {
    /// The places that every new database of the service has, with their ids.
    ///
    /// - Throws: `FixtureError`, for a fault of the package's own.
    package static func seed() throws(FixtureError) -> Fixtures {
        try Fixtures(json: Array(RecordedSeed.places.utf8))
    }
}
