/// The JSON of a place, made once and kept without the distance. Items and features in responses are copied from it.
///
/// A record is the place as an item of `GET /locations` without its distance and its properties, after a header of 8 bytes
/// that says where the parts of that text are. If the place has properties or other names, it is followed by the number of
/// bytes of its `PlaceNames` (two bytes), by these, and by its `PlaceProperties`.
public enum PlaceRecord {
    /// Appends the record of a place; its distance is left out.
    ///
    /// - Returns: false, and nothing that can be used is appended, where its texts are longer than any table allows, or its
    ///   names or properties aren't what their columns have.
    public static func encode(_ fields: PlaceFields, into bytes: inout [UInt8]) -> Bool {
        var writer = JSONWriter(capacity: 256 + fields.name.count + fields.category.count)
        guard var header = writer.recordText(of: fields) else { return false }
        var extras: [UInt8] = []
        if fields.names != nil || fields.otherNames != nil || fields.properties != nil {
            writer.withBytes {
                extras =
                    Self.extras(fields.names, fields.otherNames, fields.properties, behind: $0, header) ?? []
            }
            guard header.set(extras.count) else { return false }
        }
        withUnsafeBytes(of: header) { bytes.append(contentsOf: $0) }
        writer.withBytes { bytes.append(contentsOf: $0) }
        bytes += extras
        return true
    }

    /// What follows a record's text; nil where the names or the properties aren't what their columns have.
    static func extras(
        _ names: PlaceFields.Text?, _ otherNames: PlaceFields.Text?, _ properties: PlaceFields.Text?,
        behind text: UnsafeRawBufferPointer, _ header: Header
    ) -> [UInt8]? {
        var extras: [UInt8] = [0, 0]
        if names != nil || otherNames != nil {
            let start = Int(header.id) + ",\"name\":\"".utf8.count
            let memberCount = endOfString(from: start, in: text) - Int(header.id)
            guard PlaceNames.append(names, otherNames, memberCount: memberCount, to: &extras) else {
                return nil
            }
        }
        guard let count = UInt16(exactly: extras.count - 2) else { return nil }
        extras.withUnsafeMutableBytes { $0.storeBytes(of: count, as: UInt16.self) }
        if let properties {
            guard PlaceProperties.append(properties, to: &extras) else { return nil }
        }
        return extras
    }

    /// Calls `body` with each name in a language, by their tags in lower case: UTF-8, with backslashes as in JSON. These
    /// separate words as what they stand before does.
    package static func forEachNameInLanguage(
        of record: UnsafeRawBufferPointer, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) {
        RecordParts(record).otherNames?.forEachInLanguage { body($0.assumingMemoryBound(to: UInt8.self)) }
    }

    /// The address of a record, UTF-8 with backslashes as in JSON; nil where there is none.
    package static func address(of record: UnsafeRawBufferPointer) -> UnsafeBufferPointer<UInt8>? {
        let (_, details) = parts(of: record)
        let member: StaticString = ",\"address\":\""
        let name = UnsafeRawBufferPointer(start: member.utf8Start, count: member.utf8CodeUnitCount)
        guard details.starts(with: name) else { return nil }
        let end = endOfString(from: name.count, in: details)
        return UnsafeRawBufferPointer(rebasing: details[name.count..<end]).assumingMemoryBound(to: UInt8.self)
    }

    /// Where the string's quotation mark is that follows its content, in JSON that was written here.
    private static func endOfString(from start: Int, in text: UnsafeRawBufferPointer) -> Int {
        var end = start
        while text[end] != UInt8(ascii: "\"") { end += text[end] == UInt8(ascii: "\\") ? 2 : 1 }
        return end
    }

    /// The properties of a record's place; nil where it has none.
    static func properties(of record: UnsafeRawBufferPointer) -> PlaceProperties? {
        RecordParts(record).properties
    }

    /// The numbers of bytes of the parts of a record's text. The last part is what follows `featured`:
    ///
    ///     {"id":7  ,"name":"Plaza","category":"park"  ,"latitude":37.5  ,"longitude":-121  ,"featured":true  …}
    struct Header {
        let names: UInt16
        /// What follows the text.
        private(set) var extras: UInt16 = 0
        let id: UInt8
        /// 0 if the latitude isn't finite and is left out.
        let latitude: UInt8
        /// 0 if the longitude isn't finite and is left out.
        let longitude: UInt8
        let featured: UInt8

        /// The numbers of bytes of the text's parts; nil where the names have too many.
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

        /// Notes how many bytes follow the text; false where these are too many, or none.
        mutating func set(_ extrasCount: Int) -> Bool {
            guard extrasCount > 0, let count = UInt16(exactly: extrasCount) else { return false }
            extras = count
            return true
        }

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
        let header = record.loadUnaligned(as: Header.self)
        let middle = start + header.untilDetails
        return (
            UnsafeRawBufferPointer(rebasing: record[start..<middle]),
            UnsafeRawBufferPointer(rebasing: record[middle..<record.count - Int(header.extras)])
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
    ///   - selection: what is written besides.
    package mutating func value(
        record: UnsafeRawBufferPointer, distance: Double?, selection: PlaceSelection? = nil
    ) {
        guard let selection else { return plainValue(record: record, distance: distance) }
        value(record: record, distance: distance, selection: selection, matchedName: nil)
    }

    private mutating func value(
        record: UnsafeRawBufferPointer, distance: Double?, selection: PlaceSelection,
        matchedName: UnsafeRawBufferPointer?
    ) {
        let maximumCount = record.count + PlaceWriter.maximumAddition + (matchedName?.count ?? 0)
        value(ofAtMost: maximumCount) { memory in
            let parts = RecordParts(record)
            var writer = PlaceWriter(end: memory)
            writer.write(parts.id)
            writer.write(",")
            writer.write(parts.names, in: selection.languages, of: parts.otherNames)
            writer.write(parts.position)
            writer.write(distance: distance)
            writer.write(parts.details)
            writer.insert(matchedName: matchedName)
            writer.insert(parts.properties, selection.properties)
            return writer.end - memory
        }
    }

    /// Writes the place of a record with the name that it was found by, as an item or as a feature.
    ///
    /// - Parameters:
    ///   - matchedNames: the numbers of the names that the place was found by, as `IndexEntry.foldedNames` counts them. If the shown one
    ///     isn't among them, the first one is written.
    ///   - isFeature: whether it is written as a feature.
    package mutating func value(
        record: UnsafeRawBufferPointer, distance: Double?, selection: PlaceSelection?, matchedNames: [Int],
        isFeature: Bool
    ) {
        let parts = RecordParts(record)
        let shown = selection.flatMap { parts.otherNames?.index(in: $0.languages) }.map { $0 + 1 } ?? 0
        let matched = matchedNames.contains(shown) ? nil : matchedNames.first.flatMap(parts.name)
        if isFeature {
            feature(record: record, distance: distance, selection: selection, matchedName: matched)
        } else if selection == nil, matched == nil {
            plainValue(record: record, distance: distance)
        } else {
            value(
                record: record, distance: distance, selection: selection ?? .nothing, matchedName: matched)
        }
    }

    @inline(__always)
    private mutating func plainValue(record: UnsafeRawBufferPointer, distance: Double?) {
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
    ///   - selection: what is written besides.
    package mutating func feature(
        record: UnsafeRawBufferPointer, distance: Double?, selection: PlaceSelection? = nil
    ) {
        feature(record: record, distance: distance, selection: selection, matchedName: nil)
    }

    private mutating func feature(
        record: UnsafeRawBufferPointer, distance: Double?, selection: PlaceSelection?,
        matchedName: UnsafeRawBufferPointer?
    ) {
        let maximumCount = record.count + PlaceWriter.maximumAddition + (matchedName?.count ?? 0)
        value(ofAtMost: maximumCount) { memory in
            let parts = RecordParts(record)
            var writer = PlaceWriter(end: memory)
            writer.write("{\"type\":\"Feature\",\"id\":")
            writer.write(parts.idDigits)
            writer.write(",\"geometry\":{\"type\":\"Point\",\"coordinates\":[")
            writer.write(degrees: parts.longitude)
            writer.write(",")
            writer.write(degrees: parts.latitude)
            writer.write("]},\"properties\":{")
            if let selection {
                writer.write(parts.names, in: selection.languages, of: parts.otherNames)
            } else {
                writer.write(parts.names)
            }
            writer.write(parts.featured)
            writer.write(distance: distance)
            writer.write(parts.details)
            writer.insert(matchedName: matchedName)
            if let selection { writer.insert(parts.properties, selection.properties) }
            writer.write("}")
            return writer.end - memory
        }
    }
}

/// The parts of a record.
private struct RecordParts {
    private let text: UnsafeRawBufferPointer
    /// What follows the text.
    private let extras: UnsafeRawBufferPointer
    private let namesStart: Int
    private let latitudeStart: Int
    private let longitudeStart: Int
    private let featuredStart: Int
    private let detailsStart: Int

    @inline(__always)
    init(_ record: UnsafeRawBufferPointer) {
        let header = record.loadUnaligned(as: PlaceRecord.Header.self)
        let textEnd = record.count - Int(header.extras)
        text = UnsafeRawBufferPointer(rebasing: record[MemoryLayout<PlaceRecord.Header>.size..<textEnd])
        extras = UnsafeRawBufferPointer(rebasing: record[textEnd...])
        namesStart = Int(header.id)
        latitudeStart = namesStart + Int(header.names)
        longitudeStart = latitudeStart + Int(header.latitude)
        featuredStart = longitudeStart + Int(header.longitude)
        detailsStart = featuredStart + Int(header.featured)
    }

    /// All that follows the distance, with the end of the object.
    var details: Slice<UnsafeRawBufferPointer> { text[detailsStart...] }
    /// The beginning of the object, with the member `id`.
    var id: Slice<UnsafeRawBufferPointer> { text[..<namesStart] }
    /// The digits of the id.
    var idDigits: Slice<UnsafeRawBufferPointer> { id["{\"id\":".utf8.count...] }
    /// The members `name` and `category`, without a comma before them.
    var names: Slice<UnsafeRawBufferPointer> { text[(namesStart + 1)..<latitudeStart] }
    /// What lies between `names` and the distance.
    var position: Slice<UnsafeRawBufferPointer> { text[latitudeStart..<detailsStart] }
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

    /// The place's names besides the one that all are shown; nil where it has none.
    var otherNames: PlaceNames? {
        extras.isEmpty ? nil : PlaceNames(UnsafeRawBufferPointer(rebasing: extras[2..<otherNamesEnd]))
    }
    /// The text of a name by its number, as `IndexEntry.foldedNames` counts them; nil for a place that has no others.
    func name(_ number: Int) -> UnsafeRawBufferPointer? {
        guard let otherNames else { return nil }
        guard number == 0 else { return otherNames.text(number - 1) }
        let member = names.prefix(otherNames.memberCount)
        return UnsafeRawBufferPointer(rebasing: member.dropFirst("\"name\":\"".utf8.count).dropLast())
    }
    /// The place's properties; nil where it has none.
    var properties: PlaceProperties? {
        extras.isEmpty
            ? nil : PlaceProperties(UnsafeRawBufferPointer(rebasing: extras[otherNamesEnd...]))
    }
    private var otherNamesEnd: Int { 2 + Int(extras.loadUnaligned(as: UInt16.self)) }
}

/// Writes a place into memory that has room for it.
struct PlaceWriter {
    /// The maximum number of bytes that a form adds to the text of a record.
    static let maximumAddition = 192

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

    /// Writes the members `name` and `category`, without a comma before them. If the place has a name in one of the languages, it
    /// is written instead of the other, with the member `language` behind it.
    @inline(never)
    mutating func write(
        _ members: Slice<UnsafeRawBufferPointer>, in languages: LanguageLookup, of names: PlaceNames?
    ) {
        guard let names, let (text, tag) = names.name(in: languages) else { return write(members) }
        write("\"name\":\"")
        write(text)
        write("\",\"language\":\"")
        write(tag)
        write("\"")
        write(members.dropFirst(names.memberCount))
    }

    /// Writes the member `matchedName` as the last one of the object that was just ended, where there is one.
    @inline(__always)
    mutating func insert(matchedName: UnsafeRawBufferPointer?) {
        guard let matchedName else { return }
        end -= 1
        write(",\"matchedName\":\"")
        write(matchedName)
        write("\"}")
    }

    /// Writes the member `properties` as the last one of the object that was just ended. Where none of a place's properties is
    /// selected, it has no such member.
    @inline(never)
    mutating func insert(_ properties: PlaceProperties?, _ selection: PropertySelection) {
        guard let properties, !selection.isNone else { return }
        let start = end
        end -= 1
        write(",\"properties\":")
        switch selection {
        case .none: break
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
