/// The addresses that begin with the same bits: `10.0.0.0/8`, or a single one (RFC 4632, RFC 4291).
public struct AddressRange: Hashable, Sendable {
    private let base: IPAddress
    private let mask: IPAddress

    /// Reads an address, with a slash and a number of bits or without; nil for all else, and where bits beyond
    /// that number are set.
    public init?(settingText text: String) {
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

    /// Whether the address is one of these.
    func contains(_ address: IPAddress) -> Bool {
        (address.high ^ base.high) & mask.high == 0 && (address.low ^ base.low) & mask.low == 0
    }

    private static func mask(bits: Int) -> IPAddress {
        // A shift by the whole width gives zero: Swift's `<<` is not C's.
        IPAddress(high: .max << UInt64(64 - min(bits, 64)), low: .max << UInt64(128 - max(bits, 64)))
    }
}
