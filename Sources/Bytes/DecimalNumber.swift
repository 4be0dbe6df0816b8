/// Numbers in a query or a file: `[+-] digits [. digits] [(e|E) [+-] digits]`, without blanks around them.
package enum DecimalNumber {
    package enum Integer: Equatable {
        case integer(Int), tooLarge, notAnInteger
    }

    /// The powers of ten that a `Double` holds exactly.
    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
        1e18, 1e19, 1e20, 1e21, 1e22,
    ]

    /// The nearest double, an infinity if it is beyond all of them; nil if the text is not such a number.
    package static func parse(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        var reader = Reader(text)
        let isNegative = reader.takeSign()
        var digits = Digits()
        guard reader.takeDigits(&digits) > 0 else { return nil }
        var exponent = 0
        if reader.take(UInt8(ascii: ".")) {
            let fraction = reader.takeDigits(&digits)
            guard fraction > 0 else { return nil }
            exponent = -fraction
        }
        if reader.take(UInt8(ascii: "e")) || reader.take(UInt8(ascii: "E")) {
            let isExponentNegative = reader.takeSign()
            var exponentDigits = Digits()
            guard reader.takeDigits(&exponentDigits) > 0 else { return nil }
            // Larger than any exponent that is used below.
            let magnitude = exponentDigits.isExact ? Int(exponentDigits.value) : 1 << 53
            exponent += isExponentNegative ? -magnitude : magnitude
        }
        guard reader.isAtEnd else { return nil }
        // Both operands are exact, so only the result is rounded, and correctly (Clinger 1990).
        guard digits.isExact, abs(exponent) < powersOfTen.count else {
            return Double(String(decoding: text, as: UTF8.self))
        }
        let value = Double(digits.value)
        let magnitude = exponent < 0 ? value / powersOfTen[-exponent] : value * powersOfTen[exponent]
        return isNegative ? -magnitude : magnitude
    }

    package static func parse(_ text: [UInt8]) -> Double? { text.withUnsafeBufferPointer { parse($0) } }

    /// A whole number without a point or an exponent.
    package static func parseInteger(_ text: UnsafeBufferPointer<UInt8>) -> Integer {
        var reader = Reader(text)
        let isNegative = reader.takeSign()
        var digits = Digits()
        guard reader.takeDigits(&digits) > 0, reader.isAtEnd else { return .notAnInteger }
        guard digits.isExact, let magnitude = Int(exactly: digits.value) else { return .tooLarge }
        return .integer(isNegative ? -magnitude : magnitude)
    }

    /// The value of decimal digits, as long as a `Double` can hold it exactly.
    private struct Digits {
        private(set) var value: UInt64 = 0

        /// False once the value is more than 2⁵³: then digits are missing at its end.
        var isExact: Bool { value <= 1 << 53 }

        @inline(__always)
        mutating func append(_ digit: UInt8) {
            if isExact { value = value &* 10 &+ UInt64(digit) }
        }
    }

    /// Reads a text from its start.
    private struct Reader {
        private let text: UnsafeBufferPointer<UInt8>
        private var index = 0

        init(_ text: UnsafeBufferPointer<UInt8>) {
            self.text = text
        }

        var isAtEnd: Bool { index == text.count }

        /// Takes a byte if it is next.
        @inline(__always)
        mutating func take(_ byte: UInt8) -> Bool {
            guard index < text.count, text[index] == byte else { return false }
            index += 1
            return true
        }

        /// Takes a sign if there is one; true if it is a minus.
        @inline(__always)
        mutating func takeSign() -> Bool {
            if take(UInt8(ascii: "-")) { return true }
            _ = take(UInt8(ascii: "+"))
            return false
        }

        /// Takes the digits that are next and returns how many there were.
        @inline(__always)
        mutating func takeDigits(_ digits: inout Digits) -> Int {
            let start = index
            while index < text.count {
                let digit = text[index] &- UInt8(ascii: "0")
                guard digit < 10 else { break }
                digits.append(digit)
                index &+= 1
            }
            return index - start
        }
    }
}
