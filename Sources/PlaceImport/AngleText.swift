import Bytes

/// Angles as people write them: `52° 30′ 15″ N`, `N 52° 30.25'`, `52d30m15s`, `52 30 15 N`, `52:30:15 North`, `52.5°`, `52.5N`.
/// One is degrees, or whole degrees and minutes, or those and seconds; with a sign, or with the side of the Earth before or
/// behind it. Parts without signs of their own need that side, since `4 8` may be anything. `O` is no side: it is the east in
/// German and the west in French. The text is as `PositionText.cleaned` makes it.
struct AngleText {
    /// What an angle is measured along, where its letter tells it.
    enum Axis { case latitude, longitude }

    struct Angle {
        let degrees: Double
        let axis: Axis?
        /// Whether the side of the Earth is before it.
        fileprivate let isSideFirst: Bool
    }

    private struct Side {
        let axis: Axis
        let isNegative: Bool
        /// Whether it is an `s` alone, which may be that of seconds.
        let isSmallS: Bool
    }

    /// How a part of an angle ends.
    private enum Unit { case sign, letter, none }

    private static let degree: [StaticString] = ["°", "º", "˚"]
    private static let minute: [StaticString] = ["′", "'", "’", "‘", "´", "`", "ʹ"]
    /// Two signs of minutes are one of seconds.
    private static let second: [StaticString] = [
        "″", "\"", "”", "“", "ʺ", "˝", "′′", "''", "’’", "‘‘", "´´", "``", "ʹʹ",
    ]

    private var rest: ArraySlice<UInt8>

    /// The angle that a whole text is; nil if it is none.
    static func angle(_ bytes: ArraySlice<UInt8>) -> Angle? {
        var text = AngleText(rest: bytes)
        guard let angle = text.next() else { return nil }
        return text.isAtEnd ? angle : nil
    }

    /// A latitude and a longitude in this order, or in any order if both have sides; nil if the text is something else. With the
    /// one's side in front and the other's behind, a comma between them could be a decimal one.
    static func pair(_ text: ArraySlice<UInt8>) -> (latitude: Double, longitude: Double)? {
        var text = AngleText(rest: text)
        guard let first = text.next() else { return nil }
        text.skipBlanks()
        _ = text.take(",") || text.take(";") || text.take("/")
        guard let second = text.next(), text.isAtEnd, first.isSideFirst == second.isSideFirst else {
            return nil
        }
        switch (first.axis, second.axis) {
        case (nil, nil), (.latitude, .longitude): return (first.degrees, second.degrees)
        case (.longitude, .latitude): return (second.degrees, first.degrees)
        default: return nil
        }
    }

    private var isAtEnd: Bool { rest.allSatisfy { $0 == 0x20 } }

    private mutating func next() -> Angle? {
        var side = takeSide()
        let isSideFirst = side != nil
        skipBlanks()
        let isNegative = take("-")
        let hasSign = isNegative || take("+")
        guard let number = takeNumber() else { return nil }
        let unit = takeUnit(Self.degree, "d", "deg")
        let hasLetters = unit == .letter
        var (minutes, seconds): (Part?, Part?)
        if number.isWhole {
            minutes = takePart(behind: unit) { $0.takeUnit(Self.minute, hasLetters ? "m" : nil, "min") }
            if let minutes, minutes.isWhole {
                seconds = takePart(behind: minutes.unit) {
                    $0.takeUnit(Self.second, hasLetters ? "s" : nil, "sec")
                }
            }
        }
        guard minutes?.value ?? 0 < 60, seconds?.value ?? 0 < 60 else { return nil }
        let last = seconds?.unit ?? minutes?.unit ?? unit
        if side == nil {
            side = takeSide()
            // `15 s` are seconds, or in the south.
            if let side, side.isSmallS, minutes != nil, last == .none { return nil }
        }
        let isMarked = unit != .none && minutes?.unit != Unit.none && seconds?.unit != Unit.none
        guard isMarked || side != nil, !hasSign || side == nil else { return nil }
        var degrees = number.value
        if let minutes {
            // Divided once, so that it is the nearest number to the angle that is written.
            degrees = ((degrees * 60 + minutes.value) * 60 + (seconds?.value ?? 0)) / 3600
        }
        return Angle(
            degrees: isNegative || side?.isNegative == true ? -degrees : degrees, axis: side?.axis,
            isSideFirst: isSideFirst)
    }

    private struct Part {
        let value: Double
        let isWhole: Bool
        let unit: Unit
    }

    /// Takes minutes or seconds, which are behind a unit, a colon or a blank; nothing, where the number is the next angle's.
    private mutating func takePart(behind unit: Unit, _ takeUnit: (inout Self) -> Unit) -> Part? {
        let start = rest
        let isApart = take(":") || rest.first == 0x20
        if isApart || unit != .none, let number = takeNumber() {
            let own = takeUnit(&self)
            var ahead = self
            if own != .none || ahead.takeUnit(Self.degree, "d", "deg") == .none && ahead.canEndPart {
                return Part(value: number.value, isWhole: number.isWhole, unit: own)
            }
        }
        rest = start
        return nil
    }

    /// Whether a part without a unit may end here: not before a sign of another part.
    private var canEndPart: Bool {
        guard let byte = rest.first else { return true }
        return byte == 0x20
            || byte < 0x80 && byte != UInt8(ascii: "'") && byte != UInt8(ascii: "\"")
                && byte != UInt8(ascii: "`")
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

    /// Takes the side of the Earth: its letter, or its English name.
    private mutating func takeSide() -> Side? {
        skipBlanks()
        let word = rest.prefix { PositionText.isLetter($0) }
        guard let letter = word.first,
            word.count == 1
                || ["north", "south", "east", "west"].contains(where: {
                    word.asciiLowercased.elementsEqual($0.utf8)
                })
        else { return nil }
        let (axis, isNegative): (Axis, Bool)
        switch letter & ~0x20 {
        case UInt8(ascii: "N"): (axis, isNegative) = (.latitude, false)
        case UInt8(ascii: "S"): (axis, isNegative) = (.latitude, true)
        case UInt8(ascii: "E"): (axis, isNegative) = (.longitude, false)
        case UInt8(ascii: "W"): (axis, isNegative) = (.longitude, true)
        default: return nil
        }
        rest.removeFirst(word.count)
        return Side(axis: axis, isNegative: isNegative, isSmallS: word.elementsEqual("s".utf8))
    }

    /// Takes a sign behind a number, or a letter or a short word, if it may be one.
    private mutating func takeUnit(_ signs: [StaticString], _ letter: StaticString?, _ word: StaticString)
        -> Unit
    {
        let start = rest
        skipBlanks()
        if signs.contains(where: { take($0) }) { return .sign }
        for text in [word, letter].compactMap(\.self) where take(text) {
            if endsWord { return .letter }
            rest = start
            skipBlanks()
        }
        rest = start
        return .none
    }

    /// Whether a word ends here: a letter behind it is that of a side.
    private var endsWord: Bool {
        let letters = rest.prefix { PositionText.isLetter($0) }
        return letters.isEmpty || letters.count == 1 && "NSEW".utf8.contains(letters.first ?? 0)
    }

    private mutating func take(_ sign: StaticString) -> Bool {
        guard sign.withUTF8Buffer({ rest.starts(with: $0) }) else { return false }
        rest.removeFirst(sign.utf8CodeUnitCount)
        return true
    }

    private mutating func skipBlanks() { rest = rest.drop { $0 == 0x20 } }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}
