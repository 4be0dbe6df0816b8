/// Numbers in a query: `[+-] digits [. digits] [(e|E) [+-] digits]`, without blanks around them.
enum DecimalNumber {
    enum Integer: Equatable {
        case integer(Int), tooLarge, notAnInteger
    }

    /// The powers of ten that a `Double` holds exactly.
    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
        1e18, 1e19, 1e20, 1e21, 1e22,
    ]

    /// The nearest double, an infinity if it is beyond all of them; nil if the text is not such a number.
    static func parse(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        var rest = text[...]
        let isNegative = takeSign(&rest)
        var digits = Digits()
        guard digits.take(from: &rest) > 0 else { return nil }
        var exponent = 0
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            let fraction = digits.take(from: &rest)
            guard fraction > 0 else { return nil }
            exponent = -fraction
        }
        if let mark = rest.first, mark | 0x20 == UInt8(ascii: "e") {
            rest.removeFirst()
            let isExponentNegative = takeSign(&rest)
            var exponentDigits = Digits()
            guard exponentDigits.take(from: &rest) > 0 else { return nil }
            // Larger than any exponent that is used below.
            let magnitude = exponentDigits.isExact ? Int(exponentDigits.value) : 1 << 53
            exponent += isExponentNegative ? -magnitude : magnitude
        }
        guard rest.isEmpty else { return nil }
        // Both operands are exact, so that the one rounding left is the right one (Clinger 1990).
        guard digits.isExact, powersOfTen.indices.contains(abs(exponent)) else {
            return Double(String(decoding: text, as: UTF8.self))
        }
        let value = Double(digits.value)
        let magnitude = exponent < 0 ? value / powersOfTen[-exponent] : value * powersOfTen[exponent]
        return isNegative ? -magnitude : magnitude
    }

    /// A whole number without a point or an exponent.
    static func parseInteger(_ text: UnsafeBufferPointer<UInt8>) -> Integer {
        var rest = text[...]
        let isNegative = takeSign(&rest)
        var digits = Digits()
        guard digits.take(from: &rest) > 0, rest.isEmpty else { return .notAnInteger }
        guard digits.isExact, let magnitude = Int(exactly: digits.value) else { return .tooLarge }
        return .integer(isNegative ? -magnitude : magnitude)
    }

    /// Takes a sign if there is one; true if it is a minus.
    private static func takeSign(_ text: inout Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard let sign = text.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") else {
            return false
        }
        text.removeFirst()
        return sign == UInt8(ascii: "-")
    }

    /// The value of decimal digits, as long as a `Double` can hold it exactly.
    private struct Digits {
        private(set) var value: UInt64 = 0
        /// False once the value is more than 2⁵³; the value is wrong then.
        private(set) var isExact = true

        /// Takes the digits at the start of a text and returns how many there were.
        mutating func take(from text: inout Slice<UnsafeBufferPointer<UInt8>>) -> Int {
            var count = 0
            while let byte = text.first, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
                if isExact {
                    value = value * 10 + UInt64(byte - UInt8(ascii: "0"))
                    isExact = value <= 1 << 53
                }
                text.removeFirst()
                count += 1
            }
            return count
        }
    }
}
