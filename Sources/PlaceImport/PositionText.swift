import Bytes
import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// Positions as texts of one field: `52.5, 13.4` with the latitude first, angles like `52°30′N 13°24′E`, or a geometry in
/// WKT, in which x is the first.
enum PositionText {
    /// Longer ones than this are none, but for geometries.
    private static let maximumLength = 128

    /// Where a place is; nil if the text is no position. Degrees, unless the file has another coordinate system, in which
    /// there are no angles. The cost is linear in the bytes.
    static func position(
        _ bytes: ArraySlice<UInt8>, inDegrees: Bool = true
    ) -> (latitude: Double, longitude: Double)? {
        var text = bytes.trimmed
        // PostGIS writes the number of the coordinate system in front (EWKT).
        if text.prefix(10).asciiLowercased == Array("srid=4326;".utf8) { text = text.dropFirst(10) }
        guard let first = text.first else { return nil }
        if isLetter(first), let centre = centre(ofWKT: text) { return centre }
        if PositionObject.isLikely(text), let found = PositionObject.position(text, inDegrees: inDegrees) {
            return found
        }
        if inDegrees, let found = behindAddress(text) { return found.position }
        guard text.count <= maximumLength, var text = cleaned(text) else { return nil }
        if let last = text.last, [("(", ")"), ("[", "]")].contains(where: { text.first == $0 && last == $1 })
        {
            text = text.dropFirst().dropLast().trimmed
        }
        return pair(text, inDegrees: inDegrees) ?? (inDegrees ? AngleText.pair(text) : nil)
    }

    /// An address with its position in brackets behind it, as Socrata writes it: `1 Main St, Oakland (37.8, -122.2)`.
    static func behindAddress(
        _ bytes: ArraySlice<UInt8>
    ) -> (address: ArraySlice<UInt8>, position: (latitude: Double, longitude: Double))? {
        let text = bytes.trimmed
        guard text.last == ")", let start = text.suffix(maximumLength).lastIndex(of: UInt8(ascii: "(")),
            case let address = text[..<start].trimmed, !address.isEmpty,
            let inner = cleaned(text[start...].dropFirst().dropLast()), hasDecimals(inner),
            let position = pair(inner, inDegrees: true) ?? AngleText.pair(inner),
            Coordinate.latitudes.contains(position.latitude),
            Coordinate.longitudes.contains(position.longitude)
        else { return nil }
        return (address, position)
    }

    /// Whether both numbers of a position are written with decimals and a comma or a semicolon between, or as angles: `(5, 6)`
    /// may be those of houses, and WKT has no comma there.
    private static func hasDecimals(_ text: ArraySlice<UInt8>) -> Bool {
        func count(_ mark: UInt8) -> Int { text.count { $0 == mark } }
        return !text.allSatisfy { $0 < 0x80 } || count(UInt8(ascii: ".")) > 1 && count(UInt8(ascii: ",")) == 1
            || count(UInt8(ascii: ";")) == 1 && count(UInt8(ascii: ",")) == 2
    }

    /// A latitude or a longitude: a number, or an angle that isn't measured along the other.
    static func coordinate(
        _ bytes: ArraySlice<UInt8>, along axis: AngleText.Axis, inDegrees: Bool
    ) -> Double? {
        guard bytes.count <= maximumLength, let text = cleaned(bytes) else { return nil }
        if let number = number(ofCleaned: text, inDegrees: inDegrees) { return number }
        guard inDegrees, let angle = AngleText.angle(text) else { return nil }
        return angle.axis == nil || angle.axis == axis ? angle.degrees : nil
    }

    /// What a text of degrees is, be it along the one axis or the other; nil if it is neither a number nor an angle.
    static func degrees(_ bytes: ArraySlice<UInt8>) -> Double? {
        coordinate(bytes, along: .latitude, inDegrees: true)
            ?? coordinate(bytes, along: .longitude, inDegrees: true)
    }

    /// A number as people write it; nil if it is none, or may be two. No degrees have a thousand, so in them a comma is a decimal
    /// one. In metres, a comma or a point may be between thousands: `389,250` is refused, and `5,820,100` isn't.
    static func number(ofCleaned text: ArraySlice<UInt8>, inDegrees: Bool) -> Double? {
        let separators = text.filter { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ".") || $0 == 0x20 }
        if separators.isEmpty || separators == [UInt8(ascii: ".")] { return DecimalNumber.parse(text) }
        if separators == [UInt8(ascii: ",")] {
            let decimals = text.drop { $0 != UInt8(ascii: ",") }.dropFirst()
            guard inDegrees || decimals.count != 3 else { return nil }
            return DecimalNumber.parse(text.replacing([UInt8(ascii: ",")], with: [UInt8(ascii: ".")])[...])
        }
        return inDegrees ? nil : groupedNumber(text, separators)
    }

    /// A number with the same separator between all thousands, and perhaps another one before its decimals.
    private static func groupedNumber(_ text: ArraySlice<UInt8>, _ separators: [UInt8]) -> Double? {
        guard let group = separators.first, let last = separators.last else { return nil }
        let hasDecimals = last != group
        guard separators.dropLast(hasDecimals ? 1 : 0).allSatisfy({ $0 == group }),
            last != 0x20 || !hasDecimals
        else { return nil }
        let parts = text.split(
            separator: last, maxSplits: hasDecimals ? 1 : 0, omittingEmptySubsequences: false)
        let groups = parts[0].split(separator: group, omittingEmptySubsequences: false)
        let digits = groups[0].drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
        guard (1...3).contains(digits.count), digits.first != UInt8(ascii: "0"),
            groups.dropFirst().allSatisfy({ $0.count == 3 && $0.allSatisfy(isDigit) })
        else { return nil }
        let whole = Array(groups.joined())
        return DecimalNumber.parse((hasDecimals ? whole + [UInt8(ascii: ".")] + parts[1] : whole)[...])
    }

    /// A text without what isn't seen: blanks and the apostrophe of spreadsheets at its ends, characters without a width
    /// anywhere. All blanks become spaces, and what looks like a minus becomes one. Nil if the text isn't UTF-8.
    static func cleaned(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var text = bytes
        if text.contains(where: { $0 < 0x20 || $0 >= 0x7f }) {
            guard let valid = String(validating: text, as: UTF8.self) else { return nil }
            var scalars = String.UnicodeScalarView()
            for scalar in valid.unicodeScalars {
                switch scalar.value {
                case 0x200b...0x200f, 0x202a...0x202e, 0x2060...0x2064, 0x2066...0x2069, 0xfeff: break
                case 0x2010...0x2013, 0x2212: scalars.append("-")
                case 0x7f: scalars.append(scalar)
                case _ where TableCheck.isControl(scalar) || TableCheck.isInvisible(scalar):
                    scalars.append(" ")
                default: scalars.append(scalar)
                }
            }
            text = Array(String(scalars).utf8)[...]
        }
        text = text.trimmed
        if text.first == UInt8(ascii: "'") { text = text.dropFirst().trimmed }
        return text
    }

    /// Two numbers with a semicolon, a space or a comma between.
    private static func pair(
        _ text: ArraySlice<UInt8>, inDegrees: Bool
    ) -> (latitude: Double, longitude: Double)? {
        var parts: [ArraySlice<UInt8>]
        if text.contains(UInt8(ascii: ";")) {
            parts = text.split(separator: UInt8(ascii: ";"))
        } else if text.contains(0x20) {
            parts = text.split(separator: 0x20)
            if parts.count == 3, parts[1].elementsEqual(",".utf8) { parts.remove(at: 1) }
            if parts[0].last == UInt8(ascii: ",") { parts[0].removeLast() }
        } else {
            parts = text.split(separator: UInt8(ascii: ","))
        }
        guard parts.count == 2, let latitude = number(ofCleaned: parts[0].trimmed, inDegrees: inDegrees),
            let longitude = number(ofCleaned: parts[1].trimmed, inDegrees: inDegrees)
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
                guard rest[..<end].count <= 64, let number = DecimalNumber.parse(rest[..<end]) else {
                    return nil
                }
                if numbers.count < 4 { numbers.append(number) }
                rest = rest[end...]
            }
        }
        return box.centre
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

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
