/// HMAC-SHA-256 (RFC 2104, FIPS 198-1): a hash that only who has the key can make.
package struct HMAC: Sendable {
    private let inner: SHA256
    private let outer: SHA256

    private static let blockSize = 64

    /// Hashes with a key of any length; one shorter than the digest, 32 bytes, is weaker than the hash.
    package init(key: [UInt8]) {
        let short = key.count > Self.blockSize ? SHA256.digest(of: key) : key
        let padded = short + [UInt8](repeating: 0, count: Self.blockSize - short.count)
        var (inner, outer) = (SHA256(), SHA256())
        inner.absorb(padded.map { $0 ^ 0x36 })
        outer.absorb(padded.map { $0 ^ 0x5C })
        (self.inner, self.outer) = (inner, outer)
    }

    /// The code of a message, 32 bytes.
    package func code(of message: some Collection<UInt8>) -> [UInt8] {
        var hash = inner
        hash.absorb(message)
        var result = outer
        result.absorb(hash.digest())
        return result.digest()
    }
}
