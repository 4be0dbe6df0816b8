/// A buffer that bytes are appended to.
///
/// An array would do the same, but checks more at each of the thousands of small appends that make a response. The
/// value can't be copied, so its memory has one owner.
@usableFromInline
package struct ByteBuffer: ~Copyable {
    @usableFromInline var memory: UnsafeMutableRawBufferPointer
    @usableFromInline var count = 0

    /// Makes an empty buffer with room for that many bytes.
    package init(capacity: Int) {
        memory = .allocate(byteCount: max(capacity, 64), alignment: 8)
    }

    /// Makes a buffer of memory that already has `count` bytes; others are appended after them. It takes over the memory,
    /// which was allocated with an alignment of at most 16.
    package init(adopting memory: UnsafeMutableRawBufferPointer, count: Int) {
        precondition(count >= 0 && count <= memory.count, "the bytes lie inside their memory")
        self.memory = memory
        self.count = count
    }

    deinit {
        memory.deallocate()
    }

    /// Hands the memory over to the caller. Its first `count` bytes are used.
    package consuming func release() -> (memory: UnsafeMutableRawBufferPointer, count: Int) {
        let released = (memory, count)
        discard self
        return released
    }

    /// A copy of the bytes.
    package var bytes: [UInt8] { Array(memory[..<count]) }

    /// Calls a closure with the bytes.
    package func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
        body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }

    /// Removes this many bytes from the end.
    package mutating func removeLast(_ dropped: Int) {
        precondition(dropped >= 0 && dropped <= count, "only what is there is dropped")
        count -= dropped
    }

    /// Appends one byte.
    @inlinable
    @inline(__always)
    package mutating func append(_ byte: UInt8) {
        withRoom(for: 1) { end in
            end.storeBytes(of: byte, as: UInt8.self)
            return 1
        }
    }

    /// Appends bytes from elsewhere.
    @inlinable
    @inline(__always)
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        withRoom(for: bytes.count) { end in
            end.copyMemory(from: source, byteCount: bytes.count)
            return bytes.count
        }
    }

    /// Appends a number's bytes, the most significant first.
    @inlinable
    @inline(__always)
    package mutating func append(bigEndian number: some FixedWidthInteger) {
        withRoom(for: MemoryLayout.size(ofValue: number)) { end in
            end.storeBytes(of: number.bigEndian, as: type(of: number))
            return MemoryLayout.size(ofValue: number)
        }
    }

    /// Appends a literal text.
    @inlinable
    @inline(__always)
    package mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Makes room for at most `maximumCount` bytes at the end and calls `write` with the start of that room. `write`
    /// returns how many bytes it wrote. There is one check for all bytes that are written at once.
    @inlinable
    @inline(__always)
    package mutating func withRoom(for maximumCount: Int, _ write: (UnsafeMutableRawPointer) -> Int) {
        if memory.count - count < maximumCount { grow(by: maximumCount) }
        guard let start = memory.baseAddress else { return }
        let written = write(start + count)
        precondition(written <= maximumCount, "more was written than there was room for")
        count += written
    }

    @inline(never)
    @usableFromInline
    mutating func grow(by needed: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(2 * memory.count, count + needed), alignment: 8)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<count]))
        memory.deallocate()
        memory = larger
    }
}

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

    private func storeDigits(of number: UInt64) -> Int {
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

extension ByteBuffer {
    /// Appends the content of a JSON string (RFC 8259, section 7): only quotes, backslashes and control
    /// characters are escaped.
    @usableFromInline
    package mutating func appendEscaped(_ string: String) {
        var string = string
        string.withUTF8 { appendEscaped($0) }
    }

    /// Appends the content of a JSON string that is given as UTF-8.
    @usableFromInline
    package mutating func appendEscaped(_ text: UnsafeBufferPointer<UInt8>) {
        guard text.needsEscape else { return append(UnsafeRawBufferPointer(text)) }
        for byte in text {
            if byte.needsEscape { appendEscape(byte) } else { append(byte) }
        }
    }

    private mutating func appendEscape(_ character: UInt8) {
        switch character {
        case UInt8(ascii: "\n"): append("\\n")
        case UInt8(ascii: "\r"): append("\\r")
        case UInt8(ascii: "\t"): append("\\t")
        case 0..<0x20:
            append("\\u00")
            append(UInt8(ascii: character < 0x10 ? "0" : "1"))
            append("0123456789abcdef".utf8.dropFirst(Int(character & 15)).first ?? 0)
        default:
            append(UInt8(ascii: "\\"))
            append(character)
        }
    }
}

extension UInt8 {
    fileprivate var needsEscape: Bool {
        self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\")
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether there is a byte that needs an escape in a JSON string; looks at sixteen bytes at a time.
    package var needsEscape: Bool {
        let bytes = UnsafeRawBufferPointer(self)
        var rest = bytes.count
        var offset = 0
        while rest >= 16 {
            if bytes.loadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self).needsEscape {
                return true
            }
            offset += 16
            rest -= 16
        }
        guard rest > 0 else { return false }
        // Fewer than sixteen bytes are left. They are looked at together with bytes before them, or with blanks.
        if bytes.count >= 16 {
            return bytes.loadUnaligned(fromByteOffset: bytes.count - 16, as: SIMD16<UInt8>.self).needsEscape
        }
        var last = SIMD16<UInt8>(repeating: UInt8(ascii: " "))
        withUnsafeMutableBytes(of: &last) { $0.copyMemory(from: bytes) }
        return last.needsEscape
    }
}

extension SIMD16<UInt8> {
    @inline(__always)
    fileprivate var needsEscape: Bool {
        let needing =
            (self .< SIMD16(repeating: 0x20))
            .| (self .== SIMD16(repeating: UInt8(ascii: "\"")))
            .| (self .== SIMD16(repeating: UInt8(ascii: "\\")))
        // `any` of a mask compiles to a loop over its lanes.
        let words = unsafeBitCast(needing, to: SIMD2<UInt64>.self)
        return words[0] | words[1] != 0
    }
}
