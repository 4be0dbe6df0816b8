import Bytes

/// The `traceparent` field, which says which trace a request is part of (W3C Trace Context, section 3.2).
package struct TraceParent: Hashable, Sendable {
    /// The digits of the trace's id, in their order.
    private let digits: (EightBytes, EightBytes, EightBytes, EightBytes)

    /// Reads a field's value; nil if it isn't valid. Of versions after 00 only the parts of version 00 are read, as
    /// the recommendation demands.
    package init?(_ value: String) {
        self.init(Array(value.utf8).span)
    }

    init?(_ text: Span<UInt8>) {
        let bytes = text.bytes
        // Two digits of the version, 32 of the trace, 16 of its parent and two of flags, with hyphens between.
        guard text.count >= 55, let version = Self.byte(text, at: 0), version != 0xFF,
            text.count == 55 || version != 0 && text[55] == ASCII.hyphen,
            text[2] == ASCII.hyphen, text[35] == ASCII.hyphen, text[52] == ASCII.hyphen,
            Self.byte(text, at: 53) != nil
        else { return nil }
        let parent = (EightBytes(bytes, at: 36), EightBytes(bytes, at: 44))
        digits = (
            EightBytes(bytes, at: 3), EightBytes(bytes, at: 11), EightBytes(bytes, at: 19),
            EightBytes(bytes, at: 27)
        )
        guard digits.0.areLowercaseHex, digits.1.areLowercaseHex, digits.2.areLowercaseHex,
            digits.3.areLowercaseHex,
            parent.0.areLowercaseHex, parent.1.areLowercaseHex, !(parent.0.areZeros && parent.1.areZeros),
            !(digits.0.areZeros && digits.1.areZeros && digits.2.areZeros && digits.3.areZeros)
        else { return nil }
    }

    /// 32 lower-case hexadecimal digits, not all zero.
    package var traceID: String {
        var text = ByteBuffer(capacity: 32)
        append(to: &text)
        return text.text
    }

    package func append(to buffer: inout ByteBuffer) {
        buffer.append(low: digits.0.word, high: digits.1.word)
        buffer.append(low: digits.2.word, high: digits.3.word)
    }

    /// The byte that two lower-case hexadecimal digits stand for.
    private static func byte(_ bytes: Span<UInt8>, at index: Int) -> UInt8? {
        guard let high = bytes[index].hexDigitValue, let low = bytes[index + 1].hexDigitValue,
            ASCII.lowercased(bytes[index]) == bytes[index],
            ASCII.lowercased(bytes[index + 1]) == bytes[index + 1]
        else { return nil }
        return high << 4 | low
    }

    package static func == (left: TraceParent, right: TraceParent) -> Bool { left.digits == right.digits }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(digits.0)
        hasher.combine(digits.1)
        hasher.combine(digits.2)
        hasher.combine(digits.3)
    }
}
