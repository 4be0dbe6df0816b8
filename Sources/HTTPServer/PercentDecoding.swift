/// Percent-decoding of a part of a URI (RFC 3986 section 2.1).
enum PercentDecoding {
    /// The text that bytes stand for; nil where a `%` isn't followed by two hexadecimal digits, or the result
    /// isn't UTF-8 or holds a NUL.
    static func decode(_ bytes: Slice<UnsafeRawBufferPointer>) -> String? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            if bytes[index] == ASCII.percent {
                guard bytes.endIndex - index > 2, let high = ASCII.hexValue(bytes[index + 1]),
                    let low = ASCII.hexValue(bytes[index + 2]), high | low != 0
                else { return nil }
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }
}
