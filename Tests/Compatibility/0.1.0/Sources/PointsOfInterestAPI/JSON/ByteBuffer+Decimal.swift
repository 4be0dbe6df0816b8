extension ByteBuffer {
    /// Appends a number's shortest decimal form that reads back as the same number: `37.3293`, `12`, `1e+16`.
    mutating func appendDecimal(_ number: Double) {
        // Seven decimals hold what coordinates and distances have. Of at most 15 digits, no two read as the
        // same double: what reads back as this number is its shortest form, and no shorter one can exist.
        guard number.magnitude < 1e8 else { return appendDescription(of: number) }
        let scaled = Int64(number * 1e7 + (number < 0 ? -0.5 : 0.5))
        guard Double(scaled) / 1e7 == number else { return appendDescription(of: number) }
        let (whole, fraction) = scaled.magnitude.quotientAndRemainder(dividingBy: 10_000_000)
        withRoom(for: 24) { end in
            var length = 0
            if scaled < 0 {
                end.storeBytes(of: UInt8(ascii: "-"), as: UInt8.self)
                length = 1
            }
            length += (end + length).storeDecimal(whole)
            if fraction != 0 { length += (end + length).storeFraction(fraction) }
            return length
        }
    }

    /// Appends a whole number's digits.
    mutating func appendDecimal(_ number: Int) {
        if number < 0 { append(UInt8(ascii: "-")) }
        withRoom(for: 20) { end in end.storeDecimal(UInt64(number.magnitude)) }
    }

    private mutating func appendDescription(of number: Double) {
        var description = number.description
        description.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }
}

extension UnsafeMutableRawPointer {
    /// Stores a whole number's digits, at most 20; answers how many.
    @inline(__always)
    fileprivate func storeDecimal(_ number: UInt64) -> Int {
        var count = 1
        var rest = number / 10
        while rest != 0 {
            rest /= 10
            count += 1
        }
        storeDigits(of: number, count: count)
        return count
    }

    /// Stores a point and seven decimals without the zeros at their end; answers how many bytes.
    @inline(__always)
    fileprivate func storeFraction(_ decimals: UInt64) -> Int {
        var (decimals, count) = (decimals, 7)
        while decimals % 10 == 0, count > 1 {
            decimals /= 10
            count -= 1
        }
        storeBytes(of: UInt8(ascii: "."), as: UInt8.self)
        (self + 1).storeDigits(of: decimals, count: count)
        return count + 1
    }

    /// Stores the last `count` digits of a number.
    @inline(__always)
    private func storeDigits(of number: UInt64, count: Int) {
        var rest = number
        for place in stride(from: count - 1, through: 0, by: -1) {
            storeBytes(
                of: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10), toByteOffset: place,
                as: UInt8.self)
            rest /= 10
        }
    }
}
