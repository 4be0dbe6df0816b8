/// The fields of a place, from which responses are written. Its texts are borrowed, not copied.
///
/// The server writes responses straight from a database's rows. The buffers hold UTF-8 and are valid only during the
/// call that passes the fields.
public struct PlaceFields {
    /// UTF-8 of a text.
    public typealias Text = UnsafeBufferPointer<UInt8>

    /// Where a place's data come from, as `PointOfInterest.Source` has it.
    public struct Source {
        package let dataset: Text
        let id: Text
        package let license: Text

        /// Borrows a source's texts.
        public init(dataset: Text, id: Text, license: Text) {
            self.dataset = dataset
            self.id = id
            self.license = license
        }
    }

    package let id: Int
    package let name: Text
    package let category: Text
    package let latitude: Double
    package let longitude: Double
    package let featured: Bool
    package let distance: Double?
    package let address: Text?
    let website: Text?
    package let source: Source?
    package let importance: Int
    /// JSON of an object.
    let properties: Text?
    /// The language of the name, where it isn't the one that all are shown.
    let language: Text?
    /// JSON of an object: a language's tag and a text each.
    package let names: Text?
    /// Names that are only searched, with `betweenOtherNames` between any two.
    package let otherNames: Text?
    /// The name that the place was found by, where that isn't the one that is shown.
    let matchedName: Text?

    /// Stands between names of `otherNames`, which have no control characters.
    package static let betweenOtherNames: UInt8 = 1

    /// Borrows a place's fields. The distance, in metres, is rounded to 0.1 m, halves away from zero.
    public init(
        id: Int, name: Text, category: Text, latitude: Double, longitude: Double, featured: Bool,
        distance: Double?, address: Text?, website: Text?, source: Source?, importance: Int = 0,
        properties: Text? = nil, language: Text? = nil, names: Text? = nil, otherNames: Text? = nil,
        matchedName: Text? = nil
    ) {
        self.id = id
        self.name = name
        self.category = category
        self.latitude = latitude
        self.longitude = longitude
        self.featured = featured
        self.distance = distance.map { ($0 * 10).rounded() / 10 }
        self.address = address
        self.website = website
        self.source = source
        self.importance = importance
        self.properties = properties
        self.language = language
        self.names = names
        self.otherNames = otherNames
        self.matchedName = matchedName
    }
}

extension PlaceFields {
    /// The record of the place; nil as for `PlaceRecord.encode`.
    package var record: [UInt8]? {
        var record: [UInt8] = []
        return PlaceRecord.encode(self, into: &record) ? record : nil
    }
}

/// A place with all its names, of which a response has one.
package struct StoredPlace {
    /// The place as it is shown where no language is asked for.
    package let place: PointOfInterest
    /// Its names by languages.
    package let names: [String: String]
    /// Names that are only searched.
    package let otherNames: [String]

    /// Makes a place.
    package init(_ place: PointOfInterest, names: [String: String] = [:], otherNames: [String] = []) {
        self.place = place
        self.names = names
        self.otherNames = otherNames
    }

    /// Calls a closure with the place's fields.
    package func withFields<Result>(_ body: (PlaceFields) throws -> Result) rethrows -> Result {
        let names = JSONValue.Object(self.names.mapValues(JSONValue.string)).json
        return try place.withFields(
            names: self.names.isEmpty ? nil : String(decoding: names, as: UTF8.self),
            otherNames: otherNames.isEmpty ? nil : otherNames.joined(separator: "\u{1}"), body)
    }
}

extension PointOfInterest {
    /// Calls a closure with the place's fields.
    public func withFields<Result>(_ body: (PlaceFields) throws -> Result) rethrows -> Result {
        try withFields(names: nil, otherNames: nil, body)
    }

    /// Calls a closure with the place's fields, and with its other names as `PlaceFields` has them.
    fileprivate func withFields<Result>(
        names: String?, otherNames: String?, _ body: (PlaceFields) throws -> Result
    ) rethrows -> Result {
        // All texts in one array: nested closures, one for each text, would be harder to read.
        let texts = [
            name, category, address, website, source?.dataset, source?.id, source?.license,
            properties.map { String(decoding: $0.json, as: UTF8.self) }, language, names, otherNames,
            matchedName,
        ]
        var bytes: [UInt8] = []
        var ranges: [Range<Int>?] = []
        for text in texts {
            let start = bytes.count
            if let text { bytes.append(contentsOf: text.utf8) }
            ranges.append(text == nil ? nil : start..<bytes.count)
        }
        return try bytes.withUnsafeBufferPointer { bytes in
            func text(_ index: Int) -> PlaceFields.Text? {
                ranges[index].map { PlaceFields.Text(rebasing: bytes[$0]) }
            }
            func required(_ index: Int) -> PlaceFields.Text {
                text(index) ?? PlaceFields.Text(start: nil, count: 0)
            }
            return try body(
                PlaceFields(
                    id: id, name: required(0), category: required(1), latitude: latitude,
                    longitude: longitude, featured: featured, distance: distance, address: text(2),
                    website: text(3),
                    source: source.map { _ in
                        PlaceFields.Source(dataset: required(4), id: required(5), license: required(6))
                    }, importance: importance, properties: text(7), language: text(8),
                    names: text(9), otherNames: text(10), matchedName: text(11)))
        }
    }
}

extension JSONWriter {
    /// Writes a place as an item of `GET /locations`. Fields that aren't known are left out.
    package mutating func value(_ place: PlaceFields) {
        beginObject()
        member("id", place.id)
        names(of: place)
        member("latitude", place.latitude)
        member("longitude", place.longitude)
        member("featured", place.featured)
        member("distance", place.distance)
        details(of: place)
        endObject()
    }

    /// Writes a place as a feature (RFC 7946, section 3.2).
    package mutating func feature(_ place: PlaceFields) {
        beginObject()
        member("type", "Feature")
        member("id", place.id)
        name("geometry")
        beginObject()
        member("type", "Point")
        name("coordinates")
        beginArray()
        value(place.longitude)
        value(place.latitude)
        endArray()
        endObject()
        name("properties")
        beginObject()
        names(of: place)
        member("featured", place.featured)
        member("distance", place.distance)
        details(of: place)
        endObject()
        endObject()
    }

    /// Writes a place's name, its language and the category.
    mutating func names(of place: PlaceFields) {
        member("name", place.name)
        member("language", place.language)
        member("category", place.category)
    }

    /// Writes the members that follow the distance.
    mutating func details(of place: PlaceFields) {
        member("address", place.address)
        member("website", place.website)
        if let source = place.source {
            name("source")
            beginObject()
            member("dataset", source.dataset)
            member("id", source.id)
            member("license", source.license)
            endObject()
        }
        if place.importance != 0 { member("importance", place.importance) }
        member("matchedName", place.matchedName)
    }

    private mutating func member(_ name: StaticString, _ text: PlaceFields.Text?) {
        guard let text else { return }
        self.name(name)
        value(utf8: text)
    }
}
