import PointsOfInterestAPI

/// How places are written: as the contract's JSON, or as GeoJSON (RFC 7946).
package enum PlacesForm: Int, CaseIterable {
    case json
    case geoJSON

    /// Writes the body of a response with all of these places.
    ///
    /// - Throws: `failed` where a stored place can't be read.
    package func write(_ places: some PlaceSource, to writer: inout JSONWriter) throws(PlaceStoreError) {
        if self == .geoJSON {
            writer.beginObject()
            writer.member("type", "FeatureCollection")
            writer.name("features")
        }
        writer.beginArray()
        try places.writeAll(as: self, to: &writer)
        writer.endArray()
        if self == .geoJSON { writer.endObject() }
    }

    /// Writes a place from its fields.
    package func write(_ place: PlaceFields, to writer: inout JSONWriter) {
        switch self {
        case .json: writer.value(place)
        case .geoJSON: writer.feature(place)
        }
    }

    /// Writes a place from its record (see `PlaceRecord`), at a distance in metres.
    package func write(record: UnsafeRawBufferPointer, distance: Double?, to writer: inout JSONWriter) {
        switch self {
        case .json: writer.value(record: record, distance: distance)
        case .geoJSON: writer.feature(record: record, distance: distance)
        }
    }
}
