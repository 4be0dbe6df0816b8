/// The JSON of a place, made once and kept without the distance. Items and features in responses are copied from it.
///
/// A record is the place as an item of `GET /locations` without its distance and its properties, after a header of 8 bytes
/// that says where the parts of that text are. `PlaceProperties` follow it.
public enum PlaceRecord {
    /// Appends the record of a place; its distance is left out.
    ///
    /// - Returns: false, and nothing that can be used is appended, where its texts are longer than any table allows, or its
    ///   properties aren't JSON.
    public static func encode(_ fields: PlaceFields, into bytes: inout [UInt8]) -> Bool {
        var writer = JSONWriter(capacity: 256 + fields.name.count + fields.category.count)
        guard var header = writer.recordText(of: fields) else { return false }
        var properties: [UInt8] = []
        if let text = fields.properties {
            guard PlaceProperties.append(text, to: &properties), header.set(properties.count) else {
                return false
            }
        }
        withUnsafeBytes(of: header) { bytes.append(contentsOf: $0) }
        writer.withBytes { bytes.append(contentsOf: $0) }
        bytes += properties
        return true
    }

    /// The numbers of bytes of the parts of a record's text. The last part is what follows `featured`:
    ///
    ///     {"id":7  ,"name":"Plaza","category":"park"  ,"latitude":37.5  ,"longitude":-121  ,"featured":true  …}
    struct Header {
        let names: UInt16
        /// What follows the text.
        private(set) var properties: UInt16 = 0
        let id: UInt8
        /// 0 if the latitude isn't finite and is left out.
        let latitude: UInt8
        /// 0 if the longitude isn't finite and is left out.
        let longitude: UInt8
        let featured: UInt8

        /// The numbers of bytes of the parts, without properties; nil where the names have too many.
        @inline(__always)
        init?(names: Int, id: Int, latitude: Int, longitude: Int, featured: Int) {
            guard let names = UInt16(exactly: names) else { return nil }
            self.names = names
            // Numbers and a flag are short.
            self.id = UInt8(truncatingIfNeeded: id)
            self.latitude = UInt8(truncatingIfNeeded: latitude)
            self.longitude = UInt8(truncatingIfNeeded: longitude)
            self.featured = UInt8(truncatingIfNeeded: featured)
        }

        /// Notes how many bytes the properties have; false where these are too many.
        mutating func set(_ propertiesCount: Int) -> Bool {
            guard let count = UInt16(exactly: propertiesCount) else { return false }
            properties = count
            return true
        }

        /// How many bytes are before the distance.
        @inline(__always)
        var untilDetails: Int { Int(names) + Int(id) + Int(latitude) + Int(longitude) + Int(featured) }
    }

    /// The properties of a record; nil where the place has none.
    fileprivate static func properties(of record: UnsafeRawBufferPointer) -> PlaceProperties? {
        let count = Int(record.loadUnaligned(as: Header.self).properties)
        return PlaceProperties(UnsafeRawBufferPointer(rebasing: record[(record.count - count)...]))
    }

    /// The parts of a record before and after the distance.
    @inline(__always)
    fileprivate static func parts(
        of record: UnsafeRawBufferPointer
    ) -> (untilDetails: UnsafeRawBufferPointer, details: UnsafeRawBufferPointer) {
        let start = MemoryLayout<Header>.size
        let header = record.loadUnaligned(as: Header.self)
        let middle = start + header.untilDetails
        return (
            UnsafeRawBufferPointer(rebasing: record[start..<middle]),
            UnsafeRawBufferPointer(rebasing: record[middle..<record.count - Int(header.properties)])
        )
    }
}

extension JSONWriter {
    /// Writes the text of a record; the writer must be empty.
    fileprivate mutating func recordText(of place: PlaceFields) -> PlaceRecord.Header? {
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
            names: namesEnd - idEnd, id: idEnd, latitude: latitudeEnd - namesEnd,
            longitude: longitudeEnd - latitudeEnd, featured: featuredEnd - longitudeEnd)
    }

    /// Writes the place of a record as an item of `GET /locations`: the same bytes as `value(_ place:)` does.
    ///
    /// - Parameters:
    ///   - record: what `PlaceRecord.encode` appended.
    ///   - distance: in metres, not rounded.
    ///   - selection: which of its properties are written.
    package mutating func value(
        record: UnsafeRawBufferPointer, distance: Double?, properties selection: PropertySelection = .none
    ) {
        value(ofAtMost: record.count + PlaceWriter.maximumAddition) { memory in
            let (untilDetails, details) = PlaceRecord.parts(of: record)
            var writer = PlaceWriter(end: memory)
            writer.write(untilDetails)
            writer.write(distance: distance)
            writer.write(details)
            if !selection.isNone { writer.insert(PlaceRecord.properties(of: record), selection) }
            return writer.end - memory
        }
    }

    /// Writes the place of a record as a feature: the same bytes as `feature(_ place:)` does.
    ///
    /// - Parameters:
    ///   - record: what `PlaceRecord.encode` appended.
    ///   - distance: in metres, not rounded.
    ///   - selection: which of its properties are written.
    package mutating func feature(
        record: UnsafeRawBufferPointer, distance: Double?, properties selection: PropertySelection = .none
    ) {
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
            if !selection.isNone { writer.insert(PlaceRecord.properties(of: record), selection) }
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
        text = UnsafeRawBufferPointer(
            rebasing: record[MemoryLayout<PlaceRecord.Header>.size..<record.count - Int(header.properties)])
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
struct PlaceWriter {
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

    /// Writes the member `properties` as the last one of the object that was just ended. Where none of a place's properties is
    /// selected, it has no such member.
    @inline(never)
    mutating func insert(_ properties: PlaceProperties?, _ selection: PropertySelection) {
        guard let properties else { return }
        let start = end
        end -= 1
        write(",\"properties\":")
        switch selection {
        case .none: end = start
        case .all:
            write(properties.json)
            write("}")
        case .named(let names):
            let first = end
            for name in names {
                guard let member = properties.member(named: name) else { continue }
                if end == first { write("{") } else { write(",") }
                write(member)
            }
            guard end != first else {
                end = start - 1
                return write("}")
            }
            write("}}")
        }
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
    let address: Text?
    let website: Text?
    package let source: Source?
    let importance: Int
    /// JSON of an object.
    let properties: Text?

    /// Borrows a place's fields. The distance, in metres, is rounded to 0.1 m, halves away from zero.
    public init(
        id: Int, name: Text, category: Text, latitude: Double, longitude: Double, featured: Bool,
        distance: Double?, address: Text?, website: Text?, source: Source?, importance: Int = 0,
        properties: Text? = nil
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
    }
}

extension PlaceFields {
    /// The record of the place; nil as for `PlaceRecord.encode`.
    package var record: [UInt8]? {
        var record: [UInt8] = []
        return PlaceRecord.encode(self, into: &record) ? record : nil
    }
}

extension PointOfInterest {
    /// Calls a closure with the place's fields.
    public func withFields<Result>(_ body: (PlaceFields) throws -> Result) rethrows -> Result {
        // All texts in one array: nested closures, one for each text, would be harder to read.
        let texts = [
            name, category, address, website, source?.dataset, source?.id, source?.license,
            properties.map { String(decoding: $0.json, as: UTF8.self) },
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
                    }, importance: importance, properties: text(7)))
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

    /// Writes a place's name and category.
    mutating func names(of place: PlaceFields) {
        member("name", place.name)
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
    }

    private mutating func member(_ name: StaticString, _ text: PlaceFields.Text?) {
        guard let text else { return }
        self.name(name)
        value(utf8: text)
    }
}
