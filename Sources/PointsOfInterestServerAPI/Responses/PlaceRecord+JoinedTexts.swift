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
        /// The end of the texts; not a control character.
        static let end: UInt8 = 0xFF
    }

    /// Appends the record of a place whose texts are joined in one value: the same bytes as `encode` does, in one pass.
    ///
    /// - Parameter texts: UTF-8 with marks; no text itself has a control character.
    /// - Returns: how many bytes the record has; nil, and nothing is appended, where a mark isn't where it belongs.
    package static func append(
        id: Int64, latitude: Double, longitude: Double, joinedTexts texts: UnsafeRawBufferPointer,
        to bytes: inout ByteBuffer
    ) -> Int? {
        guard let start = texts.baseAddress else { return nil }
        var size: Int?
        // Each byte of the texts may need an escape.
        bytes.withRoom(for: 2 * texts.count + RecordMaker.maximumAddition) { memory in
            var maker = RecordMaker(next: start, limit: start + texts.count, end: memory)
            size = maker.make(id: Int(id), latitude: latitude, longitude: longitude)
            return size ?? 0
        }
        return size
    }
}

/// Makes a record in memory that has room for it, and copies texts from front to back as the content of JSON strings.
private struct RecordMaker {
    /// The maximum number of bytes besides the texts. It includes room for storing eight bytes at a time.
    static let maximumAddition = 288

    private typealias Mark = PlaceRecord.TextMark

    /// What hasn't been copied yet.
    var next: UnsafeRawPointer
    let limit: UnsafeRawPointer
    /// Where the next bytes go.
    var end: UnsafeMutableRawPointer

    /// The record's size; nil where a mark is missing, unknown or out of order.
    mutating func make(id: Int, latitude: Double, longitude: Double) -> Int? {
        let start = end
        end += MemoryLayout<PlaceRecord.Header>.size
        let textStart = end
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
            names: UInt32(namesEnd - idEnd), id: UInt8(idEnd - textStart),
            latitude: UInt8(latitudeEnd - namesEnd), longitude: UInt8(longitudeEnd - latitudeEnd),
            featured: UInt8(end - longitudeEnd))
        start.storeBytes(of: header, as: PlaceRecord.Header.self)
        return copyDetails(behind: mark) ? end - start : nil
    }

    /// Copies the name and the category; returns whether the place is featured, and the mark that follows.
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
        write("}")
        return mark == Mark.end
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
    private mutating func copyText() -> UInt8 {
        var (next, end) = (next, end)
        defer { (self.next, self.end) = (next, end) }
        while next < limit {
            // Copies eight bytes at a time; those from the first special byte on are overwritten afterwards.
            while limit - next >= 8 {
                let word = UInt64(littleEndian: next.loadUnaligned(as: UInt64.self))
                end.storeBytes(of: word.littleEndian, as: UInt64.self)
                let special = word.specialBytes
                let count = special.trailingZeroBitCount / 8
                (next, end) = (next + count, end + count)
                if special != 0 { break }
            }
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

extension UInt64 {
    /// The highest bit of each byte that is a control character, a quote or a backslash. Only the bits up to the first
    /// such byte are right.
    @inline(__always)
    fileprivate var specialBytes: UInt64 {
        // Flipping 0x02 turns a quote into 0x20 and keeps control characters below 0x20, so one comparison finds both.
        (self ^ 0x0202_0202_0202_0202).bytes(below: 0x21) | (self ^ 0x5C5C_5C5C_5C5C_5C5C).bytes(below: 1)
    }

    /// Sets the highest bit of each byte that is smaller than the bound: the subtraction borrows from it.
    @inline(__always)
    private func bytes(below bound: UInt64) -> UInt64 {
        (self &- bound &* 0x0101_0101_0101_0101) & ~self & 0x8080_8080_8080_8080
    }
}
