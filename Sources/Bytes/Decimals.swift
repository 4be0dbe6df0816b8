extension ByteBuffer {
    /// Appends a number's shortest decimal form that reads back as the same number: `37.3293`, `12`, `1e+16`.
    @usableFromInline
    package mutating func appendDecimal(_ number: Double) {
        withRoom(for: 32) { $0.storeDecimal(number) }
    }

    /// Appends a whole number's digits.
    @usableFromInline
    package mutating func appendDecimal(_ number: Int) {
        withRoom(for: 24) { $0.storeDecimal(number) }
    }
}

extension UnsafeMutableRawPointer {
    /// Stores a finite number in its shortest form after rounding it to one decimal, halves away from zero; returns how
    /// many bytes it took, at most 24.
    package func storeTenths(of number: Double) -> Int {
        // Different numbers of at most 15 digits are never read as the same double, so no form is shorter than these
        // digits.
        guard number >= 0, number < 9_999_999 else { return storeDescription(ofTenths: number) }
        // A sum with 2^52 is rounded to a whole number, and has it in its last bits. Halves may be rounded down.
        let scaled = number * 10
        let sum = scaled + 0x1p52
        let tenths = sum.bitPattern & 0xFFFF_FFFF &+ (scaled - (sum - 0x1p52) == 0.5 ? 1 : 0)
        // The last digit is in the highest byte, where the point goes.
        let digits = tenths.eightDigits
        let zeros = min(6, digits.trailingZeroBitCount / 8)
        let text = digits | 0x3030_3030_3030_3030
        let whole = text & 0x00FF_FFFF_FFFF_FFFF | UInt64(UInt8(ascii: ".")) << 56
        storeBytes(of: (whole >> UInt64(8 * zeros)).littleEndian, as: UInt64.self)
        storeBytes(of: UInt8(truncatingIfNeeded: text >> 56), toByteOffset: 8 - zeros, as: UInt8.self)
        return digits >> 56 == 0 ? 7 - zeros : 9 - zeros
    }

    private func storeDescription(ofTenths number: Double) -> Int {
        var buffer = ByteBuffer(capacity: 64)
        buffer.appendDecimal((number * 10).rounded() / 10)
        buffer.withBytes { if let start = $0.baseAddress { copyMemory(from: start, byteCount: $0.count) } }
        return buffer.count
    }

    /// Stores a finite number's shortest decimal form that reads back as the same number; returns how many bytes it took.
    /// There has to be room for 32.
    package func storeDecimal(_ number: Double) -> Int {
        // Seven decimals are enough for coordinates and distances. Different numbers of at most 15 digits are never read
        // as the same double, so one that reads back as this number is its shortest form.
        guard number.magnitude < 1e8 else { return storeDescription(of: number) }
        let scaled = Int64(number * 1e7 + (number < 0 ? -0.5 : 0.5))
        guard Double(scaled) / 1e7 == number else { return storeDescription(of: number) }
        let (whole, fraction) = scaled.magnitude.quotientAndRemainder(dividingBy: 10_000_000)
        let length = storeMinus(scaled < 0)
        let end = self + length + (self + length).storeDigits(of: whole)
        guard fraction != 0 else { return end - self }
        end.storeBytes(of: UInt8(ascii: "."), as: UInt8.self)
        // The eighth digit is always 0. Zeros at the end, which are in the highest bytes, aren't counted.
        let digits = (fraction &* 10).eightDigits
        (end + 1).storeBytes(of: digits.asText, as: UInt64.self)
        return end - self + 9 - digits.leadingZeroBitCount / 8
    }

    /// Stores a whole number's digits; returns how many bytes it took. There has to be room for 24.
    package func storeDecimal(_ number: Int) -> Int {
        if number >= 0, number < 10_000 { return storeFewDigits(of: UInt32(truncatingIfNeeded: number)) }
        let length = storeMinus(number < 0)
        return length + (self + length).storeDigits(of: UInt64(number.magnitude))
    }

    @inline(__always)
    private func storeMinus(_ isNegative: Bool) -> Int {
        // If the number isn't negative, its first digit overwrites this.
        storeBytes(of: UInt8(ascii: "-"), as: UInt8.self)
        return isNegative ? 1 : 0
    }

    private func storeDescription(of number: Double) -> Int {
        var description = number.description
        return description.withUTF8 { text in
            if let start = text.baseAddress { copyMemory(from: start, byteCount: text.count) }
            return text.count
        }
    }

    /// The same for a number below 10,000.
    @inline(__always)
    private func storeFewDigits(of number: UInt32) -> Int {
        let hundreds = (number &* 10_486) >> 20
        let twos = hundreds | (number &- hundreds &* 100) << 16
        let tens = (twos &* 103) >> 10 & 0x000F_000F
        let digits = tens | (twos &- tens &* 10) << 8
        let zeros = min(3, digits.trailingZeroBitCount / 8)
        storeBytes(of: ((digits | 0x3030_3030) >> UInt32(8 * zeros)).littleEndian, as: UInt32.self)
        return 4 - zeros
    }

    private func storeDigits(of number: UInt64) -> Int {
        if number < 10_000 { return storeFewDigits(of: UInt32(truncatingIfNeeded: number)) }
        guard number < 100_000_000 else {
            let (first, last) = number.quotientAndRemainder(dividingBy: 100_000_000)
            let count = storeDigits(of: first)
            (self + count).storeBytes(of: last.eightDigits.asText, as: UInt64.self)
            return count + 8
        }
        let digits = number.eightDigits
        let zeros = min(7, digits.trailingZeroBitCount / 8)
        storeBytes(of: (digits.asText.littleEndian >> UInt64(8 * zeros)).littleEndian, as: UInt64.self)
        return 8 - zeros
    }
}

extension UInt64 {
    /// The eight digits of a number below 100,000,000, one in each byte, the first in the lowest byte. The number is
    /// split into halves of four digits, these into halves of two, and these into digits. The last two steps split all
    /// halves at once, by multiplications that are exact for so few digits.
    fileprivate var eightDigits: UInt64 {
        let fours = (self / 10_000) | (self % 10_000) << 32
        let hundreds = (fours &* 10_486) >> 20 & 0x7F_0000_007F
        let twos = hundreds | (fours &- hundreds &* 100) << 16
        let tens = (twos &* 103) >> 10 & 0x000F_000F_000F_000F
        return tens | (twos &- tens &* 10) << 8
    }

    /// The same digits as ASCII, in the order of memory.
    fileprivate var asText: UInt64 { (self | 0x3030_3030_3030_3030).littleEndian }
}
