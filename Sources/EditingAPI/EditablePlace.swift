import Foundation
import PointsOfInterestAPI

/// What people write about a place.
public struct PlaceDraft: Hashable, Sendable {
    /// The name to show: a line of at most 200 characters.
    public var name: String
    /// One of the service's categories.
    public var category: String
    /// WGS 84 degrees north, −90…90.
    public var latitude: Double
    /// WGS 84 degrees east, −180…180.
    public var longitude: Double
    /// The postal address, where known: a line of at most 300 characters.
    public var address: String?
    /// The website, where known: an address that begins with `https://` or `http://`, of at most 2048 characters.
    public var website: String?
    /// Whether the place is closed; nil where nothing is known of it being closed.
    public var operatingStatus: OperatingStatus?
    /// Whether the place is to be shown first.
    public var featured: Bool
    /// How important the place is among others, 0…1000.
    public var importance: Int
    /// Names by their language (BCP 47).
    public var names: [String: String]
    /// Names that the place is also found by, and that are never shown.
    public var otherNames: [String]
    /// What else is known of the place: at most 4096 bytes of JSON, of at most three levels.
    public var properties: [String: JSONValue]

    /// Makes the draft of a place.
    public init(
        name: String, category: String, latitude: Double, longitude: Double, address: String? = nil,
        website: String? = nil, operatingStatus: OperatingStatus? = nil, featured: Bool = false,
        importance: Int = 0, names: [String: String] = [:], otherNames: [String] = [],
        properties: [String: JSONValue] = [:]
    ) {
        self.name = name
        self.category = category
        self.latitude = latitude
        self.longitude = longitude
        self.address = address
        self.website = website
        self.operatingStatus = operatingStatus
        self.featured = featured
        self.importance = importance
        self.names = names
        self.otherNames = otherNames
        self.properties = properties
    }
}

/// A place as its editors see it: the record of `GET /locations/{id}/record`.
public struct EditablePlace: Hashable, Sendable, Identifiable {
    /// The place's number, never given to another place.
    public let id: Int
    /// Another number after each change, at least 0.
    public let version: Int
    /// When the place was changed last, to the second.
    public let updatedAt: Date
    /// What people may change, as it is now.
    public let draft: PlaceDraft
    /// Where the data come from; nil for a place without a dataset.
    public let source: PointOfInterest.Source?
    /// What the source says of the members that a person has corrected, by their names, such as `properties.phone`; `null` where
    /// it says nothing.
    public let sourceValues: [String: JSONValue]
    /// The number of the import that wrote the place last, where known.
    public let importNumber: Int?

    /// Makes a record.
    public init(
        id: Int, version: Int, updatedAt: Date, draft: PlaceDraft, source: PointOfInterest.Source? = nil,
        sourceValues: [String: JSONValue] = [:], importNumber: Int? = nil
    ) {
        self.id = id
        self.version = version
        self.updatedAt = updatedAt
        self.draft = draft
        self.source = source
        self.sourceValues = sourceValues
        self.importNumber = importNumber
    }
}

extension PlaceDraft: Codable {
    private enum CodingKeys: String, CodingKey {
        case name, category, latitude, longitude, address, website, operatingStatus, featured, importance
        case names, otherNames, properties
    }

    /// Decodes a draft; what isn't there is as in a new place.
    ///
    /// - Throws: `DecodingError` if the name, category or position is missing, or a member malformed.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func optional<Member: Decodable>(_ key: CodingKeys) throws -> Member? {
            try container.decodeIfPresent(Member.self, forKey: key)
        }
        self.init(
            name: try container.decode(String.self, forKey: .name),
            category: try container.decode(String.self, forKey: .category),
            latitude: try container.decode(Double.self, forKey: .latitude),
            longitude: try container.decode(Double.self, forKey: .longitude),
            address: try optional(.address), website: try optional(.website),
            operatingStatus: try optional(.operatingStatus), featured: try optional(.featured) ?? false,
            importance: try optional(.importance) ?? 0, names: try optional(.names) ?? [:],
            otherNames: try optional(.otherNames) ?? [], properties: try optional(.properties) ?? [:])
    }

    /// Encodes all members; those without a value as `null`.
    ///
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(category, forKey: .category)
        try container.encode(latitude, forKey: .latitude)
        try container.encode(longitude, forKey: .longitude)
        try container.encode(address, forKey: .address)
        try container.encode(website, forKey: .website)
        try container.encode(operatingStatus, forKey: .operatingStatus)
        try container.encode(featured, forKey: .featured)
        try container.encode(importance, forKey: .importance)
        try container.encode(names, forKey: .names)
        try container.encode(otherNames, forKey: .otherNames)
        try container.encode(properties, forKey: .properties)
    }
}

extension EditablePlace: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, version, updatedAt, source, sourceValues
        case importNumber = "import"
    }

    /// Decodes a record; unknown members are ignored.
    ///
    /// - Throws: `DecodingError` if a member that every record has is missing, or one is malformed.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try container.decode(Int.self, forKey: .id),
            version: try container.decode(Int.self, forKey: .version),
            updatedAt: try Date(container.decode(String.self, forKey: .updatedAt), strategy: .iso8601),
            draft: try PlaceDraft(from: decoder),
            source: try container.decodeIfPresent(PointOfInterest.Source.self, forKey: .source),
            sourceValues: try container.decodeIfPresent([String: JSONValue].self, forKey: .sourceValues)
                ?? [:],
            importNumber: try container.decodeIfPresent(Int.self, forKey: .importNumber))
    }

    /// Encodes the record, as the service does but for the order of its members.
    ///
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        try draft.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(version, forKey: .version)
        try container.encode(updatedAt.formatted(.iso8601), forKey: .updatedAt)
        try container.encode(source, forKey: .source)
        try container.encode(sourceValues, forKey: .sourceValues)
        try container.encode(importNumber, forKey: .importNumber)
    }
}

/// A change of a place: an item of `GET /locations/{id}/versions`.
public struct PlaceVersion: Hashable, Sendable, Codable {
    /// A member before and after the change; nil where it had no value.
    public struct MemberChange: Hashable, Sendable, Codable {
        /// The value before.
        public let before: JSONValue?
        /// The value afterwards.
        public let after: JSONValue?

        /// Makes a change.
        public init(before: JSONValue?, after: JSONValue?) {
            self.before = before
            self.after = after
        }
    }

    /// The place's version before the change, which can be restored.
    public let version: Int
    /// When it was, as text of RFC 3339.
    public let changedAt: String
    /// The editor, the import or the role that changed it.
    public let who: String
    /// Whether the place was removed; else its members were changed.
    public let isRemoval: Bool
    /// What was changed, by members' names such as `properties.phone`; `source of name` is what the source says below a correction.
    public let changes: [String: MemberChange]

    /// Makes a version.
    public init(
        version: Int, changedAt: String, who: String, isRemoval: Bool, changes: [String: MemberChange]
    ) {
        self.version = version
        self.changedAt = changedAt
        self.who = who
        self.isRemoval = isRemoval
        self.changes = changes
    }
}

/// A change of one of all places: an item of `GET /changes`.
public struct RecentChange: Hashable, Sendable, Codable {
    /// The place's number.
    public let id: Int
    /// The place's name now; that before the change where the place is gone.
    public let name: String
    /// Where the place is now, or was before the change where it is gone: the latitude in degrees.
    public let latitude: Double
    /// The longitude in degrees, as the latitude.
    public let longitude: Double
    /// What was changed, when and by whom.
    public let version: PlaceVersion

    /// Makes a change.
    public init(id: Int, name: String, latitude: Double, longitude: Double, version: PlaceVersion) {
        self.id = id
        self.name = name
        self.latitude = latitude
        self.longitude = longitude
        self.version = version
    }

    private enum CodingKeys: String, CodingKey {
        case id, name, latitude, longitude
    }

    /// Decodes a change; unknown members are ignored.
    ///
    /// - Throws: `DecodingError` if a member is missing or malformed.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try container.decode(Int.self, forKey: .id),
            name: try container.decode(String.self, forKey: .name),
            latitude: try container.decode(Double.self, forKey: .latitude),
            longitude: try container.decode(Double.self, forKey: .longitude),
            version: try PlaceVersion(from: decoder))
    }

    /// Encodes the change, whose version's members are beside the others.
    ///
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        try version.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(name, forKey: .name)
        try container.encode(latitude, forKey: .latitude)
        try container.encode(longitude, forKey: .longitude)
    }
}
