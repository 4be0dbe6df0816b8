/// The ids of requests: the client's own where it is sane, else one made here.
struct RequestIDs {
    private static let length = 15  // fits into a String without memory of its own
    private static let maximumAcceptedLength = 128
    private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

    /// State of a SplitMix64 generator: ids have to differ, not to be secret.
    private var state = UInt64.random(in: .min ... .max)

    /// The id for a request with these fields.
    mutating func id(for headers: HTTPHeaders) -> String {
        let accepted = headers.withFirstValue(of: .requestID) { value in
            Self.isSane(value) ? String(decoding: value, as: UTF8.self) : nil
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

    /// Letters, digits, dot, underscore and hyphen, up to 128: nothing that could disturb a log line.
    private static func isSane(_ value: Slice<UnsafeRawBufferPointer>) -> Bool {
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
