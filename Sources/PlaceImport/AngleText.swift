import Bytes
import PointsOfInterestServerAPI

/// Angles as people write them: `52° 30′ 15″ N`, `N 52° 30.25'`, `52.5°`, `52.5N`. One is degrees, or whole degrees and
/// minutes, or those and seconds; with a sign, or with the letter of its side of the Earth before or behind it. `O` is no
/// such letter: it is the east in German and the west in French.
struct AngleText {
    /// What an angle is measured along, where its letter tells it.
    enum Axis { case latitude, longitude }

    struct Angle {
        let degrees: Double
        let axis: Axis?
    }

    private static let degree: [StaticString] = ["°", "º"]
    private static let minute: [StaticString] = ["′", "'", "’"]
    /// Two signs of minutes are one of seconds.
    private static let second: [StaticString] = ["″", "\"", "”", "′′", "''", "’’"]

    private var rest: ArraySlice<UInt8>

    /// The angle that a whole text is; nil if it is none. Texts of more than 64 bytes are none.
    static func angle(_ bytes: ArraySlice<UInt8>) -> Angle? {
        guard bytes.count <= 64 else { return nil }
        var text = AngleText(rest: bytes)
        guard let angle = text.next() else { return nil }
        return text.isAtEnd ? angle : nil
    }

    /// A latitude and a longitude in this order, or in any order if both have letters; nil if the text is something else.
    static func pair(_ text: ArraySlice<UInt8>) -> (latitude: Double, longitude: Double)? {
        var text = AngleText(rest: text)
        guard let first = text.next() else { return nil }
        text.skipBlanks()
        _ = text.take(",") || text.take(";") || text.take("/")
        guard let second = text.next(), text.isAtEnd else { return nil }
        switch (first.axis, second.axis) {
        case (nil, nil), (.latitude, .longitude): return (first.degrees, second.degrees)
        case (.longitude, .latitude): return (second.degrees, first.degrees)
        default: return nil
        }
    }

    private var isAtEnd: Bool { rest.allSatisfy { $0 <= 0x20 } }

    private mutating func next() -> Angle? {
        var side = takeSide()
        skipBlanks()
        let isNegative = take("-")
        let hasSign = isNegative || take("+")
        guard let number = takeNumber() else { return nil }
        let isMarked = takeSign(Self.degree)
        var degrees = number.value
        if isMarked, number.isWhole, let minutes = takePart(Self.minute) {
            let seconds = minutes.isWhole ? takePart(Self.second)?.value : nil
            guard minutes.value < 60, seconds ?? 0 < 60 else { return nil }
            // Divided once, so that it is the nearest number to the angle that is written.
            degrees = ((degrees * 60 + minutes.value) * 60 + (seconds ?? 0)) / 3600
        }
        if side == nil { side = takeSide() }
        guard isMarked || side != nil, !hasSign || side == nil else { return nil }
        return Angle(degrees: isNegative || side?.isNegative == true ? -degrees : degrees, axis: side?.axis)
    }

    /// Takes a number and the sign of its unit behind it, both or nothing.
    private mutating func takePart(_ signs: [StaticString]) -> (value: Double, isWhole: Bool)? {
        let start = rest
        if let number = takeNumber(), takeSign(signs) { return number }
        rest = start
        return nil
    }

    private mutating func takeNumber() -> (value: Double, isWhole: Bool)? {
        skipBlanks()
        var digits: [UInt8] = []
        var isWhole = true
        while let byte = rest.first {
            if Self.isDigit(byte) {
                digits.append(byte)
            } else if isWhole, byte == UInt8(ascii: ".") || byte == UInt8(ascii: ","), !digits.isEmpty,
                let following = rest.dropFirst().first, Self.isDigit(following)
            {
                digits.append(UInt8(ascii: "."))
                isWhole = false
            } else {
                break
            }
            rest.removeFirst()
        }
        guard let number = DecimalNumber.parse(digits[...]) else { return nil }
        return (number, isWhole)
    }

    /// Takes the letter of a side of the Earth, unless it begins a word.
    private mutating func takeSide() -> (axis: Axis, isNegative: Bool)? {
        skipBlanks()
        guard let letter = rest.first, !(rest.dropFirst().first.map(PositionText.isLetter) ?? false) else {
            return nil
        }
        let side: (Axis, Bool)
        switch letter & ~0x20 {
        case UInt8(ascii: "N"): side = (.latitude, false)
        case UInt8(ascii: "S"): side = (.latitude, true)
        case UInt8(ascii: "E"): side = (.longitude, false)
        case UInt8(ascii: "W"): side = (.longitude, true)
        default: return nil
        }
        rest.removeFirst()
        return side
    }

    private mutating func takeSign(_ signs: [StaticString]) -> Bool {
        skipBlanks()
        return signs.contains { take($0) }
    }

    private mutating func take(_ sign: StaticString) -> Bool {
        guard sign.withUTF8Buffer({ rest.starts(with: $0) }) else { return false }
        rest.removeFirst(sign.utf8CodeUnitCount)
        return true
    }

    private mutating func skipBlanks() { rest = rest.drop { $0 <= 0x20 } }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}
