import Foundation

/// A place, as the service describes it.
///
/// `Codable` is for apps and their tests. The service writes places straight from database rows, without making
/// this type: see `PlaceFields` on its side.
public struct PointOfInterest: Hashable, Sendable, Identifiable {
    /// Where a place's data come from, and their licence.
    public struct Source: Hashable, Sendable, Codable {
        /// The dataset's name.
        public let dataset: String
        /// The place's id in that dataset.
        public let id: String
        /// The licence of the data.
        public let license: String

        /// Makes a source.
        public init(dataset: String, id: String, license: String) {
            self.dataset = dataset
            self.id = id
            self.license = license
        }
    }

    /// The place's number, never given to another place.
    public let id: Int
    /// The name to show.
    public let name: String
    /// The language that the name is in (BCP 47), where the request asks for languages and the place has a name in one of them;
    /// nil otherwise.
    public let language: String?
    /// The place's category; new categories appear over time.
    public let category: String
    /// WGS 84 degrees north, −90…90.
    public let latitude: Double
    /// WGS 84 degrees east, −180…180.
    public let longitude: Double
    /// Whether the place's editors want it to be shown first.
    public let featured: Bool
    /// Geodesic distance from the request's centre in metres, to 0.1 m; nil where there is no centre.
    public private(set) var distance: Double?
    /// The postal address, where known.
    public let address: String?
    /// The website, where known; not necessarily a valid URL.
    public let website: String?
    /// Where the data come from, where known.
    public let source: Source?
    /// How important the place is among others, 0…1000: a map labels the most important ones first.
    public let importance: Int
    /// What the service's team knows of the place beyond these: all of it in the response to a request for one place,
    /// otherwise what the request names. Nil where the response has none.
    public let properties: JSONValue.Object?
    /// The name that the place was found by, in the response to a search by relevance, where that isn't `name`.
    public let matchedName: String?
    /// The word of the search text that the place was found without, as it is written there, in the response to a search by
    /// relevance that finds nothing with all words; from version 0.7.0 of the service on.
    public let leftOut: String?
    /// What the category is called in one of the languages that were asked for; nil where it has no label in any of them, and from
    /// version 0.7.0 of the service on.
    public let categoryLabel: String?
    /// The ids that were asked for and whose places were merged into this one, in ascending order, in the response to a request for
    /// places by their ids, from version 0.6.0 of the service on; otherwise empty.
    public let mergedFrom: [Int]
    /// Whether the place is closed for a time or for good; nil where nothing is known of it being closed.
    public let operatingStatus: OperatingStatus?
    /// A number, at least 0, that is another one after each change of the place. Only a response to a request for one place has
    /// it, from version 0.5.0 of the service on.
    public let version: Int?
    /// When the place was changed last, to the second. Only a response to a request for one place has it, from version 0.5.0 of
    /// the service on.
    public let updatedAt: Date?

    /// Makes a point of interest. The distance, in metres, is rounded to 0.1 m, halves away from zero.
    public init(
        id: Int, name: String, category: String, latitude: Double, longitude: Double, featured: Bool = false,
        distance: Double? = nil, address: String? = nil, website: String? = nil, source: Source? = nil,
        importance: Int = 0, properties: JSONValue.Object? = nil, language: String? = nil,
        matchedName: String? = nil, leftOut: String? = nil, categoryLabel: String? = nil,
        mergedFrom: [Int] = [], operatingStatus: OperatingStatus? = nil,
        version: Int? = nil, updatedAt: Date? = nil
    ) {
        self.id = id
        self.name = name
        self.language = language
        self.category = category
        self.latitude = latitude
        self.longitude = longitude
        self.featured = featured
        self.distance = Self.rounded(distance)
        self.address = address
        self.website = website
        self.source = source
        self.importance = importance
        self.properties = properties
        self.matchedName = matchedName
        self.leftOut = leftOut
        self.categoryLabel = categoryLabel
        self.mergedFrom = mergedFrom
        self.operatingStatus = operatingStatus
        self.version = version
        self.updatedAt = updatedAt
    }

    /// The properties as a type of the app's own. A place without any is decoded from an empty object.
    ///
    /// - Throws: `DecodingError` where the type needs a property that isn't there, or of another type.
    public func properties<Properties: Decodable>(as _: Properties.Type) throws -> Properties {
        try JSONDecoder().decode(Properties.self, from: Data((properties ?? [:]).json))
    }

    /// The same place at another distance in metres, or without one.
    package func at(distance: Double?) -> PointOfInterest {
        var place = self
        place.distance = Self.rounded(distance)
        return place
    }

    private static func rounded(_ distance: Double?) -> Double? {
        distance.map { ($0 * 10).rounded() / 10 }
    }
}

extension PointOfInterest: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, name, language, category, latitude, longitude, featured, distance, address, website, source
        case importance, operatingStatus, matchedName, leftOut, mergedFrom, categoryLabel, version, updatedAt
        case properties
    }

    /// Decodes a place; unknown fields are ignored, and a malformed optional one is nil.
    ///
    /// - Throws: `DecodingError` if a field that every place has is missing or malformed.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func optional<Field: Decodable>(_ key: CodingKeys) -> Field? {
            try? container.decodeIfPresent(Field.self, forKey: key)
        }
        self.init(
            id: try container.decode(Int.self, forKey: .id),
            name: try container.decode(String.self, forKey: .name),
            category: try container.decode(String.self, forKey: .category),
            latitude: try container.decode(Double.self, forKey: .latitude),
            longitude: try container.decode(Double.self, forKey: .longitude),
            featured: try container.decode(Bool.self, forKey: .featured),
            distance: optional(.distance),
            address: optional(.address),
            website: optional(.website),
            source: optional(.source),
            importance: optional(.importance) ?? 0,
            properties: optional(.properties),
            language: optional(.language),
            matchedName: optional(.matchedName),
            leftOut: optional(.leftOut),
            categoryLabel: optional(.categoryLabel),
            mergedFrom: optional(.mergedFrom) ?? [],
            operatingStatus: optional(.operatingStatus),
            version: optional(.version),
            updatedAt: (optional(.updatedAt) as String?).flatMap { try? Date($0, strategy: .iso8601) })
    }

    /// Encodes the place as the service does: what isn't known, an importance of 0, and an empty `mergedFrom`, is left out.
    ///
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(name, forKey: .name)
        try container.encodeIfPresent(language, forKey: .language)
        try container.encode(category, forKey: .category)
        try container.encode(latitude, forKey: .latitude)
        try container.encode(longitude, forKey: .longitude)
        try container.encode(featured, forKey: .featured)
        try container.encodeIfPresent(distance, forKey: .distance)
        try container.encodeIfPresent(address, forKey: .address)
        try container.encodeIfPresent(website, forKey: .website)
        try container.encodeIfPresent(source, forKey: .source)
        if importance != 0 { try container.encode(importance, forKey: .importance) }
        try container.encodeIfPresent(operatingStatus, forKey: .operatingStatus)
        try container.encodeIfPresent(matchedName, forKey: .matchedName)
        try container.encodeIfPresent(leftOut, forKey: .leftOut)
        if !mergedFrom.isEmpty { try container.encode(mergedFrom, forKey: .mergedFrom) }
        try container.encodeIfPresent(categoryLabel, forKey: .categoryLabel)
        try container.encodeIfPresent(version, forKey: .version)
        try container.encodeIfPresent(updatedAt?.formatted(.iso8601), forKey: .updatedAt)
        try container.encodeIfPresent(properties, forKey: .properties)
    }
}

/// Whether a place is closed. A newer service may send values that aren't here.
public struct OperatingStatus: RawRepresentable, Hashable, Sendable, Codable {
    /// The value as it is written in JSON.
    public let rawValue: String

    /// Makes a status, known or not.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The place is closed, and is to open again.
    public static let temporarilyClosed = OperatingStatus(rawValue: "temporarilyClosed")
    /// The place has closed for good. It is found by its id alone: no list has it, no search, cluster or count.
    public static let permanentlyClosed = OperatingStatus(rawValue: "permanentlyClosed")
}

/// A category and how many places it has: an item of the response to `GET /categories`.
public struct CategoryCount: Hashable, Sendable, Codable {
    /// The category's name, as `NearbyPlacesRequest.categories` takes it.
    public let name: String
    /// How many places are of this category now.
    public let count: Int
    /// What it is called in one of the languages that were asked for; nil where it has no label in any of them, and from version
    /// 0.7.0 of the service on.
    public let label: String?
    /// By languages in lower case, what it is called, then other words that find it; nil unless they were asked for.
    package let words: [String: [String]]?

    /// Makes an item.
    public init(name: String, count: Int, label: String? = nil) {
        self.init(name: name, count: count, label: label, words: nil)
    }

    package init(name: String, count: Int, label: String? = nil, words: [String: [String]]?) {
        self.name = name
        self.count = count
        self.label = label
        self.words = words
    }
}

extension [CategoryCount] {
    /// The body of a response to `GET /categories`.
    package var json: [UInt8] {
        var writer = JSONWriter(capacity: 16 + 64 * count)
        writer.value(self)
        return writer.bytes
    }
}

extension JSONWriter {
    /// Writes the body of a response to `GET /categories`.
    package mutating func value(_ categories: [CategoryCount]) {
        beginArray()
        for category in categories {
            beginObject()
            member("name", category.name)
            member("count", category.count)
            if let label = category.label { member("label", label) }
            if let words = category.words { write(words) }
            endObject()
        }
        endArray()
    }

    private mutating func write(_ words: [String: [String]]) {
        name("words")
        beginObject()
        for (language, words) in words.sorted(by: { $0.key < $1.key }) {
            name(escaping: language)
            beginArray()
            for word in words { value(word) }
            endArray()
        }
        endObject()
    }
}

/// A dataset that places came from, with its licence and credit: an item of the response to `GET /attributions`.
public struct Attribution: Hashable, Sendable, Codable {
    /// The dataset's name, as `PointOfInterest.Source` has it.
    public let dataset: String
    /// The licence of the data: an SPDX expression where there is one.
    public let license: String
    /// What the licence asks a map to show, where known.
    public let credit: String?
    /// A page about the dataset or its licence, where known; not necessarily a valid URL.
    public let url: String?
    /// How many places came from it.
    public let places: Int

    /// Makes an item.
    public init(dataset: String, license: String, credit: String? = nil, url: String? = nil, places: Int) {
        self.dataset = dataset
        self.license = license
        self.credit = credit
        self.url = url
        self.places = places
    }
}

extension JSONWriter {
    /// Writes the body of a response to `GET /attributions`.
    package mutating func value(_ attributions: [Attribution]) {
        beginArray()
        for attribution in attributions {
            beginObject()
            member("dataset", attribution.dataset)
            member("license", attribution.license)
            if let credit = attribution.credit { member("credit", credit) }
            if let url = attribution.url { member("url", url) }
            member("places", attribution.places)
            endObject()
        }
        endArray()
    }
}
