import Hashing
import Testing

@Suite("SHA-256")
struct SHA256Tests {
    @Test(
        "NIST's example messages have their digests",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
                "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
            ),
        ])
    func examples(message: String, digest: String) {
        #expect(SHA256.hexDigest(of: Array(message.utf8)) == digest)
    }

    @Test("A million times the letter a has its digest")
    func million() {
        let digest = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        #expect(SHA256.hexDigest(of: [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)) == digest)
    }

    @Test(
        "The digest is of the bytes alone, whichever collection they are in", arguments: [0, 1, 63, 64, 65])
    func collections(length: Int) {
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
        let part = Array(bytes[100..<100 + length])
        let digest = SHA256.digest(of: part)
        #expect(digest.count == 32)
        #expect(SHA256.digest(of: bytes[100..<100 + length]) == digest)
        #expect(SHA256.digest(of: part.reversed().reversed()) == digest)
        #expect(SHA256.digest(of: Array(part.reversed()).lazy.reversed()) == digest)
    }
}

@Suite("HMAC-SHA-256")
struct HMACTests {
    @Test(
        "The test cases of RFC 4231 have their codes",
        arguments: [
            (
                [UInt8](repeating: 0x0B, count: 20), "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xAA, count: 131),
                "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ])
    func examples(key: [UInt8], message: String, code: String) {
        #expect(HMAC(key: key).code(of: Array(message.utf8)).hexadecimal == code)
    }
}
