import Bytes
import Foundation
import Randomness
import Testing

@Suite("Base64 for URLs")
struct Base64URLTests {
    @Test(
        "The vectors of RFC 4648, section 10, are encoded without their padding",
        arguments: [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ])
    func writesVectors(plain: String, encoded: String) {
        #expect(Base64URL.encode(Array(plain.utf8)) == encoded)
        #expect(Base64URL.decode(encoded.utf8) == Array(plain.utf8))
    }

    @Test("Bytes are encoded as by Foundation, and decode to the same bytes")
    func agreesWithFoundation() {
        var random = SeededGenerator()
        for count in 0..<300 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let encoded = Base64URL.encode(bytes)
            let expected = Data(bytes).base64EncodedString()
                .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
                .replacingOccurrences(of: "=", with: "")
            #expect(encoded == expected)
            #expect(Base64URL.decode(encoded.utf8) == bytes)
        }
    }

    @Test(
        "A text that the encoder wouldn't write is refused",
        arguments: [
            "A", "AAAAA", "Zg==", "Zh", "Zm9", "Zm9v ", "Zm+v", "Zm/v", "Z\n9v", "Zm9é", "Zm9=", "====",
        ])
    func refusesOthers(text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }
}

@Suite("Percent-encoding and hexadecimal digits")
struct PercentEncodingTests {
    @Test("Every byte is encoded and decoded, and only the unreserved characters stay")
    func encodes() throws {
        let text = String(String.UnicodeScalarView((1...0x7F).compactMap(Unicode.Scalar.init))) + "é"
        var encoded = ByteBuffer()
        encoded.appendPercentEncoded(text)
        #expect(encoded.text == text.addingPercentEncoding(withAllowedCharacters: Self.unreserved))
        #expect(try PercentEncoding.decode(encoded.bytes, plusIsSpace: true) == Array(text.utf8))
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    @Test("Percent-encoding is decoded strictly")
    func decodesStrictly() throws {
        func decode(_ text: String, plusIsSpace: Bool = false) throws(PercentEncoding.Fault) -> String {
            String(decoding: try PercentEncoding.decode(text.utf8, plusIsSpace: plusIsSpace), as: UTF8.self)
        }
        #expect(try decode("a%20b+%C3%a9") == "a b+é")
        #expect(try decode("a%20b+%2B", plusIsSpace: true) == "a b +")
        for invalid in ["%", "%4", "%zz", "a%"] {
            #expect(throws: PercentEncoding.Fault.malformedEscape) { try decode(invalid) }
        }
        #expect(throws: PercentEncoding.Fault.nul) { try decode("%00") }
        #expect(throws: PercentEncoding.Fault.notUTF8) { try decode("%FF") }
    }

    @Test("Bytes are two lower-case digits each, and digits of either case have values")
    func hexadecimal() {
        #expect(
            (0...255).map { UInt8($0) }.hexadecimal == (0...255).map { String(format: "%02x", $0) }.joined())
        for digit in UInt8.min ... .max {
            let value = Int(String(decoding: [digit], as: UTF8.self), radix: 16)
            #expect(digit.hexDigitValue.map { Int($0) } == value)
        }
    }
}
