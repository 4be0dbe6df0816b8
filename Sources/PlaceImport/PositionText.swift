import Bytes
import PointsOfInterestServerAPI

/// Positions as texts of one field: `52.5, 13.4` with the latitude first, angles like `52°30′N 13°24′E`, or a geometry in
/// WKT, in which x is the first.
enum PositionText {
    /// Where a place is; nil if the text is no position. Degrees, unless the file has another coordinate system, in which
    /// there are no angles. The cost is linear in the bytes.
    static func position(
        _ bytes: ArraySlice<UInt8>, readsAngles: Bool = true
    ) -> (latitude: Double, longitude: Double)? {
        var text = bytes.trimmed
        // PostGIS writes the number of the coordinate system in front (EWKT).
        if text.prefix(10).asciiLowercased == Array("srid=4326;".utf8) { text = text.dropFirst(10) }
        guard let first = text.first else { return nil }
        if isLetter(first), let centre = centre(ofWKT: text) { return centre }
        if let last = text.last, [("(", ")"), ("[", "]")].contains(where: { text.first == $0 && last == $1 })
        {
            text = text.dropFirst().dropLast().trimmed
        }
        guard text.count <= 128 else { return nil }
        return pair(text) ?? (readsAngles ? AngleText.pair(text) : nil)
    }

    /// A latitude or a longitude: a number, or an angle that isn't measured along the other.
    static func coordinate(
        _ bytes: ArraySlice<UInt8>, along axis: AngleText.Axis, readsAngles: Bool
    ) -> Double? {
        if let number = number(bytes) { return number }
        guard readsAngles, let angle = AngleText.angle(bytes) else { return nil }
        return angle.axis == nil || angle.axis == axis ? angle.degrees : nil
    }

    /// A decimal number with a point or a comma; nil if it is none.
    static func number(_ bytes: some Collection<UInt8>) -> Double? {
        var digits: [UInt8] = []
        var commas = 0
        for byte in bytes where byte != 0x20 {
            guard digits.count < 64 else { return nil }
            if byte == UInt8(ascii: ",") { commas += 1 }
            digits.append(byte == UInt8(ascii: ",") ? UInt8(ascii: ".") : byte)
        }
        guard commas <= 1, commas == 0 || !bytes.contains(UInt8(ascii: ".")) else { return nil }
        return DecimalNumber.parse(digits[...])
    }

    /// Two numbers with a semicolon, a space or a comma between.
    private static func pair(_ text: ArraySlice<UInt8>) -> (latitude: Double, longitude: Double)? {
        var parts: [ArraySlice<UInt8>]
        if text.contains(UInt8(ascii: ";")) {
            parts = text.split(separator: UInt8(ascii: ";"))
        } else if text.contains(where: { $0 == 0x20 || $0 == 0x09 }) {
            parts = text.split { $0 == 0x20 || $0 == 0x09 }
            if parts[0].last == UInt8(ascii: ",") { parts[0].removeLast() }
        } else {
            parts = text.split(separator: UInt8(ascii: ","))
        }
        guard parts.count == 2, let latitude = number(parts[0].trimmed),
            let longitude = number(parts[1].trimmed)
        else { return nil }
        return (latitude, longitude)
    }

    private static func centre(ofWKT text: ArraySlice<UInt8>) -> (latitude: Double, longitude: Double)? {
        let word = text.prefix { isLetter($0) }.asciiLowercased
        let words = ["point", "linestring", "polygon", "multi", "geometrycollection"]
        guard words.contains(where: { word.starts(with: $0.utf8) }) else { return nil }
        var box = GeometryBox()
        var rest = text[...]
        var numbers: [Double] = []
        func add() {
            if numbers.count >= 2 { box.add(latitude: numbers[1], longitude: numbers[0]) }
            numbers.removeAll(keepingCapacity: true)
        }
        while let byte = rest.first {
            switch byte {
            case UInt8(ascii: ","), UInt8(ascii: "("), UInt8(ascii: ")"):
                add()
                rest.removeFirst()
            case _ where isLetter(byte) || byte <= 0x20: rest.removeFirst()
            default:
                let end = rest.firstIndex { $0 <= 0x20 || ",()".utf8.contains($0) } ?? rest.endIndex
                guard rest[..<end].count <= 64, let number = number(rest[..<end]) else { return nil }
                if numbers.count < 4 { numbers.append(number) }
                rest = rest[end...]
            }
        }
        return box.centre
    }

    static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }
}

extension ArraySlice<UInt8> {
    fileprivate var trimmed: Self {
        var text = self.drop { $0 <= 0x20 }
        while let last = text.last, last <= 0x20 { text.removeLast() }
        return text
    }
}

extension DecimalNumber {
    static func parse(_ text: ArraySlice<UInt8>) -> Double? { text.withUnsafeBufferPointer { parse($0) } }
}

private func == (byte: UInt8?, text: String) -> Bool { byte == text.utf8.first }
