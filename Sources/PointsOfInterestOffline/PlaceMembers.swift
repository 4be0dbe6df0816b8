import Foundation
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import SpatialIndex

/// A place of a response, read without Foundation: where its members are in the bytes.
///
/// What a region's file says of a place is read as a response is: by the same members.
struct PlaceMembers {
    private var id: Int?
    private var latitude, longitude, distance: Double?
    private var featured: Bool?
    private var importance = 0
    private var version: Int?
    private var name, category, address, website, language, matchedName, leftOut, categoryLabel: JSONText?
    private var operatingStatus, updatedAt, hash: JSONText?
    private var dataset, sourceID, license: JSONText?
    private var properties, names: Range<Int>?
    private var otherNames: [JSONText] = []

    /// Reads an object; members that aren't known are skipped.
    init(_ scanner: inout JSONScanner) throws(JSONScanner.SyntaxError) {
        var place = PlaceMembers()
        try scanner.object { (member, scanner) throws(JSONScanner.SyntaxError) in
            try place.read(member, &scanner)
        }
        self = place
    }

    private init() {}

    private mutating func read(
        _ member: JSONText, _ scanner: inout JSONScanner
    ) throws(JSONScanner.SyntaxError) {
        switch member.decoded(in: scanner.bytes) {
        case "id": id = try scanner.integer()
        case "name": name = try scanner.string()
        case "category": category = try scanner.string()
        case "latitude": latitude = try scanner.double()
        case "longitude": longitude = try scanner.double()
        case "featured":
            featured = scanner.next == UInt8(ascii: "t")
            try scanner.skipValue()
        case "distance": distance = try scanner.double()
        case "address": address = try scanner.string()
        case "website": website = try scanner.string()
        case "source": try readSource(&scanner)
        case "importance": importance = try scanner.integer() ?? 0
        case "operatingStatus": operatingStatus = try scanner.string()
        case "language": language = try scanner.string()
        case "matchedName": matchedName = try scanner.string()
        case "leftOut": leftOut = try scanner.string()
        case "categoryLabel": categoryLabel = try scanner.string()
        case "version": version = try scanner.integer()
        case "updatedAt": updatedAt = try scanner.string()
        case "hash": hash = try scanner.string()
        case "properties": properties = try scanner.range()
        case "names": names = try scanner.range()
        case "otherNames":
            var texts: [JSONText] = []
            try scanner.array { (scanner) throws(JSONScanner.SyntaxError) in
                texts.append(try scanner.string())
            }
            otherNames = texts
        default: try scanner.skipValue()
        }
    }

    private mutating func readSource(_ scanner: inout JSONScanner) throws(JSONScanner.SyntaxError) {
        var (dataset, id, license): (JSONText?, JSONText?, JSONText?)
        try scanner.object { (member, scanner) throws(JSONScanner.SyntaxError) in
            switch member.decoded(in: scanner.bytes) {
            case "dataset": dataset = try scanner.string()
            case "id": id = try scanner.string()
            case "license": license = try scanner.string()
            default: try scanner.skipValue()
            }
        }
        (self.dataset, sourceID, self.license) = (dataset, id, license)
    }
}

extension PlaceMembers {
    /// The place as an app has it; nil where a member is missing that every place has.
    func place(in scanner: JSONScanner) -> PointOfInterest? {
        let bytes = scanner.bytes
        guard let id, let name, let category, let latitude, let longitude, let featured else { return nil }
        func text(_ member: JSONText?) -> String? { member?.decoded(in: bytes) }
        var source: PointOfInterest.Source?
        if let dataset = text(dataset), let id = text(sourceID), let license = text(license) {
            source = PointOfInterest.Source(dataset: dataset, id: id, license: license)
        }
        let properties = properties.flatMap { range in
            try? JSONDecoder().decode(JSONValue.Object.self, from: Data(bytes[range]))
        }
        return PointOfInterest(
            id: id, name: name.decoded(in: bytes), category: category.decoded(in: bytes), latitude: latitude,
            longitude: longitude, featured: featured, distance: distance, address: text(address),
            website: text(website), source: source, importance: importance, properties: properties,
            language: text(language), matchedName: text(matchedName), leftOut: text(leftOut),
            categoryLabel: text(categoryLabel),
            operatingStatus: text(operatingStatus).map(OperatingStatus.init(rawValue:)), version: version,
            updatedAt: text(updatedAt).flatMap { try? Date($0, strategy: .iso8601) })
    }

    /// The place as a part is packed from, and the hash of its content as the service has it; nil where a member is missing.
    func fields(in scanner: JSONScanner) -> (place: PlaceFields, hash: UInt64)? {
        let bytes = scanner.bytes
        func text(_ member: JSONText?) -> PlaceFields.Text? {
            member.flatMap { $0.withContent(in: bytes, atMost: .max) { Array($0)[...] } }
        }
        guard let id, let latitude, let longitude, let featured, let name = text(name),
            let category = text(category), let hash = text(hash).flatMap(DigestRequest.hash)
        else { return nil }
        var source: PlaceFields.Source?
        if let dataset = text(dataset), let id = text(sourceID), let license = text(license) {
            source = PlaceFields.Source(dataset: dataset, id: id, license: license)
        }
        let others = Array(otherNames.compactMap(text).joined(separator: [PlaceFields.betweenOtherNames]))
        let changed = updatedAt.flatMap { try? Date($0.decoded(in: bytes), strategy: .iso8601) }
        let place = PlaceFields(
            id: id, name: name, category: category, latitude: latitude, longitude: longitude,
            featured: featured, address: text(address), website: text(website), source: source,
            importance: importance, properties: properties.map { Array(bytes[$0])[...] },
            names: names.map { Array(bytes[$0])[...] }, otherNames: others.isEmpty ? nil : others[...],
            operatingStatus: operatingStatus.map { OperatingStatus(rawValue: $0.decoded(in: bytes)) },
            version: version ?? 0, updatedAtSeconds: changed.map { Int($0.timeIntervalSince1970) } ?? 0)
        return (place, hash)
    }
}

extension JSONScanner {
    fileprivate mutating func double() throws(SyntaxError) -> Double? {
        let range = try number()
        let value = value(ofNumber: range)
        return value.isFinite ? value : nil
    }

    fileprivate mutating func integer() throws(SyntaxError) -> Int? {
        integer(ofNumber: try number())
    }

    /// Where a value is.
    fileprivate mutating func range() throws(SyntaxError) -> Range<Int> {
        let start = position
        try skipValue()
        return start..<position
    }
}
