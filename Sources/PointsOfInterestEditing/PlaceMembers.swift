import EditingAPI
import PointsOfInterestHTTP

// A member of a draft has a name here, as in `EditablePlace.sourceValues`: `address`, `names.de`, `properties.phone`.

extension PlaceDraft {
    private static let namesPrefix = "names."
    private static let propertiesPrefix = "properties."

    /// The values of all members that have one.
    var values: [String: JSONValue] {
        var values: [String: JSONValue] = [
            "name": .string(name), "category": .string(category), "latitude": .number(latitude),
            "longitude": .number(longitude), "featured": .boolean(featured),
            "importance": .integer(importance),
        ]
        values["address"] = address.map(JSONValue.string)
        values["website"] = website.map(JSONValue.string)
        values["operatingStatus"] = operatingStatus.map { .string($0.rawValue) }
        if !otherNames.isEmpty { values["otherNames"] = .array(otherNames.map(JSONValue.string)) }
        for (language, name) in names { values[Self.namesPrefix + language] = .string(name) }
        for (name, value) in properties where value != .null {
            values[Self.propertiesPrefix + name] = value.withoutNulls
        }
        return values
    }

    /// The names of the members that differ from those of another draft.
    func members(differingFrom other: PlaceDraft) -> Set<String> {
        let (values, others) = (values, other.values)
        return Set(values.keys).union(others.keys).filter { values[$0] != others[$0] }
    }

    /// Takes one member from another draft; a name that no member has changes nothing.
    mutating func take(_ member: String, from other: PlaceDraft) {
        switch member {
        case "name": name = other.name
        case "category": category = other.category
        case "latitude": latitude = other.latitude
        case "longitude": longitude = other.longitude
        case "address": address = other.address
        case "website": website = other.website
        case "operatingStatus": operatingStatus = other.operatingStatus
        case "featured": featured = other.featured
        case "importance": importance = other.importance
        case "otherNames": otherNames = other.otherNames
        default:
            if let language = member.dropping(Self.namesPrefix) {
                names[language] = other.names[language]
            } else if let property = member.dropping(Self.propertiesPrefix) {
                properties[property] = other.properties[property]
            }
        }
    }

    /// The JSON merge patch (RFC 7396) that makes this draft of another one: what differs, and `null` for what is taken away.
    /// Names and properties are patched one by one, other names as a whole.
    func patch(of other: PlaceDraft) -> JSONValue.Object {
        let (values, others) = (values, other.values)
        var patch: [String: JSONValue] = [:]
        var names: [String: JSONValue] = [:]
        var properties: [String: JSONValue] = [:]
        for member in members(differingFrom: other) {
            let value = values[member].map { $0.patch(of: others[member]) } ?? .null
            if let language = member.dropping(Self.namesPrefix) {
                names[language] = value
            } else if let property = member.dropping(Self.propertiesPrefix) {
                properties[property] = value
            } else {
                // An empty list is a value, unlike an address that there isn't.
                patch[member] = member == "otherNames" && value == .null ? .array([]) : value
            }
        }
        if !names.isEmpty { patch["names"] = .object(JSONValue.Object(names)) }
        if !properties.isEmpty { patch["properties"] = .object(JSONValue.Object(properties)) }
        return JSONValue.Object(patch)
    }

    /// The members of a new place of a dataset, without those that have no value.
    package func content(in dataset: String?) -> JSONValue.Object {
        var content = values.filter { $0.key.firstIndex(of: ".") == nil }
        if !names.isEmpty { content["names"] = .object(JSONValue.Object(names.mapValues(JSONValue.string))) }
        let properties = properties.filter { $0.value != .null }.mapValues(\.withoutNulls)
        if !properties.isEmpty { content["properties"] = .object(JSONValue.Object(properties)) }
        content["dataset"] = dataset.map(JSONValue.string)
        return JSONValue.Object(content)
    }
}

extension JSONValue {
    /// The value without members of objects that are `null`: a merge patch takes these away.
    fileprivate var withoutNulls: JSONValue {
        guard case .object(let object) = self else { return self }
        let values = object.valuesByName.filter { $0.value != .null }
        return .object(Object(values.mapValues(\.withoutNulls)))
    }

    /// The merge patch that makes this value of another one.
    fileprivate func patch(of other: JSONValue?) -> JSONValue {
        guard case .object(let object) = self, case .object(let other)? = other else { return self }
        let (values, others) = (object.valuesByName, other.valuesByName)
        var patch: [String: JSONValue] = [:]
        for name in Set(values.keys).union(others.keys) where values[name] != others[name] {
            patch[name] = values[name].map { $0.patch(of: others[name]) } ?? .null
        }
        return .object(Object(patch))
    }
}

extension String {
    /// What follows a prefix; nil where it isn't there.
    fileprivate func dropping(_ prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}
