#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// An IPv4 or IPv6 address. An IPv4 address equals its IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2).
package struct IPAddress: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    /// Stands for a client whose address isn't known.
    package static let unknown = IPAddress(high: 0, low: 0)

    private static let mappedPrefix: UInt64 = 0xFFFF << 32

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Parses a numeric address without brackets and port; a zone after `%` is ignored. Nil for anything else.
    package init?(_ text: String) {
        let text = String(decoding: text.utf8.prefix { $0 != UInt8(ascii: "%") }, as: UTF8.self)
        var version4 = in_addr()
        var version6 = in6_addr()
        if inet_pton(AF_INET, text, &version4) == 1 {
            self.init(high: 0, low: Self.mappedPrefix | UInt64(UInt32(bigEndian: version4.s_addr)))
        } else if inet_pton(AF_INET6, text, &version6) == 1 {
            let words = withUnsafeBytes(of: version6) { bytes in
                (
                    bytes.loadUnaligned(as: UInt64.self),
                    bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
                )
            }
            self.init(high: UInt64(bigEndian: words.0), low: UInt64(bigEndian: words.1))
        } else {
            return nil
        }
    }

    package var isVersion4: Bool { high == 0 && low >> 32 == 0xFFFF }

    /// The client's identity: an IPv4 address, or the /64 network of an IPv6 address, all of which one client has
    /// (RFC 6177).
    package var client: IPAddress { isVersion4 ? self : IPAddress(high: high, low: 0) }
}

/// A range of addresses such as `10.0.0.0/8`, or a single address (RFC 4632, RFC 4291).
package struct AddressRange: Hashable, Sendable {
    private let base: IPAddress
    private let mask: IPAddress

    /// Parses an address, or an address, a slash and a number of bits; nil for anything else, and if bits beyond that
    /// number are set.
    package init?(settingText text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let base = IPAddress(String(first)), !text.contains("%") else {
            return nil
        }
        let width = base.isVersion4 && !first.contains(":") ? 32 : 128
        guard let bits = parts.count == 1 ? width : Int(parts[1]), (0...width).contains(bits) else {
            return nil
        }
        mask = Self.mask(bits: bits + 128 - width)
        self.base = base
        guard base.high & ~mask.high == 0, base.low & ~mask.low == 0 else { return nil }
    }

    package func contains(_ address: IPAddress) -> Bool {
        (address.high ^ base.high) & mask.high == 0 && (address.low ^ base.low) & mask.low == 0
    }

    private static func mask(bits: Int) -> IPAddress {
        // A shift by the whole width gives zero: Swift's `<<` is not C's.
        IPAddress(high: .max << UInt64(64 - min(bits, 64)), low: .max << UInt64(128 - max(bits, 64)))
    }
}
