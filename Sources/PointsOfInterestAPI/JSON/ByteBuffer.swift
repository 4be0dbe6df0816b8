/// Bytes that are appended to.
///
/// An array would do the same, but checks more at each of the thousands of small appends that make a response. The
/// value can't be copied, so its memory has one owner.
package struct ByteBuffer: ~Copyable {
    @usableFromInline var memory: UnsafeMutableRawBufferPointer
    @usableFromInline var count = 0

    /// Makes an empty buffer with room for that many bytes.
    package init(capacity: Int) {
        memory = .allocate(byteCount: max(capacity, 64), alignment: 8)
    }

    deinit {
        memory.deallocate()
    }

    /// A copy of the bytes.
    package var bytes: [UInt8] { Array(memory[..<count]) }

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

    /// Appends a literal text.
    @inlinable
    @inline(__always)
    package mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Makes room for at most so many bytes at the end and lets `write` write them there; it returns how many it
    /// wrote. One check for all that is written at once.
    @inlinable
    @inline(__always)
    package mutating func withRoom(for maximumCount: Int, _ write: (UnsafeMutableRawPointer) -> Int) {
        if memory.count - count < maximumCount { grow(by: maximumCount) }
        guard let start = memory.baseAddress else { return }
        count += write(start + count)
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
    @usableFromInline
    package mutating func appendDecimal(_ number: Int) {
        if number < 0 { append(UInt8(ascii: "-")) }
        withRoom(for: 20) { end in end.storeDecimal(UInt64(number.magnitude)) }
    }

    private mutating func appendDescription(of number: Double) {
        var description = number.description
        description.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }
}

extension UnsafeMutableRawPointer {
    /// Stores a whole number's digits, at most 20; returns how many.
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

    /// Stores a point and seven decimals without the zeros at their end; returns how many bytes.
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
    /// Whether there is a byte that needs an escape; looks at sixteen bytes at a time.
    fileprivate var needsEscape: Bool {
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
        // The last bytes, once more with those before them or with blanks.
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
