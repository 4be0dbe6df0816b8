import CIconv
import Foundation

extension ImportSource {
    /// Whether the system's iconv knows an encoding.
    package static func isEncoding(_ name: String) -> Bool { TextDecoder(name) != nil }
}

/// Makes UTF-8 of a text in another encoding, a piece after the other, by iconv(3). For one thread.
final class TextDecoder {
    /// As iconv knows it: `WINDOWS-1250`, `SHIFT_JIS`, `UTF-16LE`.
    let name: String
    private let descriptor: iconv_t
    /// The bytes of a character that isn't there as a whole yet.
    private var incomplete: [UInt8] = []

    /// Nil where the system's iconv doesn't know the encoding.
    init?(_ name: String) {
        // Behind slashes there would be options of iconv, by which it leaves out what it can't read.
        let isName = name.utf8.allSatisfy { byte in
            (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10
                || "-_:.+()".utf8.contains(byte)
        }
        guard isName, (1...40).contains(name.utf8.count), let descriptor = iconv_open("UTF-8", name),
            Int(bitPattern: descriptor) != -1
        else { return nil }
        (self.name, self.descriptor) = (name, descriptor)
    }

    deinit { iconv_close(descriptor) }

    /// What the next bytes are; nil where they aren't of this encoding.
    ///
    /// - Parameter isLast: whether no more follow, so that a character has to end here.
    func utf8(of bytes: ArraySlice<UInt8>, isLast: Bool) -> [UInt8]? {
        var input = (incomplete + bytes).map { CChar(bitPattern: $0) }
        incomplete = []
        guard !input.isEmpty else { return [] }
        // Of a byte, and of two of UTF-16, there are three at most.
        var output = [CChar](repeating: 0, count: 3 * input.count + 16)
        var (left, room) = (input.count, output.count)
        func convert(_ input: UnsafeMutablePointer<CChar>, _ output: UnsafeMutablePointer<CChar>) -> Bool {
            var (next, end) = (Optional(input), Optional(output))
            return iconv(descriptor, &next, &left, &end, &room) != -1 || errno == EINVAL
        }
        guard convert(&input, &output), !isLast || left == 0 else { return nil }
        incomplete = input.suffix(left).map { UInt8(bitPattern: $0) }
        return output.dropLast(room).map { UInt8(bitPattern: $0) }
    }

    /// A word as Windows-1252 would have it, for people.
    static func shown(_ word: ArraySlice<UInt8>) -> String {
        let text = word.prefix(20).map { byte -> String in
            TextDecoder(WesternText.encoding)?.utf8(of: [byte], isLast: true)
                .map { String(decoding: $0, as: UTF8.self) } ?? "?"
        }
        return text.joined().printable
    }

    /// The encoding of a text in UTF-16: by its byte order mark, which it is without then, or by the zeros that half of the bytes of
    /// Latin letters are; nil for anything else.
    static func utf16(_ bytes: ArraySlice<UInt8>) -> (name: String, markLength: Int)? {
        if bytes.starts(with: [0xff, 0xfe]) { return ("UTF-16LE", 2) }
        if bytes.starts(with: [0xfe, 0xff]) { return ("UTF-16BE", 2) }
        let sample = Array(bytes.prefix(512))
        let pairs = sample.count / 2
        guard pairs >= 4 else { return nil }
        let zeros = sample.indices.filter { sample[$0] == 0 }
        let odd = zeros.filter { !$0.isMultiple(of: 2) }.count
        let even = zeros.count - odd
        if odd * 2 > pairs, even * 20 < pairs { return ("UTF-16LE", 0) }
        if even * 2 > pairs, odd * 20 < pairs { return ("UTF-16BE", 0) }
        return nil
    }
}
