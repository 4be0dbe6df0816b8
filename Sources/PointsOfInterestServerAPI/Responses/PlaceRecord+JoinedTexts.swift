import PointsOfInterestAPI

extension PlaceRecord {
    /// The control characters that separate a place's texts when these are joined in one value. They are in the order of
    /// the record, each in front of its text. The first text is the name, which has no mark. The texts from `address` on
    /// may be missing; the three texts of the source are all there or all missing.
    enum TextMark {
        static let category: UInt8 = 1
        static let featuredCategory: UInt8 = 2
        static let address: UInt8 = 3
        static let website: UInt8 = 4
        static let dataset: UInt8 = 5
        static let sourceID: UInt8 = 6
        static let license: UInt8 = 7
        static let importance: UInt8 = 8
        /// What follows is no text but the JSON of an object, up to the next mark or the end.
        static let names: UInt8 = 10
        /// What follows is no text but the JSON of an object, up to the end.
        static let properties: UInt8 = 11
        /// The end of the texts; not a control character.
        static let end: UInt8 = 0xFF
    }

    /// Makes the record of a place whose texts are joined in one value: the same bytes as `encode` does.
    ///
    /// - Parameter texts: UTF-8 with marks; no text itself has a control character.
    /// - Returns: nil where a mark isn't where it belongs, and as `encode`.
    package static func record(
        id: Int, latitude: Double, longitude: Double, joinedTexts texts: UnsafeRawBufferPointer
    ) -> [UInt8]? {
        guard let start = texts.baseAddress else { return nil }
        var bytes = ByteBuffer(capacity: 512)
        var made: (header: Header, extras: UnsafeRawBufferPointer)?
        bytes.withRoom(for: JoinedTextsWriter.maximumBytes(of: texts)) { memory in
            var writer = JoinedTextsWriter(
                next: start, limit: start + texts.count, end: memory + MemoryLayout<Header>.size)
            guard let header = writer.write(id: id, latitude: latitude, longitude: longitude, distance: nil)
            else { return 0 }
            made = (
                header, UnsafeRawBufferPointer(start: writer.next - 1, count: writer.limit - writer.next + 1)
            )
            return writer.end - memory
        }
        guard let (madeHeader, extras) = made else { return nil }
        var header = madeHeader
        var record = bytes.bytes
        if extras.count > 1 {
            let (names, properties) = split(extras)
            let added = record.withUnsafeBytes {
                Self.extras(
                    names, nil, properties,
                    behind: UnsafeRawBufferPointer(rebasing: $0[MemoryLayout<Header>.size...]), header)
            }
            guard let added, header.set(added.count) else { return nil }
            record += added
        }
        record.withUnsafeMutableBytes { $0.storeBytes(of: header, as: Header.self) }
        return record
    }

    /// The names and the properties, each behind its mark.
    private static func split(
        _ extras: UnsafeRawBufferPointer
    ) -> (names: PlaceFields.Text?, properties: PlaceFields.Text?) {
        let extras = extras.assumingMemoryBound(to: UInt8.self)
        let end = extras.firstIndex(of: TextMark.properties)
        let names =
            extras[0] == TextMark.names ? PlaceFields.Text(rebasing: extras[1..<(end ?? extras.count)]) : nil
        return (names, end.map { PlaceFields.Text(rebasing: extras[($0 + 1)...]) })
    }
}

extension JSONWriter {
    /// Writes a place whose texts are joined in one value as an item of `GET /locations`, in one pass.
    ///
    /// - Parameters:
    ///   - texts: as in `PlaceRecord.record`. Names in languages and properties aren't written.
    ///   - distance: in metres, not rounded.
    /// - Returns: false, and no item is written, where a mark isn't where it belongs.
    package mutating func value(
        id: Int, latitude: Double, longitude: Double, joinedTexts texts: UnsafeRawBufferPointer,
        distance: Double?
    ) -> Bool {
        guard let start = texts.baseAddress else { return false }
        var isWritten = false
        value(ofAtMost: JoinedTextsWriter.maximumBytes(of: texts)) { memory in
            var writer = JoinedTextsWriter(next: start, limit: start + texts.count, end: memory)
            isWritten =
                writer.write(id: id, latitude: latitude, longitude: longitude, distance: distance) != nil
            return isWritten ? writer.end - memory : 0
        }
        return isWritten
    }
}

/// Writes a place into memory that has room for it, and copies texts from front to back as the content of JSON strings.
private struct JoinedTextsWriter {
    /// How many bytes are written at most, with the header and room for storing sixteen bytes at a time. Each byte of the
    /// texts may need an escape.
    static func maximumBytes(of texts: UnsafeRawBufferPointer) -> Int { 2 * texts.count + 320 }

    private typealias Mark = PlaceRecord.TextMark

    /// What hasn't been copied yet.
    var next: UnsafeRawPointer
    let limit: UnsafeRawPointer
    /// Where the next bytes go.
    var end: UnsafeMutableRawPointer

    /// Writes the place, with its distance if there is one; nil where a mark is missing, unknown or out of order.
    @inline(__always)
    mutating func write(
        id: Int, latitude: Double, longitude: Double, distance: Double?
    ) -> PlaceRecord.Header? {
        let start = end
        write("{\"id\":")
        end += end.storeDecimal(id)
        let idEnd = end
        guard let (isFeatured, mark) = copyNames() else { return nil }
        let namesEnd = end
        write(degrees: latitude, as: ",\"latitude\":")
        let latitudeEnd = end
        write(degrees: longitude, as: ",\"longitude\":")
        let longitudeEnd = end
        if isFeatured { write(",\"featured\":true") } else { write(",\"featured\":false") }
        let header = PlaceRecord.Header(
            names: namesEnd - idEnd, id: idEnd - start, latitude: latitudeEnd - namesEnd,
            longitude: longitudeEnd - latitudeEnd, featured: end - longitudeEnd)
        var writer = PlaceWriter(end: end)
        writer.write(distance: distance)
        end = writer.end
        return copyDetails(behind: mark) ? header : nil
    }

    /// Copies the name and the category; returns whether the place is featured, and the mark that follows.
    @inline(__always)
    private mutating func copyNames() -> (isFeatured: Bool, mark: UInt8)? {
        write(",\"name\":\"")
        let mark = copyText()
        guard mark == Mark.featuredCategory || mark == Mark.category else { return nil }
        write("\",\"category\":\"")
        let next = copyText()
        write("\"")
        return (mark == Mark.featuredCategory, next)
    }

    /// Copies what follows the category, and ends the object; false where a mark is missing, unknown or out of order.
    @inline(__always)
    private mutating func copyDetails(behind first: UInt8) -> Bool {
        var mark = first
        if mark == Mark.address {
            write(",\"address\":\"")
            mark = copyText()
            write("\"")
        }
        if mark == Mark.website {
            write(",\"website\":\"")
            mark = copyText()
            write("\"")
        }
        if mark == Mark.dataset {
            write(",\"source\":{\"dataset\":\"")
            guard copyText() == Mark.sourceID else { return false }
            write("\",\"id\":\"")
            guard copyText() == Mark.license else { return false }
            write("\",\"license\":\"")
            mark = copyText()
            write("\"}")
        }
        if mark == Mark.importance {
            write(",\"importance\":")
            let digits = end
            mark = copyText()
            guard Self.isNumber(UnsafeRawBufferPointer(start: digits, count: end - digits)) else {
                return false
            }
        }
        write("}")
        return mark == Mark.end || mark == Mark.names || mark == Mark.properties
    }

    /// Whether a text is a whole number as JSON has it, of at most four digits.
    private static func isNumber(_ text: UnsafeRawBufferPointer) -> Bool {
        (1...4).contains(text.count) && text[0] != UInt8(ascii: "0")
            && text.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }

    @inline(__always)
    private mutating func write(_ text: StaticString) {
        end.copyMemory(from: text.utf8Start, byteCount: text.utf8CodeUnitCount)
        end += text.utf8CodeUnitCount
    }

    /// Writes a member with a number of degrees; nothing where it isn't finite.
    @inline(__always)
    private mutating func write(degrees: Double, as name: StaticString) {
        guard degrees.isFinite else { return }
        write(name)
        end += end.storeDecimal(degrees)
    }

    /// Copies a text, and returns the control character after it, or `TextMark.end`.
    @inline(__always)
    private mutating func copyText() -> UInt8 {
        var (next, end) = (next, end)
        defer { (self.next, self.end) = (next, end) }
        while next < limit {
            // Copies sixteen bytes at a time; those from the first special byte on are overwritten afterwards.
            let bytes =
                limit - next >= 16
                ? next.loadUnaligned(as: SIMD16<UInt8>.self) : SIMD16(last: limit - next, at: next)
            end.storeBytes(of: bytes, as: SIMD16<UInt8>.self)
            // The zeros behind the last texts are special, too.
            let count = bytes.countBeforeSpecial
            (next, end) = (next + count, end + count)
            guard count < 16 else { continue }
            guard next < limit else { break }
            let byte = next.load(as: UInt8.self)
            next += 1
            guard byte >= 0x20 else { return byte }
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                end.storeBytes(of: UInt8(ascii: "\\"), as: UInt8.self)
                end += 1
            }
            end.storeBytes(of: byte, as: UInt8.self)
            end += 1
        }
        return Mark.end
    }
}

extension SIMD16<UInt8> {
    /// The last bytes of the texts, fewer than sixteen, and zeros.
    @inline(never)
    fileprivate init(last count: Int, at start: UnsafeRawPointer) {
        self.init()
        withUnsafeMutableBytes(of: &self) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: start, count: count))
        }
    }

    /// How many bytes are before the first control character, quote or backslash.
    @inline(__always)
    fileprivate var countBeforeSpecial: Int {
        // Flipping 0x02 turns a quote into 0x20 and keeps control characters below 0x20, so one comparison finds both.
        let special =
            ((self ^ SIMD16(repeating: 0x02)) .< SIMD16(repeating: 0x21))
            .| (self .== SIMD16(repeating: UInt8(ascii: "\\")))
        let words = unsafeBitCast(special, to: SIMD2<UInt64>.self)
        let first = words[0].littleEndian
        guard first == 0 else { return first.trailingZeroBitCount / 8 }
        return 8 + words[1].littleEndian.trailingZeroBitCount / 8
    }
}
