import EventLoop
import Foundation
import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import SpatialIndex

/// The places that a mock serves, indexed once for all sessions that have them.
package struct Fixtures: Sendable {
    let places: [PlaceFields]
    /// Those that places may have.
    let categories: NameVocabulary
    /// The words for them.
    let labels: CategoryLabels
    /// Those that an app may filter by.
    let properties: FilterableProperties
    /// The index of the places, which sessions copy.
    package let index: ServedIndex

    /// The places that every new database of the service has, with their ids.
    package static let seed = builtIn(
        RecordedSeed.recorded.places, RecordedSeed.recorded.filterableProperties)

    /// No places.
    static let none = builtIn([])

    /// How long a request may wait for a search.
    private static let requestTimeout = Duration.seconds(60)

    /// Makes fixtures of places whose ids are unique.
    ///
    /// Their categories are also those of the service's schema: an app may ask for a category that no fixture
    /// has, as it may ask a database without such a place.
    ///
    /// - Parameter filterable: the properties that an app may filter by; nil is all that the places say.
    private init(_ places: [PlaceFields], _ filterable: FilterableProperties? = nil) throws(FixtureError) {
        self.places = places
        categories = NameVocabulary(
            RecordedSeed.recorded.categories + places.map { String(decoding: $0.category, as: UTF8.self) })
        labels = RecordedSeed.recorded.labels
        properties = filterable ?? FilterableProperties(of: places)
        let index = ServedIndex(places, categories: categories, labels: labels, properties: properties)
        guard let index else {
            throw FixtureError(faults: [DocumentFault(path: "", detail: "has more than 65,536 categories")])
        }
        self.index = index
    }

    private static func builtIn(
        _ places: [PlaceFields], _ filterable: FilterableProperties = .none
    ) -> Fixtures {
        do {
            return try Fixtures(places, filterable)
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
    package static func places(json: [UInt8]) throws(FixtureError) -> [PlaceFields] {
        if let fault = DocumentFault.longName(in: json) { throw FixtureError(faults: [fault]) }
        do {
            return try JSONDecoder().decode(FixtureDocument.self, from: Data(json)).places()
        } catch let error as FixtureError {
            throw error
        } catch {
            throw FixtureError(faults: [DocumentFault(anyError: error)])
        }
    }

    /// Makes stores with these places, for one session: what is edited in it, no other one sees.
    package func makeStores(on loop: EventLoop) -> (places: any PlaceStore, edits: MemoryEditStore) {
        let index = ServedIndex(copying: index)
        return (
            IndexedPlaceStore(index, requestTimeout: Self.requestTimeout, loop: loop),
            MemoryEditStore(self, servedBy: index)
        )
    }
}

/// What `scripts/record/record-seed` has recorded of a server with the seeded data.
private struct RecordedSeed: Decodable {
    /// The whole vocabulary, with the categories that no place has.
    let categories: [String]
    let labels: CategoryLabels
    let filterableProperties: FilterableProperties
    let places: [PlaceFields]

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

    private enum CodingKeys: String, CodingKey {
        case categories, filterableProperties = "filterable_properties", places
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        labels = try members.decode(CategoryLabels.self, forKey: .categories)
        categories = labels.categories
        let types = try members.decode([String: String].self, forKey: .filterableProperties)
        filterableProperties = FilterableProperties(
            types.compactMap { name, type in FilterableProperties.Kind(rawValue: type).map { (name, $0) } })
        places = try members.decode(FixtureDocument.self, forKey: .places).places()
    }
}

extension FilterableProperties {
    /// The properties that places of a document can be filtered by, since nothing else says it: those that are true or false in
    /// each place that has them, and those that are texts or arrays of texts.
    fileprivate init(of places: [PlaceFields]) {
        var kinds: [ExactName: Set<Kind?>] = [:]
        for json in places.compactMap(\.properties) {
            let properties = try? JSONDecoder().decode(JSONValue.Object.self, from: Data(json))
            for member in properties?.members ?? [] {
                kinds[ExactName(member.name), default: []].insert(Kind(of: member.value))
            }
        }
        self.init(
            kinds.compactMap { name, kinds in
                guard kinds.count == 1, let kind = kinds.first ?? nil else { return nil }
                return (name.text, kind)
            })
    }
}

extension FilterableProperties.Kind {
    /// Nil where places can't be found by such a value.
    fileprivate init?(of value: JSONValue) {
        switch value {
        case .boolean: self = .boolean
        case .string: self = .text
        case .array(let values) where values.allSatisfy { if case .string = $0 { true } else { false } }:
            self = .text
        default: return nil
        }
    }
}
