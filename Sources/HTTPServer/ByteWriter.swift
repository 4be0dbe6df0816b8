/// Writes bytes one run after the other into memory that was measured before.
struct ByteWriter {
    private(set) var count = 0
    private let memory: UnsafeMutableRawBufferPointer

    init(_ memory: UnsafeMutableBufferPointer<UInt8>) {
        self.memory = UnsafeMutableRawBufferPointer(memory)
    }

    mutating func write(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count <= memory.count - count, "the memory was measured too small")
        guard let source = bytes.baseAddress, let target = memory.baseAddress else { return }
        (target + count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    mutating func write(_ bytes: UnsafeBufferPointer<UInt8>) {
        write(UnsafeRawBufferPointer(bytes))
    }

    mutating func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { write($0) }
    }

    mutating func write(_ text: StaticString) {
        text.withUTF8Buffer { write($0) }
    }

    mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { write($0) }
    }

    /// Writes a number that isn't negative in decimal digits.
    mutating func write(decimal number: Int) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var rest = number.magnitude
            var index = digits.count
            repeat {
                index -= 1
                digits[index] = ASCII.zero + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            write(UnsafeBufferPointer(rebasing: digits[index...]))
        }
    }
}
