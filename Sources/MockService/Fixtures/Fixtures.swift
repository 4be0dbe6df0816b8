import Foundation
import POIService
import PointsOfInterestAPI

/// The places that a mock serves.
package struct Fixtures: Sendable {
    /// The places, each with an id of its own.
    package let places: [PointOfInterest]

    /// The places that every new database of the service has, with their ids.
    package static let seed = Fixtures(RecordedSeed.recorded.places)

    /// Makes fixtures of places whose ids are unique.
    package init(_ places: [PointOfInterest]) {
        self.places = places
    }

    /// Reads fixtures: an array of the items of `GET /locations`, or the same as a feature collection (RFC 7946).
    /// A recorded response of a server will do.
    ///
    /// Nothing is ignored in silence: a member that an item doesn't have is a fault, and so is an id that occurs
    /// twice. `distance` may be there; it is computed for each request.
    ///
    /// - Throws: `FixtureError` with one fault of each item that has any.
    package init(json: [UInt8]) throws(FixtureError) {
        if let fault = DocumentFault.longName(in: json) { throw FixtureError(faults: [fault]) }
        do {
            self = try JSONDecoder().decode(FixtureDocument.self, from: Data(json)).fixtures()
        } catch let error as FixtureError {
            throw error
        } catch {
            throw FixtureError(faults: [DocumentFault(anyError: error)])
        }
    }

    /// Makes a store with these places.
    ///
    /// Its vocabulary also has the categories of the service's schema: an app may ask for a category that no fixture
    /// has, as it may ask a database without such a place.
    func makeStore() -> FixtureStore {
        FixtureStore(
            places,
            vocabulary: CategoryVocabulary(RecordedSeed.recorded.categories + places.map(\.category)))
    }
}

/// What `scripts/record/record-seed` has recorded of a server with the seeded data.
private struct RecordedSeed: Decodable {
    /// The whole vocabulary, with the categories that no place has.
    let categories: [String]
    let places: [PointOfInterest]

    static let recorded: RecordedSeed = {
        do {
            let data = Data(PackageResources.RecordedSeed_json)
            let document = try JSONDecoder().decode(RecordedSeed.self, from: data)
            return document
        } catch {
            // It is a part of the program, and a test reads it.
            preconditionFailure("RecordedSeed.json: \(error)")
        }
    }()

    private enum CodingKeys: CodingKey {
        case categories, places
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        categories = try members.decode([String].self, forKey: .categories)
        places = try members.decode(FixtureDocument.self, forKey: .places).fixtures().places
    }
}
