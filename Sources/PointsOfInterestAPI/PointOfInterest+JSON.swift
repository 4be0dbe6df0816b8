extension JSONWriter {
    /// Writes a place, its unknown fields left out.
    public mutating func value(_ place: PointOfInterest) {
        beginObject()
        member("id", place.id)
        member("name", place.name)
        member("category", place.category)
        member("latitude", place.latitude)
        member("longitude", place.longitude)
        member("featured", place.featured)
        member("distance", place.distance)
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
        endObject()
    }
}

extension [PointOfInterest] {
    /// The body of an answer to `GET /locations`.
    public var json: [UInt8] {
        var writer = JSONWriter(capacity: 16 + 384 * count)
        writer.beginArray()
        for place in self { writer.value(place) }
        writer.endArray()
        return writer.bytes
    }
}
