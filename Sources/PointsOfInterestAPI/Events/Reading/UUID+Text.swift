#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension UUID {
    /// Reads a UUID's 36 characters (RFC 9562, section 4) of either case; nil if these are something else.
    init?(_ text: JSONText, in bytes: UnsafeBufferPointer<UInt8>) {
        guard !text.isEscaped else {
            // An escape has at most six bytes for one of the text's.
            guard text.range.count <= 6 * 36 else { return nil }
            self.init(uuidString: text.decoded(in: bytes))
            return
        }
        guard text.range.count == 36 else { return nil }
        let characters = text.raw(in: bytes)
        let id = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { digits -> UUID? in
            var position = 0
            for index in 0..<16 {
                if index == 4 || index == 6 || index == 8 || index == 10 {
                    guard characters[position] == UInt8(ascii: "-") else { return nil }
                    position += 1
                }
                guard let high = characters[position].hexDigitValue,
                    let low = characters[position + 1].hexDigitValue
                else { return nil }
                digits.initializeElement(at: index, to: high << 4 | low)
                position += 2
            }
            return UnsafeRawPointer(digits.baseAddress).map {
                UUID(uuid: $0.loadUnaligned(as: uuid_t.self))
            }
        }
        guard let id else { return nil }
        self = id
    }
}
