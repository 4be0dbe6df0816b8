/// A request's id: the client's, or 15 letters and digits, of which a string is made only when it is asked for.
public struct RequestID: Sendable, CustomStringConvertible {
    /// The bytes of a new id, the first one lowest.
    private let low: UInt64
    private let high: UInt64
    /// The client's id; nil for a new one. By reference, since it is rare and ids are copied often.
    private let text: Text?

    private final class Text: Sendable {
        let bytes: [UInt8]

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
        }
    }

    private static let newLength = 15
    private static let alphabet: StaticString = "0123456789abcdefghjkmnpqrstvwxyz"

    /// An id that the client chose.
    public init(_ text: String) {
        (low, high) = (0, 0)
        self.text = Text(Array(text.utf8))
    }

    /// A new id of 75 random bits: 40 of the first number, 35 of the second.
    init(randomBits first: UInt64, _ second: UInt64) {
        low = Self.letters(first, count: 8)
        high = Self.letters(second, count: 7)
        text = nil
    }

    @inline(__always)
    private static func letters(_ bits: UInt64, count: Int) -> UInt64 {
        var letters: UInt64 = 0
        for index in 0..<count {
            let digit = Int(truncatingIfNeeded: bits &>> UInt64(5 &* index) & 31)
            letters |= UInt64(alphabet.utf8Start[digit]) &<< UInt64(8 &* index)
        }
        return letters
    }

    /// The id.
    public var description: String {
        String(
            decoding: [UInt8](unsafeUninitializedCapacity: maximumCount) { buffer, count in
                guard let start = buffer.baseAddress else { return }
                count = store(at: UnsafeMutableRawPointer(start))
            }, as: UTF8.self)
    }

    /// Number of bytes that `store` may write.
    public var maximumCount: Int { max(16, text?.bytes.count ?? 0) }

    /// Stores the id's bytes, without making a string; returns how many these are.
    public func store(at memory: UnsafeMutableRawPointer) -> Int {
        if let text {
            text.bytes.withUnsafeBytes { bytes in
                guard let source = bytes.baseAddress else { return }
                memory.copyMemory(from: source, byteCount: bytes.count)
            }
            return text.bytes.count
        }
        memory.storeBytes(of: low.littleEndian, as: UInt64.self)
        memory.storeBytes(of: high.littleEndian, toByteOffset: 8, as: UInt64.self)
        return Self.newLength
    }
}

/// Chooses the ids of requests: the client's `X-Request-Id` if it is acceptable, otherwise a new one.
struct RequestIDs {
    private static let maximumAcceptedLength = 128

    /// State of a SplitMix64 generator: ids have to differ, they don't have to be secret.
    private var state = UInt64.random(in: .min ... .max)

    /// The id for a request with these fields.
    mutating func id(for headers: HTTPHeaders) -> RequestID {
        guard headers.has(.requestID) else { return nextID() }
        let accepted = headers.withFirstValue(of: .requestID) { Self.accepted($0) }
        return (accepted ?? nil) ?? nextID()
    }

    /// The id that a client's field gives; nil if it isn't acceptable.
    static func accepted(_ value: Slice<UnsafeRawBufferPointer>) -> RequestID? {
        isAcceptable(value) ? RequestID(String(decoding: value, as: UTF8.self)) : nil
    }

    /// A new id: 75 random bits in 15 letters and digits.
    mutating func nextID() -> RequestID {
        RequestID(randomBits: randomBits(), randomBits())
    }

    /// A new id, as a string.
    mutating func next() -> String { nextID().description }

    /// Letters, digits, dot, underscore and hyphen, at most 128: nothing that could disturb a log line.
    private static func isAcceptable(_ value: Slice<UnsafeRawBufferPointer>) -> Bool {
        !value.isEmpty && value.count <= maximumAcceptedLength
            && value.allSatisfy {
                ASCII.isLetterOrDigit($0) || $0 == ASCII.dot || $0 == ASCII.underscore || $0 == ASCII.hyphen
            }
    }

    private mutating func randomBits() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}

/// The `traceparent` field, which says which trace a request is part of (W3C Trace Context, section 3.2).
public struct TraceParent: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// Reads a field's value; nil if it isn't valid. Of versions after 00 only the parts of version 00 are read, as
    /// the recommendation demands.
    public init?(_ value: String) {
        var value = value
        let parsed = value.withUTF8 { Self(UnsafeRawBufferPointer($0)[...]) }
        guard let parsed else { return nil }
        self = parsed
    }

    init?(_ bytes: Slice<UnsafeRawBufferPointer>) {
        let start = bytes.startIndex
        guard bytes.count >= 55, let version = Self.hex(bytes[start..<start + 2]), version != 0xFF,
            bytes.count == 55 || version != 0 && bytes[start + 55] == ASCII.hyphen,
            [2, 35, 52].allSatisfy({ bytes[start + $0] == ASCII.hyphen }),
            let high = Self.hex(bytes[start + 3..<start + 19]),
            let low = Self.hex(bytes[start + 19..<start + 35]), high | low != 0,
            let parent = Self.hex(bytes[start + 36..<start + 52]), parent != 0,
            Self.hex(bytes[start + 53..<start + 55]) != nil
        else { return nil }
        (self.high, self.low) = (high, low)
    }

    /// The trace's id: 32 lower-case hexadecimal digits, not all zero.
    public var traceID: String {
        let digits = [high, low].flatMap { word in
            stride(from: 60, through: 0, by: -4).map { shift in
                let digit = UInt8(truncatingIfNeeded: word >> UInt64(shift) & 15)
                return digit < 10 ? ASCII.zero + digit : UInt8(ascii: "a") + digit - 10
            }
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// The number that up to 16 lower-case hexadecimal digits stand for.
    private static func hex(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt64? {
        var number: UInt64 = 0
        for byte in bytes {
            guard let digit = ASCII.hexValue(byte), byte == ASCII.lowercased(byte) else { return nil }
            number = number << 4 | UInt64(digit)
        }
        return number
    }
}
