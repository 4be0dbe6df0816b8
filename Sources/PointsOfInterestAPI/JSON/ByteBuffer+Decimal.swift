extension ByteBuffer {
    /// Appends a number's shortest decimal form that reads back as the same number: `37.3293`, `12`, `1e+16`.
    mutating func appendDecimal(_ number: Double) {
        // Seven decimals hold what coordinates and distances have. Of at most 15 digits, no two read as the
        // same double: what reads back as this number is its shortest form, and no shorter one can exist.
        let scaled = (number * 1e7).rounded()
        guard number.magnitude < 1e8, scaled / 1e7 == number else {
            var description = number.description
            return description.withUTF8 { append(UnsafeRawBufferPointer($0)) }
        }
        if scaled < 0 { append(UInt8(ascii: "-")) }
        let (whole, fraction) = UInt64(scaled.magnitude).quotientAndRemainder(dividingBy: 10_000_000)
        appendDigits(whole)
        if fraction != 0 { appendFraction(fraction) }
    }

    /// Appends a whole number's digits.
    mutating func appendDecimal(_ number: Int) {
        if number < 0 { append(UInt8(ascii: "-")) }
        appendDigits(UInt64(number.magnitude))
    }

    private mutating func appendDigits(_ number: UInt64) {
        withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { digits in
            var start = digits.count
            var rest = number
            repeat {
                start -= 1
                digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest != 0
            append(UnsafeRawBufferPointer(rebasing: digits[start...]))
        }
    }

    /// Appends a point and seven decimals without the zeros at their end.
    private mutating func appendFraction(_ decimals: UInt64) {
        withUnsafeTemporaryAllocation(byteCount: 8, alignment: 1) { digits in
            digits[0] = UInt8(ascii: ".")
            var rest = decimals
            var end = digits.count
            for place in stride(from: 7, through: 1, by: -1) {
                let digit = UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
                digits[place] = UInt8(ascii: "0") + digit
                if digit == 0, end == place + 1 { end = place }
            }
            append(UnsafeRawBufferPointer(rebasing: digits[..<end]))
        }
    }
}
