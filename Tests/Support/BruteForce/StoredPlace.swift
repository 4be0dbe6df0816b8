import Foundation
import Places
import PointsOfInterestAPI
import SpatialIndex

/// A place with all its names, of which a response has one.
package struct StoredPlace {
    /// The place as it is shown where no language is asked for.
    package let place: PointOfInterest
    /// Its names by languages.
    package let names: [String: String]
    /// Names that are only searched.
    package let otherNames: [String]

    package init(_ place: PointOfInterest, names: [String: String] = [:], otherNames: [String] = []) {
        self.place = place
        self.names = names
        self.otherNames = otherNames
    }

    /// The place as the index takes it.
    package var fields: PlaceFields {
        func text(_ text: String) -> PlaceFields.Text { PlaceFields.Text(text.utf8) }
        return PlaceFields(
            id: place.id, name: text(place.name), category: text(place.category), latitude: place.latitude,
            longitude: place.longitude, featured: place.featured, address: place.address.map(text),
            website: place.website.map(text),
            source: place.source.map {
                PlaceFields.Source(dataset: text($0.dataset), id: text($0.id), license: text($0.license))
            },
            importance: place.importance, properties: place.properties.map { $0.json[...] },
            names: names.isEmpty ? nil : JSONValue.Object(names.mapValues(JSONValue.string)).json[...],
            otherNames: otherNames.isEmpty ? nil : text(otherNames.joined(separator: "\u{1}")),
            operatingStatus: place.operatingStatus, version: place.version ?? 0,
            updatedAtSeconds: place.updatedAt.map { Int($0.timeIntervalSince1970) } ?? 0)
    }
}

/// Places that are written member by member, as the truth that records are compared with.
package struct PlainPlaces: PlaceSource {
    private let places: [PointOfInterest]

    package init(_ places: [PointOfInterest]) {
        self.places = places
    }

    package var count: Int { places.count }

    package func write(_ index: Int, as style: PlaceStyle, to writer: inout JSONWriter) {
        let properties = places[index].properties?.selected(by: style.selection?.properties ?? .none)
        let showsLastChange = style.selection?.showsLastChange ?? false
        switch style.form {
        case .json: writer.value(places[index], properties, showsLastChange: showsLastChange)
        case .geoJSON: writer.feature(places[index], properties)
        }
    }
}

extension JSONValue.Object {
    /// Those members that are written; nil where that is none of those that are named.
    fileprivate func selected(by selection: PropertySelection) -> JSONValue.Object? {
        switch selection {
        case .none: return nil
        case .all: return self
        case .named(let names):
            let selected = names.flatMap { name in
                members.filter { member in
                    var writer = JSONWriter()
                    writer.value(member.name)
                    return writer.bytes.dropFirst().dropLast().elementsEqual(name)
                }
            }
            return selected.isEmpty ? nil : JSONValue.Object(selected.map { ($0.name, $0.value) })
        }
    }
}

extension JSONWriter {
    fileprivate mutating func value(
        _ place: PointOfInterest, _ properties: JSONValue.Object?, showsLastChange: Bool
    ) {
        beginObject()
        member("id", place.id)
        names(of: place)
        member("latitude", place.latitude)
        member("longitude", place.longitude)
        member("featured", place.featured)
        member("distance", place.distance)
        details(of: place, properties, showsLastChange: showsLastChange)
        endObject()
    }

    /// RFC 7946, section 3.2.
    fileprivate mutating func feature(_ place: PointOfInterest, _ properties: JSONValue.Object?) {
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
        details(of: place, properties)
        endObject()
        endObject()
    }

    private mutating func names(of place: PointOfInterest) {
        member("name", place.name)
        member("language", place.language)
        member("category", place.category)
    }

    private mutating func details(
        of place: PointOfInterest, _ properties: JSONValue.Object?, showsLastChange: Bool = false
    ) {
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
        member("operatingStatus", place.operatingStatus?.rawValue)
        member("matchedName", place.matchedName)
        member("leftOut", place.leftOut)
        if !place.mergedFrom.isEmpty {
            name("mergedFrom")
            beginArray()
            for id in place.mergedFrom { value(id) }
            endArray()
        }
        member("categoryLabel", place.categoryLabel)
        if showsLastChange {
            member("version", place.version ?? 0)
            let updatedAt = place.updatedAt ?? Date(timeIntervalSince1970: 0)
            member("updatedAt", updatedAt.formatted(.iso8601))
        }
        guard let json = properties?.json else { return }
        name("properties")
        json.withUnsafeBytes { json in
            value(ofAtMost: json.count) { end in
                UnsafeMutableRawBufferPointer(start: end, count: json.count).copyMemory(from: json)
                return json.count
            }
        }
    }
}

extension PlaceSource {
    /// Each place's details.
    package func details() throws -> [String] {
        try (0..<count).map { index in
            var writer = JSONWriter()
            try write(index, as: PlaceStyle(ofDetails: .json, languages: []), to: &writer)
            return String(decoding: writer.bytes, as: UTF8.self)
        }
    }

    /// The places as values of their own, read from their JSON, with their names in some languages where they have any.
    ///
    /// - Throws: what `write` throws, and `DecodingError` for what isn't a place's JSON.
    package func copied(languages: [String] = []) throws -> [PointOfInterest] {
        var writer = JSONWriter(capacity: expectedBytes)
        try PlaceStyle(.json, properties: .all, languages: languages).write(self, to: &writer)
        return try JSONDecoder().decode([PointOfInterest].self, from: Data(writer.bytes))
    }
}
