import CIconv

/// The encoding of texts in western European Windows, which Excel writes.
enum Windows1252 {
    /// Whether bytes are a text that isn't UTF-8; nil where all are ASCII, which is the same in both. Some damage doesn't
    /// make another encoding of UTF-8: what is wrong has to be more than what is right.
    static func isLikely(_ bytes: ArraySlice<UInt8>) -> Bool? {
        var (right, wrong) = (0, 0)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            index += 1
            guard byte >= 0x80 else { continue }
            let length = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc2 ? 1 : 0
            // A character that isn't there as a whole says nothing.
            if length > 0, index + length > bytes.endIndex { break }
            if length > 0, byte < 0xf5, bytes[index..<index + length].allSatisfy({ $0 & 0xc0 == 0x80 }) {
                right += 1
                index += length
            } else {
                wrong += 1
            }
        }
        return right + wrong == 0 ? nil : wrong > right
    }

    /// The text of bytes in UTF-8, by iconv(3); nil where the system's iconv doesn't know the encoding.
    static func utf8(of bytes: ArraySlice<UInt8>) -> [UInt8]? {
        guard let descriptor = iconv_open("UTF-8", "WINDOWS-1252"), Int(bitPattern: descriptor) != -1 else {
            return nil
        }
        defer { iconv_close(descriptor) }
        var input = bytes.map { CChar(bitPattern: $0) }
        // A character has three bytes at most.
        var output = [CChar](repeating: 0, count: 3 * input.count)
        var (left, room) = (input.count, output.count)
        func convert(_ input: UnsafeMutablePointer<CChar>, _ output: UnsafeMutablePointer<CChar>) {
            var (next, end) = (Optional(input), Optional(output))
            while left > 0 {
                iconv(descriptor, &next, &left, &end, &room)
                guard left > 0 else { break }
                // Five bytes have no character: they stand for a control character, as in browsers (WHATWG Encoding).
                end?[0] = CChar(bitPattern: 0xc2)
                end?[1] = next?[0] ?? 0
                (next, end) = (next?.successor(), end?.advanced(by: 2))
                (left, room) = (left - 1, room - 2)
            }
        }
        convert(&input, &output)
        return output.dropLast(room).map { UInt8(bitPattern: $0) }
    }
}
