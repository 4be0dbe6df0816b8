/// Chooses the ids of requests: the client's `X-Request-Id` if it is acceptable, otherwise a new one.
struct RequestIDs {
    private static let length = 15  // a String of 15 bytes needs no allocation
    private static let maximumAcceptedLength = 128
    private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

    /// State of a SplitMix64 generator: ids have to differ, they don't have to be secret.
    private var state = UInt64.random(in: .min ... .max)

    /// The id for a request with these fields.
    mutating func id(for headers: HTTPHeaders) -> String {
        let accepted = headers.withFirstValue(of: .requestID) { value in
            Self.isAcceptable(value) ? String(decoding: value, as: UTF8.self) : nil
        }
        return (accepted ?? nil) ?? next()
    }

    /// A new id: 75 random bits in 15 letters and digits.
    mutating func next() -> String {
        var high = randomBits()
        var low = randomBits()
        return String(unsafeUninitializedCapacity: Self.length) { buffer in
            for index in 0..<Self.length {
                buffer[index] = Self.alphabet[Int((index < 12 ? high : low) & 31)]
                if index < 12 { high >>= 5 } else { low >>= 5 }
            }
            return Self.length
        }
    }

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
    /// The trace's id: 32 lower-case hexadecimal digits, not all zero.
    public let traceID: String

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
        traceID = String(decoding: bytes[start + 3..<start + 35], as: UTF8.self)
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
