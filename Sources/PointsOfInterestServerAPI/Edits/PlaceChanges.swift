import PointsOfInterestAPI

/// What an editor wants to change of a place, or gives a new one.
package struct PlaceChanges: Hashable, Sendable {
    /// JSON of an object: the values by members' names in the database, such as `operating_status`, `names.de` and
    /// `properties.phone`; null takes a value away, and of `names` or `properties` all. A coordinate that stays is null in
    /// `position`. What isn't changed isn't there.
    package let members: [UInt8]
    /// The members that are to show again what their source says, by their names in the database.
    package let resets: [String]
    /// The members that nobody edits, as they were sent: their names, and JSON of their values.
    package let readOnly: [(name: String, json: [UInt8])]
    /// The dataset of a new place, where it is to be another than `EditLimits.dataset`.
    package var dataset: String?

    package static func == (one: Self, other: Self) -> Bool {
        one.members == other.members && one.resets == other.resets
            && one.readOnly.elementsEqual(other.readOnly) { $0 == $1 } && one.dataset == other.dataset
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(members)
        hasher.combine(resets)
    }
}

/// Why an edit was refused. Nothing is changed.
package enum EditContentError: Error, Hashable, Sendable {
    /// The body isn't JSON; `reason` names the first byte that is wrong.
    case malformed(reason: String)
    /// Members have faults; never empty.
    case invalid([Problem.MemberFault])
}

extension Problem {
    /// Makes the problem of an edit that was refused.
    package init(_ error: EditContentError, requestId: String? = nil) {
        switch error {
        case .malformed(let reason): self.init(.malformedBody, detail: reason, requestId: requestId)
        case .invalid(let faults):
            let members = faults.count == 1 ? "1 member is" : "\(faults.count) members are"
            self.init(
                .invalidContent, detail: "\(members) refused, so nothing was changed", requestId: requestId,
                memberErrors: faults)
        }
    }
}

/// The maximum sizes of an edit.
package enum EditLimits {
    /// Bytes of a body. Escaped, a place's names and properties may have six times as many as unescaped.
    package static let bodyBytes = 128 << 10
    /// Faults that are named.
    static let faults = 100
    package static let nameLength = 200
    package static let addressLength = 300
    /// Bytes of a property's name.
    static let propertyNameBytes = 400
    /// Bytes of all properties together, and so of each.
    package static let propertiesBytes = 4096
    package static let names = 300
    /// The dataset of the places that people make. A place may be made in a dataset whose name begins with this and a hyphen.
    package static let dataset = "editorial"
    private static let datasetLength = 100

    static func isDataset(_ name: String) -> Bool {
        let (name, own) = (name.utf8, dataset.utf8)
        return name.elementsEqual(own)
            || name.count <= datasetLength && name.starts(with: "\(dataset)-".utf8)
                && name.count > own.count + 1
                && name.dropFirst(own.count).allSatisfy { byte in
                    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
                }
    }
}

/// A member of a place's record (`EditablePlace`).
package enum PlaceMember: String, CaseIterable {
    case name, category, latitude, longitude, address, website, operatingStatus, featured, importance
    case names, otherNames, properties
    // These aren't edited.
    case id, version, updatedAt, source, sourceValues, `import`
    /// Isn't in the record: what a correction is taken back of.
    case reset
    /// Isn't in the record: a new place's dataset, which is in the record's source.
    case dataset

    /// Its name in the database.
    var column: String {
        switch self {
        case .operatingStatus: "operating_status"
        case .otherNames: "other_names"
        case .latitude, .longitude: "position"
        default: rawValue
        }
    }

    /// The name in the database of a member as responses name it: `otherNames`, `names.de`; nil for what is no such name.
    static func column(of name: String) -> String? {
        for prefix in ["names.", "properties."] where name.utf8.starts(with: prefix.utf8) {
            return name.utf8.count > prefix.utf8.count ? name : nil
        }
        if name == "*" { return name }
        switch PlaceMember(rawValue: name) {
        case nil, .id, .version, .updatedAt, .source, .sourceValues, .import, .reset, .dataset: return nil
        case let member?: return member.column
        }
    }
}
