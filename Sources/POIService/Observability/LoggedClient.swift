#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// How much of a client's address goes into the line of its request.
public enum LoggedClient: String, CaseIterable, Sendable {
    /// The whole address.
    case full
    /// The network that it is in: the first 24 bits of an address of version 4, the first 48 of one of version 6, which
    /// is what a provider gives to one site (RFC 6177).
    case network
    /// Nothing.
    case off

    /// What is logged of an address; nil where nothing is, as for one that can't be read where only its network may be
    /// told.
    func text(of address: String?) -> String? {
        switch self {
        case .full: address
        case .network: address.flatMap { IPAddress($0) }?.networkText
        case .off: nil
        }
    }
}

extension IPAddress {
    /// `203.0.113.0/24`, or `2001:db8:7::/48`.
    fileprivate var networkText: String? {
        guard !isVersion4 else {
            let bytes = [24, 16, 8].map { String(low >> UInt64($0) & 0xFF) }
            return "\(bytes.joined(separator: ".")).0/24"
        }
        var bytes = in6_addr()
        withUnsafeMutableBytes(of: &bytes) { bytes in
            bytes.storeBytes(of: (high & ~0xFFFF).bigEndian, as: UInt64.self)
        }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, &bytes, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) + "/48"
    }
}
