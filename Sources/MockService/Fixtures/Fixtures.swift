import EventLoop
import Foundation
import Places
import PointsOfInterestAPI

/// The places that a mock serves, indexed once for all sessions that have them.
package struct Fixtures: Sendable {
    /// The index that the stores of those sessions serve places from.
    package let index: ServedIndex

    /// The places that every new database of the service has, with their ids.
    package static let seed = builtIn(RecordedSeed.recorded.places)

    /// No places.
    static let none = builtIn([])

    /// How long a request may wait for a search.
    private static let requestTimeout = Duration.seconds(60)

    /// Makes fixtures of places whose ids are unique.
    ///
    /// Their categories are also those of the service's schema: an app may ask for a category that no fixture
    /// has, as it may ask a database without such a place.
    private init(_ places: [StoredPlace]) throws(FixtureError) {
        let categories = NameVocabulary(RecordedSeed.recorded.categories + places.map(\.place.category))
        guard let index = ServedIndex(places, categories: categories) else {
            throw FixtureError(faults: [DocumentFault(path: "", detail: "has more than 65,536 categories")])
        }
        self.index = index
    }

    private static func builtIn(_ places: [StoredPlace]) -> Fixtures {
        do {
            return try Fixtures(places)
        } catch {
            preconditionFailure("RecordedSeed.json: \(error)")
        }
    }

    /// Makes fixtures of a document, as `places(json:)` reads it.
    ///
    /// - Throws: `FixtureError` for a document that isn't fixtures.
    package init(json: [UInt8]) throws(FixtureError) {
        try self.init(try Self.places(json: json))
    }

    /// Reads fixtures: an array of the items of `GET /locations`, or the same as a feature collection (RFC 7946).
    /// A recorded response of a server will do.
    ///
    /// A member that an item doesn't have is a fault, and so is an id that occurs twice. `distance` and `language` may be there,
    /// but are ignored: they depend on the request. An item may have `names` in addition, which responses lack.
    ///
    /// - Throws: `FixtureError` with one fault of each item that has any.
    package static func places(json: [UInt8]) throws(FixtureError) -> [StoredPlace] {
        if let fault = DocumentFault.longName(in: json) { throw FixtureError(faults: [fault]) }
        do {
            return try JSONDecoder().decode(FixtureDocument.self, from: Data(json)).places()
        } catch let error as FixtureError {
            throw error
        } catch {
            throw FixtureError(faults: [DocumentFault(anyError: error)])
        }
    }

    /// Makes a store with these places, for one session.
    func makeStore(on loop: EventLoop) -> any PlaceStore {
        IndexedPlaceStore(
            index, fallback: nil, isRequired: true, requestTimeout: Self.requestTimeout, loop: loop)
    }
}

/// What `scripts/record/record-seed` has recorded of a server with the seeded data.
private struct RecordedSeed: Decodable {
    /// The whole vocabulary, with the categories that no place has.
    let categories: [String]
    let places: [StoredPlace]

    static let recorded: RecordedSeed = {
        do {
            let data = Data(PackageResources.RecordedSeed_json)
            let document = try JSONDecoder().decode(RecordedSeed.self, from: data)
            return document
        } catch {
            // The document is a part of the program, and a test reads it.
            preconditionFailure("RecordedSeed.json: \(error)")
        }
    }()

    private enum CodingKeys: CodingKey {
        case categories, places
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        categories = try members.decode([String].self, forKey: .categories)
        places = try members.decode(FixtureDocument.self, forKey: .places).places()
    }
}
