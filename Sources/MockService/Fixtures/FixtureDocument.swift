import Foundation
import MockServerAPI
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import SpatialIndex

/// A document of fixtures. Its items are read one by one, so that the faults of all of them can be reported.
struct FixtureDocument: Decodable {
    private typealias Item = (place: PlaceFields, path: String)

    /// The places, and where in the document each is.
    private let items: [Result<Item, DecodingError>]

    private enum Key: String, CodingKey {
        case type, features
    }

    init(from decoder: any Decoder) throws {
        guard let collection = try? decoder.container(keyedBy: Key.self) else {
            var array = try decoder.unkeyedContainer()
            items = try Self.items(of: &array) { try PlaceFields(item: $0) }
            return
        }
        try collection.require("FeatureCollection", for: .type)
        var features = try collection.nestedUnkeyedContainer(forKey: .features)
        items = try Self.items(of: &features) { try PlaceFields(feature: $0) }
    }

    /// The places of the document.
    ///
    /// - Throws: `FixtureError` with one fault of each item that has any, and of each whose id an earlier one has.
    func places() throws(FixtureError) -> [PlaceFields] {
        var faults: [DocumentFault] = []
        var places: [PlaceFields] = []
        var ids: Set<Int> = []
        for item in items {
            switch item {
            case .success(let (place, path)) where !ids.insert(place.id).inserted:
                faults.append(DocumentFault(path: path, detail: "has the id \(place.id) of another"))
            case .success(let (place, _)): places.append(place)
            case .failure(let error): faults.append(DocumentFault(anyError: error))
            }
        }
        guard faults.isEmpty else { throw FixtureError(faults: faults) }
        return places
    }

    private static func items(
        of array: inout any UnkeyedDecodingContainer, read: (any Decoder) throws -> PlaceFields
    ) throws -> [Result<Item, DecodingError>] {
        var items: [Result<Item, DecodingError>] = []
        while !array.isAtEnd {
            let decoder = try array.superDecoder()
            do {
                items.append(.success((try read(decoder), DocumentFault.path(decoder.codingPath))))
            } catch let error as DecodingError {
                items.append(.failure(error))
            }
        }
        return items
    }
}

extension PlaceFields {
    private enum Key: String, CodingKey, CaseIterable {
        case id, name, category, latitude, longitude, featured, distance, address, website, source
        case importance, operatingStatus, version, updatedAt, properties, names, language
        case otherNames = "other_names"
        // GeoJSON has these as well.
        case type, geometry, coordinates

        static let ofItem: [Key] = [
            .id, .name, .category, .latitude, .longitude, .featured, .distance, .address, .website, .source,
            .importance, .operatingStatus, .version, .updatedAt, .properties, .names, .otherNames, .language,
        ]
        static let ofFeature: [Key] = [.type, .id, .geometry, .properties]
        static let ofGeometry: [Key] = [.type, .coordinates]
        static let ofProperties: [Key] = [
            .name, .category, .featured, .distance, .address, .website, .source, .importance,
            .operatingStatus, .version, .updatedAt, .properties, .names, .otherNames, .language,
        ]
    }

    /// Reads an item of `GET /locations`.
    fileprivate init(item decoder: any Decoder) throws {
        let item = try decoder.strictContainer(of: Key.ofItem)
        try self.init(
            id: try item.id(forKey: .id), members: item,
            latitude: try item.degrees(forKey: .latitude, limit: 90),
            longitude: try item.degrees(forKey: .longitude, limit: 180))
    }

    /// Reads a feature (RFC 7946, section 3.2) whose geometry is a point.
    fileprivate init(feature decoder: any Decoder) throws {
        let feature = try decoder.strictContainer(of: Key.ofFeature)
        try feature.require("Feature", for: .type)
        let geometry = try feature.superDecoder(forKey: .geometry).strictContainer(of: Key.ofGeometry)
        try geometry.require("Point", for: .type)
        let (longitude, latitude) = try Self.position(geometry)
        try self.init(
            id: try feature.id(forKey: .id),
            members: try feature.superDecoder(forKey: .properties).strictContainer(of: Key.ofProperties),
            latitude: latitude, longitude: longitude)
    }

    /// Reads a position (RFC 7946, section 3.1.1); its height is ignored.
    private static func position(
        _ geometry: KeyedDecodingContainer<Key>
    ) throws -> (longitude: Double, latitude: Double) {
        let numbers = try geometry.decode([Double].self, forKey: .coordinates)
        guard (2...3).contains(numbers.count), abs(numbers[0]) <= 180, abs(numbers[1]) <= 90 else {
            throw geometry.fault(
                .coordinates, "must be a longitude from -180 to 180 and a latitude from -90 to 90 degrees")
        }
        return (numbers[0], numbers[1])
    }

    private init(
        id: Int, members: KeyedDecodingContainer<Key>, latitude: Double, longitude: Double
    ) throws {
        _ = try members.decodeIfPresent(Double.self, forKey: .distance)
        _ = try members.decodeIfPresent(String.self, forKey: .language)
        func text(_ text: String) -> Text { Text(text.utf8) }
        // In the order of the members, so that the first fault is reported.
        let name = try members.line(forKey: .name, limit: 200)
        let category = try members.category(forKey: .category)
        let featured = try members.decodeIfPresent(Bool.self, forKey: .featured) ?? false
        let address = try members.decodeIfPresent(String.self, forKey: .address)
        let website = try members.decodeIfPresent(String.self, forKey: .website)
        let source = try members.decodeIfPresent(PointOfInterest.Source.self, forKey: .source)
        let importance = try members.importance(forKey: .importance)
        let operatingStatus = try members.operatingStatus(forKey: .operatingStatus)
        let version = try members.version(forKey: .version)
        let updatedAt = try members.time(forKey: .updatedAt)
        let properties = try members.ownProperties(forKey: .properties)
        let (names, otherNames) = try members.names(forKey: .names, others: .otherNames)
        self.init(
            id: id, name: text(name), category: text(category), latitude: latitude, longitude: longitude,
            featured: featured, address: address.map(text), website: website.map(text),
            source: source.map {
                Source(dataset: text($0.dataset), id: text($0.id), license: text($0.license))
            },
            importance: importance, properties: properties.map { $0.json[...] },
            names: names.isEmpty ? nil : JSONValue.Object(names.mapValues(JSONValue.string)).json[...],
            otherNames: otherNames.isEmpty ? nil : text(otherNames.joined(separator: "\u{1}")),
            operatingStatus: operatingStatus, version: version, updatedAtSeconds: updatedAt)
    }
}

extension KeyedDecodingContainer {
    /// Throws unless the member is this text.
    fileprivate func require(_ text: String, for key: Key) throws {
        // Byte by byte, see `DocumentFault.longName`.
        guard try decode(String.self, forKey: key).utf8.elementsEqual(text.utf8) else {
            throw fault(key, "must be \"\(text)\"")
        }
    }

    /// Reads degrees from minus to plus a limit.
    fileprivate func degrees(forKey key: Key, limit: Int) throws -> Double {
        let degrees = try decode(Double.self, forKey: key)
        guard abs(degrees) <= Double(limit) else {
            throw fault(key, "must be from -\(limit) to \(limit) degrees")
        }
        return degrees
    }

    /// Reads a place's id.
    fileprivate func id(forKey key: Key) throws -> Int {
        // The integers that every JSON implementation reads exactly (RFC 8259, section 6).
        try integer(forKey: key, in: 1...9_007_199_254_740_991)
    }

    /// Reads a text that fits on one line.
    fileprivate func line(forKey key: Key, limit: Int) throws -> String {
        let text = try decode(String.self, forKey: key)
        guard text.isLine(limit: limit) else {
            throw fault(key, "must have 1 to \(limit) characters, and no control characters")
        }
        return text
    }

    /// Reads a place's names in languages and its other ones, as few and short as the service's schema demands.
    fileprivate func names(forKey key: Key, others: Key) throws -> ([String: String], [String]) {
        let names = try decodeIfPresent([String: String].self, forKey: key) ?? [:]
        let otherNames = try decodeIfPresent([String].self, forKey: others) ?? []
        guard Set(names.keys.map(\.asciiLowercased)).count == names.count,
            names.allSatisfy({ LanguageTag.isWellFormed($0.key.utf8) && $0.value.isLine(limit: 200) })
        else { throw fault(key, "must be names by language tags, each like the name") }
        guard otherNames.allSatisfy({ $0.isLine(limit: 200) }) else {
            throw fault(others, "must be a list of names, each like the name")
        }
        let texts = names.flatMap { [$0.key, $0.value] } + otherNames
        guard names.count + otherNames.count <= 300, texts.reduce(0, { $0 + $1.utf8.count }) <= 8192 else {
            throw fault(
                names.isEmpty ? others : key,
                "must be at most 300 names of at most 8192 bytes together, with the tags and other_names")
        }
        return (names, otherNames)
    }

    /// Reads how important a place is; 0 where the member is absent.
    fileprivate func importance(forKey key: Key) throws -> Int {
        contains(key) ? try integer(forKey: key, in: 0...1000) : 0
    }

    /// Reads whether a place is closed, by one of the values that the service's schema has.
    fileprivate func operatingStatus(forKey key: Key) throws -> OperatingStatus? {
        let known = [OperatingStatus.temporarilyClosed, .permanentlyClosed]
        guard let status = try decodeIfPresent(OperatingStatus.self, forKey: key) else { return nil }
        guard known.contains(status) else {
            throw fault(key, "must be \(known.map { "\"\($0.rawValue)\"" }.joined(separator: " or "))")
        }
        return status
    }

    /// Reads a place's version; 0 where the member is absent.
    fileprivate func version(forKey key: Key) throws -> Int {
        contains(key) ? try integer(forKey: key, in: 0...9_007_199_254_740_991) : 0
    }

    /// Reads a time in seconds since 1970; 0 where the member is absent.
    fileprivate func time(forKey key: Key) throws -> Int {
        guard let text = try decodeIfPresent(String.self, forKey: key) else { return 0 }
        guard let date = try? Date(text, strategy: .iso8601), date.formatted(.iso8601) == text,
            let seconds = Int(exactly: date.timeIntervalSince1970),
            PlaceFields.writtenSeconds.contains(seconds)
        else { throw fault(key, "must be a time in UTC, such as 2026-11-30T23:45:12Z") }
        return seconds
    }

    /// Reads a team's own properties of a place, as small as the service's schema demands.
    fileprivate func ownProperties(forKey key: Key) throws -> JSONValue.Object? {
        let properties = try decodeIfPresent(JSONValue.Object.self, forKey: key)
        guard let properties else { return nil }
        guard properties.json.count <= 4096, JSONValue.object(properties).levels <= 3 else {
            throw fault(key, "must be an object of at most 4096 bytes and three levels")
        }
        return properties.inStoredOrder
    }

    /// Reads a category's name. It has the form that the service's schema demands, so that apps can ask for it.
    fileprivate func category(forKey key: Key) throws -> String {
        let name = try decode(String.self, forKey: key)
        guard name.utf8.count <= 50, name.wholeMatch(of: /[a-z][a-z0-9]*(_[a-z0-9]+)*/) != nil else {
            throw fault(key, "must be lower-case words joined by underscores, of at most 50 characters")
        }
        return name
    }
}

extension String {
    /// Whether it fits on one line.
    fileprivate func isLine(limit: Int) -> Bool {
        (1...limit).contains(unicodeScalars.count)
            && !unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}

extension JSONValue.Object {
    /// The same with all members in the order of PostgreSQL's `jsonb`: the shorter name first, then by bytes.
    var inStoredOrder: JSONValue.Object {
        let members = members.sorted { one, other in
            let (left, right) = (one.name.utf8, other.name.utf8)
            return left.count == right.count
                ? left.lexicographicallyPrecedes(right) : left.count < right.count
        }
        return JSONValue.Object(members.map { ($0.name, $0.value.inStoredOrder) })
    }
}

extension JSONValue {
    fileprivate var inStoredOrder: JSONValue {
        switch self {
        case .array(let values): .array(values.map(\.inStoredOrder))
        case .object(let object): .object(object.inStoredOrder)
        default: self
        }
    }

    /// How many objects and arrays are in each other at most.
    var levels: Int {
        switch self {
        case .array(let values): 1 + (values.map(\.levels).max() ?? 0)
        case .object(let object): 1 + (object.members.map(\.value.levels).max() ?? 0)
        default: 0
        }
    }
}

/// Why a document can't be used as fixtures: every fault that was found in it.
package struct FixtureError: Error, Hashable, CustomStringConvertible {
    /// The faults, in the document's order; at least one.
    package let faults: [DocumentFault]

    /// The first fault and how many more there are, in one line.
    package var description: String {
        let more = faults.count > 1 ? " (and \(faults.count - 1) more)" : ""
        return (faults.first?.description ?? "not fixtures") + more
    }
}

/// One fault of a JSON document, and where it is.
package struct DocumentFault: Hashable, Sendable, CustomStringConvertible {
    /// Where: `[3].latitude`; empty for the document as a whole.
    package let path: String
    /// What is wrong there, as the rest of a sentence that begins with the path.
    package let detail: String

    /// The path and what is wrong there, in a sentence.
    package var description: String { path.isEmpty ? "the document \(detail)" : "\(path) \(detail)" }
}

extension DocumentFault {
    /// The maximum number of bytes of a member's name, as it is written.
    static let maximumNameBytes = 256

    /// The fault of a JSON document that has a member with a longer name than `maximumNameBytes`; nil if it has none.
    ///
    /// A decoder hashes the names. To normalize a long name of combining marks for that takes time that grows with the
    /// square of its length.
    static func longName(in json: [UInt8]) -> DocumentFault? {
        var rest = json[...]
        while let quote = rest.firstIndex(of: UInt8(ascii: "\"")) {
            let start = quote + 1
            var end = start
            while end < json.endIndex, json[end] != UInt8(ascii: "\"") {
                end += json[end] == UInt8(ascii: "\\") ? 2 : 1
            }
            guard end < json.endIndex else { return nil }
            rest = json[(end + 1)...].drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
            if end - start > maximumNameBytes, rest.first == UInt8(ascii: ":") {
                return DocumentFault(
                    path: "", detail: "has a member whose name has more than \(maximumNameBytes) bytes")
            }
        }
        return nil
    }

    /// Describes what a decoder threw.
    init(anyError error: any Error) {
        switch error as? DecodingError {
        case .keyNotFound(let key, let context):
            self.init(context.codingPath + [key], "is missing")
        case .valueNotFound(let type, let context), .typeMismatch(let type, let context):
            self.init(context.codingPath, "must be \(Self.expectation(of: type))")
        case .dataCorrupted(let context):
            // A fault of the document as a whole is one of its syntax.
            self.init(
                context.codingPath, context.codingPath.isEmpty ? "is not JSON" : context.debugDescription)
        default:
            self.init(path: "", detail: "can't be read")
        }
    }

    private init(_ codingPath: [any CodingKey], _ detail: String) {
        self.init(path: Self.path(codingPath), detail: detail)
    }

    /// A decoder's path in the usual notation.
    static func path(_ codingPath: [any CodingKey]) -> String {
        codingPath.reduce(into: "") { path, key in
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
    }

    private static func expectation(of type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a text"
        case is Bool.Type: "true or false"
        case is Int.Type: "a whole number"
        case is Double.Type: "a number"
        case is [String: Any].Type: "an object"
        default: "an array"
        }
    }
}
