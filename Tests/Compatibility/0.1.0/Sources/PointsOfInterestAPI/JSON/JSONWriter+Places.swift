extension JSONWriter {
    /// Writes a place as an item of `GET /locations`, its unknown fields left out.
    public mutating func value(_ place: PlaceFields) {
        beginObject()
        member("id", place.id)
        properties(of: place, withPosition: true)
        endObject()
    }

    /// Writes a place as a feature (RFC 7946, section 3.2).
    public mutating func feature(_ place: PlaceFields) {
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
        properties(of: place, withPosition: false)
        endObject()
        endObject()
    }

    private mutating func properties(of place: PlaceFields, withPosition: Bool) {
        member("name", place.name)
        member("category", place.category)
        if withPosition {
            member("latitude", place.latitude)
            member("longitude", place.longitude)
        }
        member("featured", place.featured)
        member("distance", place.distance)
        member("address", place.address)
        member("website", place.website)
        guard let source = place.source else { return }
        name("source")
        beginObject()
        member("dataset", source.dataset)
        member("id", source.id)
        member("license", source.license)
        endObject()
    }

    private mutating func member(_ name: StaticString, _ text: PlaceFields.Text?) {
        guard let text else { return }
        self.name(name)
        value(utf8: text)
    }
}

extension [PointOfInterest] {
    /// The body of an answer to `GET /locations`.
    public var json: [UInt8] {
        var writer = JSONWriter(capacity: 16 + 384 * count)
        writer.beginArray()
        for place in self { place.withFields { writer.value($0) } }
        writer.endArray()
        return writer.bytes
    }
}
