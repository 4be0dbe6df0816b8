/// The JSON of a place, made once and kept without the distance. Items and features in responses are copied from it.
///
/// A record is the place as an item of `GET /locations` without its distance, after a header of 8 bytes that says where
/// the parts of that text are.
public enum PlaceRecord {
    /// Appends the record of a place; its distance is left out.
    public static func encode(_ fields: PlaceFields, into bytes: inout [UInt8]) {
        var writer = JSONWriter(capacity: 256 + fields.name.count + fields.category.count)
        let header = writer.recordText(of: fields)
        withUnsafeBytes(of: header) { bytes.append(contentsOf: $0) }
        writer.withBytes { bytes.append(contentsOf: $0) }
    }

    /// The numbers of bytes of the parts of a record's text. The last part is what follows `featured`:
    ///
    ///     {"id":7  ,"name":"Plaza","category":"park"  ,"latitude":37.5  ,"longitude":-121  ,"featured":true  …}
    struct Header {
        let names: UInt32
        let id: UInt8
        /// 0 if the latitude isn't finite and is left out.
        let latitude: UInt8
        /// 0 if the longitude isn't finite and is left out.
        let longitude: UInt8
        let featured: UInt8

        /// How many bytes are before the distance.
        @inline(__always)
        var untilDetails: Int { Int(names) + Int(id) + Int(latitude) + Int(longitude) + Int(featured) }
    }

    /// The parts of a record before and after the distance.
    @inline(__always)
    fileprivate static func parts(
        of record: UnsafeRawBufferPointer
    ) -> (untilDetails: UnsafeRawBufferPointer, details: UnsafeRawBufferPointer) {
        let start = MemoryLayout<Header>.size
        let middle = start + record.loadUnaligned(as: Header.self).untilDetails
        return (
            UnsafeRawBufferPointer(rebasing: record[start..<middle]),
            UnsafeRawBufferPointer(rebasing: record[middle...])
        )
    }
}

extension JSONWriter {
    /// Writes the text of a record; the writer must be empty.
    fileprivate mutating func recordText(of place: PlaceFields) -> PlaceRecord.Header {
        beginObject()
        member("id", place.id)
        let idEnd = count
        names(of: place)
        let namesEnd = count
        member("latitude", place.latitude)
        let latitudeEnd = count
        member("longitude", place.longitude)
        let longitudeEnd = count
        member("featured", place.featured)
        let featuredEnd = count
        details(of: place)
        endObject()
        return PlaceRecord.Header(
            names: UInt32(namesEnd - idEnd), id: UInt8(idEnd), latitude: UInt8(latitudeEnd - namesEnd),
            longitude: UInt8(longitudeEnd - latitudeEnd), featured: UInt8(featuredEnd - longitudeEnd))
    }

    /// Writes the place of a record as an item of `GET /locations`: the same bytes as `value(_ place:)` does.
    ///
    /// - Parameters:
    ///   - record: what `PlaceRecord.encode` appended.
    ///   - distance: in metres, not rounded.
    package mutating func value(record: UnsafeRawBufferPointer, distance: Double?) {
        value(ofAtMost: record.count + PlaceWriter.maximumAddition) { memory in
            let (untilDetails, details) = PlaceRecord.parts(of: record)
            var writer = PlaceWriter(end: memory)
            writer.write(untilDetails)
            writer.write(distance: distance)
            writer.write(details)
            return writer.end - memory
        }
    }

    /// Writes the place of a record as a feature: the same bytes as `feature(_ place:)` does.
    ///
    /// - Parameters:
    ///   - record: what `PlaceRecord.encode` appended.
    ///   - distance: in metres, not rounded.
    package mutating func feature(record: UnsafeRawBufferPointer, distance: Double?) {
        value(ofAtMost: record.count + PlaceWriter.maximumAddition) { memory in
            let parts = RecordParts(record)
            var writer = PlaceWriter(end: memory)
            writer.write("{\"type\":\"Feature\",\"id\":")
            writer.write(parts.id)
            writer.write(",\"geometry\":{\"type\":\"Point\",\"coordinates\":[")
            writer.write(degrees: parts.longitude)
            writer.write(",")
            writer.write(degrees: parts.latitude)
            writer.write("]},\"properties\":{")
            writer.write(parts.names)
            writer.write(parts.featured)
            writer.write(distance: distance)
            writer.write(parts.details)
            writer.write("}")
            return writer.end - memory
        }
    }
}

/// The parts of a record.
private struct RecordParts {
    private let text: UnsafeRawBufferPointer
    private let namesStart: Int
    private let latitudeStart: Int
    private let longitudeStart: Int
    private let featuredStart: Int
    private let detailsStart: Int

    @inline(__always)
    init(_ record: UnsafeRawBufferPointer) {
        let header = record.loadUnaligned(as: PlaceRecord.Header.self)
        text = UnsafeRawBufferPointer(rebasing: record[MemoryLayout<PlaceRecord.Header>.size...])
        namesStart = Int(header.id)
        latitudeStart = namesStart + Int(header.names)
        longitudeStart = latitudeStart + Int(header.latitude)
        featuredStart = longitudeStart + Int(header.longitude)
        detailsStart = featuredStart + Int(header.featured)
    }

    /// All that follows the distance, with the end of the object.
    var details: Slice<UnsafeRawBufferPointer> { text[detailsStart...] }
    /// The digits of the id.
    var id: Slice<UnsafeRawBufferPointer> { text["{\"id\":".utf8.count..<namesStart] }
    /// The members `name` and `category`, without a comma before them.
    var names: Slice<UnsafeRawBufferPointer> { text[(namesStart + 1)..<latitudeStart] }
    /// The digits of the latitude; empty where it isn't finite.
    var latitude: Slice<UnsafeRawBufferPointer> {
        text[latitudeStart..<longitudeStart].dropFirst(",\"latitude\":".utf8.count)
    }
    /// The digits of the longitude; empty where it isn't finite.
    var longitude: Slice<UnsafeRawBufferPointer> {
        text[longitudeStart..<featuredStart].dropFirst(",\"longitude\":".utf8.count)
    }
    /// The member `featured`, with a comma before it.
    var featured: Slice<UnsafeRawBufferPointer> { text[featuredStart..<detailsStart] }
}

/// Writes a place into memory that has room for it.
private struct PlaceWriter {
    /// The maximum number of bytes that a form adds to the text of a record.
    static let maximumAddition = 160

    /// Where the next bytes go.
    var end: UnsafeMutableRawPointer

    @inline(__always)
    mutating func write(_ bytes: Slice<UnsafeRawBufferPointer>) {
        write(UnsafeRawBufferPointer(rebasing: bytes))
    }

    @inline(__always)
    mutating func write(_ text: StaticString) {
        write(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    @inline(__always)
    mutating func write(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        end.copyMemory(from: source, byteCount: bytes.count)
        end += bytes.count
    }

    /// Writes a number of degrees, or `null` where it isn't finite.
    @inline(__always)
    mutating func write(degrees: Slice<UnsafeRawBufferPointer>) {
        if degrees.isEmpty { write("null") } else { write(degrees) }
    }

    /// Writes the member `distance`, with a comma before it; nothing where there is none that can be rounded.
    @inline(__always)
    mutating func write(distance: Double?) {
        guard let distance, (distance * 10).isFinite else { return }
        write(",\"distance\":")
        end += end.storeTenths(of: distance)
    }
}
