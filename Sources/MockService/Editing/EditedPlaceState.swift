import Foundation
import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import SpatialIndex

/// A place of a mock while it is edited, in the form in which the database has it.
struct EditedPlaceState: Hashable {
    let id: Int64
    var version: Int
    var updatedAtSeconds: Int
    let source: PointOfInterest.Source?
    /// The values by their names in the database, such as `operating_status`, `names.de` and `properties.phone`; both coordinates
    /// are one, `position`.
    var members: [String: JSONValue]
    /// What the source says of the members that are corrected; null where it says nothing.
    var sourceValues: [String: JSONValue] = [:]

    /// How many versions there are: the integers that every JSON implementation reads exactly.
    private static let versionCount = 1 << 53

    /// A place without any values.
    init(id: Int64, source: PointOfInterest.Source) {
        (self.id, self.source) = (id, source)
        (version, updatedAtSeconds) = (0, 0)
        members = ["featured": false, "importance": 0]
    }

    /// Makes it another version, which the place never had before.
    mutating func renew(atSeconds seconds: Int) {
        version = (version + 1) % Self.versionCount
        updatedAtSeconds = seconds
    }

    // MARK: Members

    /// What the source says.
    var sourceMembers: [String: JSONValue] {
        members.merging(sourceValues) { $1 }.filter { sourceValues[$0.key] != .null }
    }

    /// The names that a place is found by, but for those that are only searched.
    var shownNames: [String] {
        members.filter { $0.key == "name" || $0.key.begins(with: "names.") }.values.compactMap(\.text)
    }

    /// The names that are only searched.
    var otherNames: [String] {
        guard case .array(let names) = members["other_names"] else { return [] }
        return names.compactMap(\.text)
    }

    /// Takes values; null takes one away.
    mutating func set(_ changes: [String: JSONValue]) {
        for (name, value) in changes { members[name] = value == .null ? nil : value }
    }

    /// The members that a patch makes others. A null of `names` or `properties` takes all of them away, one within a position
    /// leaves the coordinate.
    func patched(by patch: [String: JSONValue]) -> [String: JSONValue] {
        var wanted: [String: JSONValue] = [:]
        for (name, value) in patch {
            switch name {
            case "names", "properties":
                for member in members.keys where member.begins(with: name + ".") { wanted[member] = .null }
            case "position": wanted[name] = position(replacedBy: value)
            case "featured" where value == .null: wanted[name] = false
            case "importance" where value == .null: wanted[name] = 0
            case _ where name.begins(with: "properties."):
                wanted[name] = JSONValue.merging(members[name] ?? .null, value)
            default: wanted[name] = value
            }
        }
        return wanted.filter { $0.value != members[$0.key] ?? .null }
    }

    private func position(replacedBy value: JSONValue) -> JSONValue {
        guard case .array(let wanted) = value, case .array(let old) = members["position"] else {
            return value
        }
        return .array(zip(wanted, old).map { $0 == .null ? $1 : $0 })
    }

    /// The members whose names begin so, by the rest of their names.
    private func members(of prefix: String) -> [String: JSONValue] {
        var found: [String: JSONValue] = [:]
        for (name, value) in members where name.begins(with: prefix) {
            found[String(decoding: name.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)] = value
        }
        return found
    }

    // MARK: What the tables' constraints demand

    /// Checks what wasn't known when the request was decoded.
    func check(_ categories: NameVocabulary) throws(EditError) {
        let names = members(of: "names.")
        let tags = Set(names.keys.map(\.asciiLowercased))
        let texts = names.keys + names.values.compactMap(\.text) + otherNames
        guard tags.count == names.count, names.count + otherNames.count <= 300,
            texts.reduce(0, { $0 + $1.utf8.count }) <= 8192
        else { throw .invalid([.tooManyNames]) }
        let properties = JSONValue.object(JSONValue.Object(members(of: "properties.")))
        guard properties.storedBytes <= 4096, properties.levels <= 3 else {
            throw .invalid([.largeProperties])
        }
        guard categories.contains(members["category"]?.text ?? "") else { throw .invalid([.unknownCategory]) }
    }

    // MARK: As places are served

    init(_ place: PlaceFields) {
        func text(_ text: PlaceFields.Text) -> String { String(decoding: text, as: UTF8.self) }
        func object(_ json: PlaceFields.Text?) -> [String: JSONValue] {
            json.flatMap { try? JSONDecoder().decode([String: JSONValue].self, from: Data($0)) } ?? [:]
        }
        id = Int64(place.id)
        (version, updatedAtSeconds) = (place.version, place.updatedAtSeconds)
        source = place.source.map {
            .init(dataset: text($0.dataset), id: text($0.id), license: text($0.license))
        }
        members = [
            "name": .string(text(place.name)), "category": .string(text(place.category)),
            "position": .array([.init(decimal: place.latitude), .init(decimal: place.longitude)]),
            "featured": .boolean(place.featured), "importance": .integer(place.importance),
        ]
        members["address"] = place.address.map { .string(text($0)) }
        members["website"] = place.website.map { .string(text($0)) }
        members["operating_status"] = place.operatingStatus.map { .string($0.rawValue) }
        members["other_names"] = place.otherNames.map { names in
            .array(names.split(separator: PlaceFields.betweenOtherNames).map { .string(text($0)) })
        }
        for (name, value) in object(place.names) { members["names." + name] = value }
        for (name, value) in object(place.properties) { members["properties." + name] = value }
    }

    var fields: PlaceFields {
        func text(_ name: String) -> PlaceFields.Text? { members[name]?.text.map { Array($0.utf8)[...] } }
        let (names, properties) = (members(of: "names."), members(of: "properties."))
        return PlaceFields(
            id: Int(id), name: text("name") ?? [], category: text("category") ?? [],
            latitude: coordinates[0], longitude: coordinates[1], featured: members["featured"]?.flag ?? false,
            address: text("address"), website: text("website"),
            source: source.map { source in
                .init(
                    dataset: Array(source.dataset.utf8)[...], id: Array(source.id.utf8)[...],
                    license: Array(source.license.utf8)[...])
            },
            importance: members["importance"]?.wholeNumber ?? 0,
            properties: properties.isEmpty
                ? nil : JSONValue.Object(properties).inStoredOrder.json[...],
            names: names.isEmpty ? nil : JSONValue.Object(names).json[...],
            otherNames: otherNames.isEmpty
                ? nil
                : Array(otherNames.map { Array($0.utf8) }.joined(separator: [PlaceFields.betweenOtherNames]))[
                    ...],
            operatingStatus: members["operating_status"]?.text.map(OperatingStatus.init(rawValue:)),
            version: version, updatedAtSeconds: updatedAtSeconds)
    }

    private var coordinates: [Double] {
        guard case .array(let values) = members["position"], values.count == 2 else { return [0, 0] }
        return values.map { $0.decimal ?? 0 }
    }

    // MARK: As editors get it

    /// The place's record.
    var record: EditedPlace {
        let origin: JSONValue =
            source.map {
                ["dataset": .string($0.dataset), "id": .string($0.id), "license": .string($0.license)]
            }
            ?? .null
        let document: [String: JSONValue] = [
            "id": .integer(Int(id)), "version": .integer(version),
            "updatedAt": .string(Self.text(ofSeconds: updatedAtSeconds)),
            "name": members["name"] ?? .null, "category": members["category"] ?? .null,
            "latitude": .init(decimal: coordinates[0]), "longitude": .init(decimal: coordinates[1]),
            "address": members["address"] ?? .null, "website": members["website"] ?? .null,
            "operatingStatus": members["operating_status"] ?? .null,
            "featured": members["featured"] ?? false, "importance": members["importance"] ?? 0,
            "names": .object(JSONValue.Object(members(of: "names."))),
            "otherNames": members["other_names"] ?? [],
            "properties": .object(JSONValue.Object(members(of: "properties."))),
            "source": origin, "sourceValues": .object(JSONValue.Object(Self.parts(of: sourceValues))),
            "import": .null,
        ]
        return EditedPlace(
            id: id, version: Int64(version), json: JSONValue.Object(document).inStoredOrder.json)
    }

    /// What a change in a list of all places' says of its place.
    var placeOfChange: [(String, JSONValue)] {
        [
            ("id", .integer(Int(id))), ("name", members["name"] ?? .null),
            ("latitude", .init(decimal: coordinates[0])), ("longitude", .init(decimal: coordinates[1])),
        ]
    }

    /// Whether it is in a box.
    func isIn(_ box: BoundingBox) -> Bool {
        box.contains(latitude: coordinates[0], longitude: coordinates[1])
    }

    /// What differs in a later state, by the names that responses have. What the source says below a correction is a member of
    /// its own.
    func changes(until later: EditedPlaceState) -> JSONValue {
        let (old, new) = (Self.parts(of: historyMembers), Self.parts(of: later.historyMembers))
        var changes: [String: JSONValue] = [:]
        for name in Set(old.keys).union(new.keys) where old[name] != new[name] {
            let values = [("before", old[name]), ("after", new[name])].compactMap { when, value in
                value.map { (when, $0) }
            }
            changes[name] = .object(JSONValue.Object(values))
        }
        return .object(JSONValue.Object(changes))
    }

    private var historyMembers: [String: JSONValue] {
        var all = members
        for (name, value) in sourceValues where value != .null { all["source of " + name] = value }
        return all
    }

    /// Members by the names that responses have, in which each coordinate is one.
    private static func parts(of members: [String: JSONValue]) -> [String: JSONValue] {
        var parts: [String: JSONValue] = [:]
        for (name, value) in members {
            let prefix = name.begins(with: "source of ") ? "source of " : ""
            switch (String(decoding: name.utf8.dropFirst(prefix.utf8.count), as: UTF8.self), value) {
            case ("position", .array(let coordinates)):
                for (axis, coordinate) in zip(["latitude", "longitude"], coordinates) {
                    parts[prefix + axis] = coordinate
                }
            case ("operating_status", _): parts[prefix + "operatingStatus"] = value
            case ("other_names", _): parts[prefix + "otherNames"] = value
            default: parts[name] = value
            }
        }
        return parts
    }

    static func text(ofSeconds seconds: Int) -> String {
        Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
    }
}

extension String {
    /// Whether its bytes begin so. A combining mark behind the prefix would make another character of its end.
    func begins(with prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }
}

extension JSONValue {
    /// A number as a decoder reads it.
    fileprivate init(decimal number: Double) {
        self = Int(exactly: number).map { .integer($0) } ?? .number(number)
    }

    /// A value after a patch (RFC 7396, section 2).
    fileprivate static func merging(_ target: JSONValue, _ patch: JSONValue) -> JSONValue {
        guard case .object(let changes) = patch else { return patch }
        var members: [String: JSONValue] = [:]
        if case .object(let target) = target { members = target.valuesByName }
        for (name, value) in changes.members {
            members[name] = value == .null ? nil : merging(members[name] ?? .null, value)
        }
        return .object(Object(members))
    }

    /// The bytes that PostgreSQL writes it with, which puts a blank after each colon and comma.
    fileprivate var storedBytes: Int {
        var writer = JSONWriter()
        writer.value(self)
        return writer.count + separatorCount
    }

    private var separatorCount: Int {
        switch self {
        case .array(let values): values.reduce(max(0, values.count - 1)) { $0 + $1.separatorCount }
        case .object(let object):
            object.members.reduce(max(0, 2 * object.members.count - 1)) { $0 + $1.value.separatorCount }
        default: 0
        }
    }
}
