import Foundation
import Randomness
import Testing

@testable import PointsOfInterestServerAPI

@Suite("Base64 for URLs")
struct Base64URLTests {
    private func encode(_ bytes: [UInt8]) -> String {
        var text = ByteBuffer(capacity: 0)
        bytes.withUnsafeBytes { Base64URL.encode($0, to: &text) }
        return String(decoding: text.bytes, as: UTF8.self)
    }

    @Test(
        "The vectors of RFC 4648, section 10, are encoded without their padding",
        arguments: [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ])
    func writesVectors(plain: String, encoded: String) {
        #expect(encode(Array(plain.utf8)) == encoded)
        #expect(Base64URL.decode(encoded.utf8) == Array(plain.utf8))
    }

    @Test("Bytes are encoded as by Foundation, and decode to the same bytes")
    func agreesWithFoundation() {
        var random = SeededGenerator()
        for count in 0..<300 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let encoded = encode(bytes)
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

@Suite("A stable hash")
struct StableHashTests {
    @Test(
        "The hash has the values that FNV-1a's authors publish",
        arguments: [
            ("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("b", 0xaf63_df4c_8601_f1a5),
            ("foobar", 0x8594_4171_f739_67e8), ("hello", 0xa430_d846_80aa_bd0b),
        ] as [(String, UInt64)])
    func hasKnownValues(text: String, hash: UInt64) {
        #expect(StableHash.hash(text.utf8) == hash)
    }

    @Test("A hash that begins with another hash is that of both texts joined")
    func continues() {
        #expect(
            StableHash.hash("bar".utf8, seed: StableHash.hash("foo".utf8)) == StableHash.hash("foobar".utf8))
    }
}
