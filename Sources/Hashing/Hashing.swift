import Bytes
import CCrypto

/// SHA-256 (FIPS 180-4), computed by libcrypto.
///
/// A failure ends the process: libcrypto fails only where memory has run out, or where OpenSSL's configuration takes
/// away its algorithms. The latter shows at the start, since the migrations' checksums are computed there.
package enum SHA256 {
    fileprivate static let byteCount = 32

    /// The digest of `bytes`, 32 bytes.
    package static func digest(of bytes: some Collection<UInt8>) -> [UInt8] {
        bytes.withContiguousBytes { message in
            digest { EVP_Digest(message.baseAddress, message.count, $0, nil, EVP_sha256(), nil) == 1 }
        }
    }

    /// The digest of `bytes` as 64 lower-case hexadecimal digits.
    package static func hexDigest(of bytes: some Collection<UInt8>) -> String {
        digest(of: bytes).hexadecimal
    }

    /// What `compute` writes: 32 bytes. It returns whether libcrypto has computed them.
    fileprivate static func digest(_ compute: (UnsafeMutablePointer<UInt8>?) -> Bool) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { digest, count in
            guard compute(digest.baseAddress) else {
                fatalError("libcrypto can't compute SHA-256: is its configuration (OPENSSL_CONF) right?")
            }
            count = byteCount
        }
    }
}

/// HMAC-SHA-256 (RFC 2104, FIPS 198-1): a hash that can be made only with the key. Fails as ``SHA256`` does.
package struct HMAC: Sendable {
    private let key: [UInt8]

    /// Hashes with a key of any length; a key of less than 32 bytes, the digest's length, makes the hash weaker.
    package init(key: [UInt8]) {
        self.key = key
    }

    /// The code of a message, 32 bytes.
    package func code(of message: some Collection<UInt8>) -> [UInt8] {
        message.withContiguousBytes { message in
            SHA256.digest { code in
                let result = CCrypto.HMAC(
                    EVP_sha256(), key, Int32(key.count), message.baseAddress, message.count, code, nil)
                return result != nil
            }
        }
    }
}

extension Collection<UInt8> {
    /// Calls `body` with the bytes, which are copied only where they don't lie side by side.
    fileprivate func withContiguousBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        withContiguousStorageIfAvailable(body) ?? Array(self).withUnsafeBufferPointer(body)
    }
}

/// OpenSSL, which libpq uses, too.
package enum OpenSSL {
    /// Keeps what it has until the process has ended. Otherwise it frees that at `exit`, and a thread that has connected to a
    /// database and ends at that moment crashes (OPENSSL_init_crypto(3), `OPENSSL_INIT_NO_ATEXIT`). Has to be called first.
    package static func keepUntilExit() {
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    }
}
