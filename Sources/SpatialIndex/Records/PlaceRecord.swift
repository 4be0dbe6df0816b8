import Bytes
import PointsOfInterestAPI
import PointsOfInterestServerAPI

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The JSON of a place, made once and kept without the distance. Items and features in responses are copied from it.
///
/// A record is the place as an item of `GET /locations` without its distance and its properties, after a header of 8 bytes
/// that says where the parts of that text are. If the place has properties or other names, it is followed by the number of
/// bytes of its `PlaceNames` (two bytes), by these, and by its `PlaceProperties`. The last 16 bytes are its version and when it
/// was changed last, in seconds since 1970, which only the details of a place show.
///
/// This is a view of the bytes, which have to outlive it.
package struct PlaceRecord {
    package let bytes: UnsafeRawBufferPointer

    @inline(__always)
    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The numbers of bytes of the parts of a record's text. The last part is what follows `featured`:
    ///
    ///     {"id":7  ,"name":"Plaza","category":"park"  ,"latitude":37.5  ,"longitude":-121  ,"featured":true  …}
    fileprivate struct Header {
        let names: UInt16
        /// What follows the text, with the last change.
        var extras = UInt16(LastChange.size)
        let id: UInt8
        /// 0 if the latitude isn't finite and is left out.
        let latitude: UInt8
        /// 0 if the longitude isn't finite and is left out.
        let longitude: UInt8
        let featured: UInt8

        /// How many bytes are before the distance.
        @inline(__always)
        var untilDetails: Int { Int(names) + Int(id) + Int(latitude) + Int(longitude) + Int(featured) }

        /// Nil where the names have too many bytes. Numbers and a flag are short.
        init?(names: Int, id: Int, latitude: Int, longitude: Int, featured: Int) {
            guard let names = UInt16(exactly: names) else { return nil }
            self.names = names
            self.id = UInt8(truncatingIfNeeded: id)
            self.latitude = UInt8(truncatingIfNeeded: latitude)
            self.longitude = UInt8(truncatingIfNeeded: longitude)
            self.featured = UInt8(truncatingIfNeeded: featured)
        }
    }
}

// MARK: - Making

extension PlaceRecord {
    /// What a record ends with.
    fileprivate struct LastChange: BitwiseCopyable {
        let version: Int64
        let seconds: Int64

        static var size: Int { MemoryLayout<LastChange>.size }
    }

    /// Appends the record of a place.
    ///
    /// - Returns: false, and nothing that can be used is appended, where its texts are longer than any table allows, or its
    ///   names or properties aren't what their columns have.
    package static func encode(_ place: PlaceFields, into bytes: inout [UInt8]) -> Bool {
        var writer = JSONWriter(capacity: 256 + place.name.count + place.category.count)
        guard var header = writer.recordText(of: place) else { return false }
        var extras: [UInt8] = []
        if place.names != nil || place.otherNames != nil || place.properties != nil {
            let memberCount = PlaceProperties.escaped(place.name).count + "\"name\":\"\"".utf8.count
            guard let names = PlaceNames.encode(place, memberCount: memberCount),
                let properties = place.properties.map(PlaceProperties.encode) ?? []
            else { return false }
            extras = PlaceProperties.bytes(of: [names.count]) + names + properties
        }
        guard let count = UInt16(exactly: extras.count + LastChange.size) else { return false }
        header.extras = count
        withUnsafeBytes(of: header) { bytes.append(contentsOf: $0) }
        writer.withBytes { bytes.append(contentsOf: $0) }
        bytes += extras
        let change = LastChange(version: Int64(place.version), seconds: Int64(place.updatedAtSeconds))
        withUnsafeBytes(of: change) { bytes.append(contentsOf: $0) }
        return true
    }
}

extension [UInt8] {
    /// Calls `body` with the record that `PlaceRecord.encode` has made here.
    package func withRecord<Result>(_ body: (PlaceRecord) -> Result) -> Result {
        withUnsafeBytes { body(PlaceRecord($0)) }
    }
}

extension JSONWriter {
    /// Writes the text of a record; the writer must be empty.
    fileprivate mutating func recordText(of place: PlaceFields) -> PlaceRecord.Header? {
        beginObject()
        member("id", place.id)
        let idEnd = count
        member("name", place.name)
        member("category", place.category)
        let namesEnd = count
        member("latitude", place.latitude)
        let latitudeEnd = count
        member("longitude", place.longitude)
        let longitudeEnd = count
        member("featured", place.featured)
        let featuredEnd = count
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
        if let status = place.operatingStatus { member("operatingStatus", status.rawValue) }
        endObject()
        return PlaceRecord.Header(
            names: namesEnd - idEnd, id: idEnd, latitude: latitudeEnd - namesEnd,
            longitude: longitudeEnd - latitudeEnd, featured: featuredEnd - longitudeEnd)
    }

    private mutating func member(_ name: StaticString, _ text: PlaceFields.Text?) {
        guard let text else { return }
        self.name(name)
        text.withUnsafeBufferPointer { value(utf8: $0) }
    }
}

// MARK: - Reading

extension PlaceRecord {
    @inline(__always)
    private var header: Header { bytes.loadUnaligned(as: Header.self) }

    @inline(__always)
    private func part(from start: Int, to end: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }

    @inline(__always)
    private var idStart: Int { MemoryLayout<Header>.size }
    private var namesStart: Int { idStart + Int(header.id) }
    private var latitudeStart: Int { namesStart + Int(header.names) }
    private var longitudeStart: Int { latitudeStart + Int(header.latitude) }
    private var featuredStart: Int { longitudeStart + Int(header.longitude) }
    private var detailsStart: Int { idStart + header.untilDetails }
    private var textEnd: Int { bytes.count - Int(header.extras) }

    fileprivate var details: UnsafeRawBufferPointer { part(from: detailsStart, to: textEnd) }
    /// The beginning of the object, with the member `id`.
    fileprivate var id: UnsafeRawBufferPointer { part(from: idStart, to: namesStart) }
    fileprivate var idDigits: UnsafeRawBufferPointer {
        part(from: idStart + "{\"id\":".utf8.count, to: namesStart)
    }
    /// The members `name` and `category`, without a comma before them.
    fileprivate var names: UnsafeRawBufferPointer { part(from: namesStart + 1, to: latitudeStart) }
    /// What lies between `names` and the distance.
    fileprivate var position: UnsafeRawBufferPointer { part(from: latitudeStart, to: detailsStart) }
    /// The digits of the latitude; empty where it isn't finite.
    fileprivate var latitude: UnsafeRawBufferPointer {
        part(from: min(latitudeStart + ",\"latitude\":".utf8.count, longitudeStart), to: longitudeStart)
    }
    /// The digits of the longitude; empty where it isn't finite.
    fileprivate var longitude: UnsafeRawBufferPointer {
        part(from: min(longitudeStart + ",\"longitude\":".utf8.count, featuredStart), to: featuredStart)
    }
    /// The member `featured`, with a comma before it.
    fileprivate var featured: UnsafeRawBufferPointer { part(from: featuredStart, to: detailsStart) }

    /// Where the last change begins.
    private var changeStart: Int { bytes.count - LastChange.size }
    fileprivate var lastChange: LastChange {
        bytes.loadUnaligned(fromByteOffset: changeStart, as: LastChange.self)
    }

    private var hasExtras: Bool { textEnd != changeStart }
    private var otherNamesStart: Int { textEnd + 2 }
    private var otherNamesEnd: Int {
        otherNamesStart + Int(bytes.loadUnaligned(fromByteOffset: textEnd, as: UInt16.self))
    }
    /// The place's names besides the one that all are shown; nil where it has none.
    var otherNames: PlaceNames? {
        hasExtras ? PlaceNames(part(from: otherNamesStart, to: otherNamesEnd)) : nil
    }
    /// Nil where the place has none.
    var properties: PlaceProperties? {
        hasExtras ? PlaceProperties(part(from: otherNamesEnd, to: changeStart)) : nil
    }

    /// Calls `body` with each name in a language, by their tags in lower case: UTF-8, with backslashes as in JSON. These
    /// separate words as what they stand before does.
    func forEachNameInLanguage(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        otherNames?.textsInLanguages.forEach { body($0.assumingMemoryBound(to: UInt8.self)) }
    }

    /// The address, UTF-8 with backslashes as in JSON; nil where there is none.
    var address: UnsafeBufferPointer<UInt8>? {
        let name: StaticString = ",\"address\":\""
        let details = details.assumingMemoryBound(to: UInt8.self)
        let start = name.utf8CodeUnitCount
        guard details.starts(with: UnsafeBufferPointer(start: name.utf8Start, count: start)) else {
            return nil
        }
        var end = start
        while details[end] != UInt8(ascii: "\"") { end += details[end] == UInt8(ascii: "\\") ? 2 : 1 }
        return UnsafeBufferPointer(rebasing: details[start..<end])
    }

    /// The name that the place was found by, where that isn't the one that is shown: the first one.
    ///
    /// - Parameter numbers: of the names that it was found by, as `IndexEntry.foldedNames` counts them.
    private func matchedName(_ numbers: [Int], _ selection: PlaceSelection?) -> UnsafeRawBufferPointer? {
        guard let otherNames, let first = numbers.first else { return nil }
        let shown = selection.flatMap { otherNames.index(in: $0.languages) }.map { $0 + 1 } ?? 0
        if numbers.contains(shown) { return nil }
        guard first == 0 else { return otherNames.text(first - 1) }
        let start = namesStart + ",\"name\":\"".utf8.count
        return part(from: start, to: namesStart + otherNames.memberCount)
    }
}

// MARK: - Writing

extension PlaceRecord {
    /// Writes the place as an item of `GET /locations`.
    ///
    /// - Parameter distance: in metres, not rounded.
    package func writeItem(distance: Double?, selection: PlaceSelection?, to writer: inout JSONWriter) {
        if selection == nil { return writeItem(distance: distance, to: &writer) }
        write(asFeature: false, distance: distance, selection: selection, PlaceAdditions(), to: &writer)
    }

    /// Writes the place as an item of `GET /locations` of which nothing is selected.
    ///
    /// - Parameter distance: in metres, not rounded.
    @inline(__always)
    package func writeItem(distance: Double?, to writer: inout JSONWriter) {
        writer.value(ofAtMost: bytes.count + PlaceWriter.maximumAddition) { memory in
            // Most places are written so: the header is read once.
            let header = header
            let middle = idStart + header.untilDetails
            var writer = PlaceWriter(end: memory)
            writer.write(part(from: idStart, to: middle))
            writer.write(distance: distance)
            writer.write(part(from: middle, to: bytes.count - Int(header.extras)))
            return writer.end - memory
        }
    }

    /// Writes the place as a feature (RFC 7946, section 3.2).
    ///
    /// - Parameter distance: in metres, not rounded.
    package func writeFeature(
        distance: Double?, selection: PlaceSelection? = nil, to writer: inout JSONWriter
    ) {
        write(asFeature: true, distance: distance, selection: selection, PlaceAdditions(), to: &writer)
    }

    /// Writes the place in a form, with what only this response has of it.
    package func write(
        asFeature: Bool, distance: Double?, selection: PlaceSelection?, _ additions: borrowing PlaceAdditions,
        to writer: inout JSONWriter
    ) {
        let selection = selection ?? .nothing
        let matchedName = matchedName(additions.matchedNames, selection)
        let count = (matchedName?.count ?? 0) + additions.maximumByteCount
        writer.value(ofAtMost: bytes.count + PlaceWriter.maximumAddition + count) { memory in
            var writer = PlaceWriter(end: memory)
            if asFeature {
                writer.writeBeginning(ofFeature: self, selection)
            } else {
                writer.write(id)
                writer.write(",")
                writer.write(names, in: selection.languages, of: otherNames)
                writer.write(position)
            }
            writer.write(distance: distance)
            writer.write(details)
            writer.insert(",\"matchedName\":\"", matchedName, "\"}")
            writer.insert(additions)
            if selection.showsLastChange, !asFeature { writer.insert(lastChange) }
            writer.insert(properties, selection.properties)
            if asFeature { writer.write("}") }
            return writer.end - memory
        }
    }
}

/// What only some responses have of a place.
package struct PlaceAdditions {
    /// The numbers of the names that the place was found by, as `IndexEntry.foldedNames` counts them. If the shown one isn't among
    /// them, the first one is written.
    package var matchedNames: [Int] = []
    /// The word that it was found without, as it is written in JSON, without quotation marks.
    package var leftOut: [UInt8]?
    /// The ids of those that were merged into it.
    package var mergedFrom: [Int64] = []
    /// What its category is called, as it is written in JSON, without quotation marks.
    package var categoryLabel: [UInt8]?

    package init() {}

    package init(categoryLabel: [UInt8]?) { self.categoryLabel = categoryLabel }

    /// A text as it is written in JSON, without quotation marks.
    package static func escaped(_ text: String) -> [UInt8] { PlaceProperties.escaped(text.utf8) }

    /// The bytes that the values take.
    fileprivate var maximumByteCount: Int {
        (leftOut?.count ?? 0) + (categoryLabel?.count ?? 0) + 20 * mergedFrom.count
    }
}

private struct PlaceWriter {
    /// The maximum number of bytes that a form adds to the text of a record.
    static let maximumAddition = 288

    /// Where the next bytes go.
    var end: UnsafeMutableRawPointer

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

    /// Writes a feature (RFC 7946, section 3.2) up to its distance.
    mutating func writeBeginning(ofFeature record: PlaceRecord, _ selection: PlaceSelection) {
        write("{\"type\":\"Feature\",\"id\":")
        write(record.idDigits)
        write(",\"geometry\":{\"type\":\"Point\",\"coordinates\":[")
        write(degrees: record.longitude)
        write(",")
        write(degrees: record.latitude)
        write("]},\"properties\":{")
        write(record.names, in: selection.languages, of: record.otherNames)
        write(record.featured)
    }

    /// Writes the members `name` and `category`, without a comma before them. If the place has a name in one of the languages, it
    /// is written instead of the other, with the member `language` behind it.
    mutating func write(
        _ members: UnsafeRawBufferPointer, in languages: LanguageLookup, of names: PlaceNames?
    ) {
        guard let names, let (text, tag) = names.name(in: languages) else { return write(members) }
        write("\"name\":\"")
        write(text)
        write("\",\"language\":\"")
        write(tag)
        write("\"")
        write(UnsafeRawBufferPointer(rebasing: members.dropFirst(names.memberCount)))
    }

    /// Writes a member as the last one of the object that was just ended, where it has a value.
    ///
    /// - Parameters:
    ///   - start: what is written before the value: a comma and the name.
    ///   - end: what is written behind it, with the end of the object.
    mutating func insert(_ start: StaticString, _ value: UnsafeRawBufferPointer?, _ end: StaticString) {
        guard let value else { return }
        self.end -= 1
        write(start)
        write(value)
        write(end)
    }

    private mutating func insert(_ start: StaticString, _ value: [UInt8]?, _ end: StaticString) {
        value?.withUnsafeBytes { insert(start, $0, end) }
    }

    /// Writes members as the last ones of the object that was just ended.
    mutating func insert(_ additions: borrowing PlaceAdditions) {
        insert(",\"leftOut\":\"", additions.leftOut, "\"}")
        if !additions.mergedFrom.isEmpty {
            let list = additions.mergedFrom.map(String.init).joined(separator: ",")
            insert(",\"mergedFrom\":[", Array(list.utf8), "]}")
        }
        insert(",\"categoryLabel\":\"", additions.categoryLabel, "\"}")
    }

    /// Writes the members `version` and `updatedAt` as the last ones of the object that was just ended.
    mutating func insert(_ change: PlaceRecord.LastChange) {
        end -= 1
        write(",\"version\":")
        end += end.storeDecimal(Int(change.version))
        var (seconds, time) = (time_t(change.seconds), tm())
        gmtime_r(&seconds, &time)
        write(",\"updatedAt\":\"")
        write(time.tm_year + 1900, digits: 4)
        write("-")
        write(time.tm_mon + 1, digits: 2)
        write("-")
        write(time.tm_mday, digits: 2)
        write("T")
        write(time.tm_hour, digits: 2)
        write(":")
        write(time.tm_min, digits: 2)
        write(":")
        write(time.tm_sec, digits: 2)
        write("Z\"}")
    }

    /// Writes the last decimal digits of a number that isn't negative.
    private mutating func write(_ number: Int32, digits: Int) {
        var rest = number
        for index in (0..<digits).reversed() {
            end.storeBytes(
                of: UInt8(ascii: "0") + UInt8(rest % 10), toByteOffset: index, as: UInt8.self)
            rest /= 10
        }
        end += digits
    }

    /// Writes the member `properties` as the last one of the object that was just ended. Where none of a place's properties is
    /// selected, it has no such member.
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
    mutating func write(degrees: UnsafeRawBufferPointer) {
        if degrees.isEmpty { write("null") } else { write(degrees) }
    }

    /// Writes the member `distance`, rounded to 0.1 m, with a comma before it; nothing where there is none that can be rounded.
    @inline(__always)
    mutating func write(distance: Double?) {
        guard let distance, (distance * 10).isFinite else { return }
        write(",\"distance\":")
        end += end.storeTenths(of: distance)
    }
}
