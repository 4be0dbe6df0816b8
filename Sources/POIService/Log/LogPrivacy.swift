import EventLoop
import HTTPServer
import PointsOfInterestAPI

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension RequestObservation {
    /// The path for the log. It is logged whole if it is its route's template, or has only plain words and whole
    /// numbers. Otherwise `…` replaces everything from the first other segment on.
    ///
    /// A client that encodes the `?` of `/locations?lat=…` puts somebody's coordinates into the path, and so does one
    /// that uses them as an id.
    var loggedPath: String? {
        guard let path, path != routeTemplate else { return path }
        guard let odd = path.utf8.firstIndex(where: { !Self.isPlain($0) }) else { return path }
        let kept = path.utf8[..<odd].lastIndex(of: UInt8(ascii: "/")).map { path[...$0] } ?? ""
        return "\(kept)…"
    }

    /// Whether a path has plain words and whole numbers only, so that it is logged as it is.
    static func isPlain(_ path: UnsafeRawBufferPointer) -> Bool {
        for byte in path where !isPlain(byte) { return false }
        return true
    }

    /// Letters, digits and `/-_*~`.
    @inline(__always)
    private static func isPlain(_ byte: UInt8) -> Bool {
        if (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10 { return true }
        return byte == UInt8(ascii: "/") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "*") || byte == UInt8(ascii: "~")
    }
}

/// How precisely a request's coordinates are logged.
public enum LoggedCoordinates: String, CaseIterable, Sendable {
    /// Not at all.
    case off
    /// Degrees with one decimal: an area of at most 11 km by 11 km.
    case coarse
    /// The degrees as in the request.
    case full

    /// Adds a request's coordinates to its line. Call it once a request.
    func note(_ center: Coordinate?, _ box: BoundingBox? = nil, in context: RequestContext) {
        guard self != .off else { return }
        if let center {
            context.logNotes.append(("center", text([center.latitude, center.longitude])))
        }
        if let box {
            context.logNotes.append(("bbox", text([box.west, box.south, box.east, box.north])))
        }
    }

    private func text(_ degrees: [Double]) -> String {
        degrees.map { self == .coarse ? ($0 * 10).rounded() / 10 + 0 : $0 }.map(\.description)
            .joined(separator: ",")
    }
}

/// How much of a client's address is logged.
public enum LoggedClient: String, CaseIterable, Sendable {
    /// The whole address.
    case full
    /// Its network: the first 24 bits of an IPv4 address, or the first 48 of an IPv6 address, which is what a provider
    /// assigns to one site (RFC 6177).
    case network
    /// Nothing.
    case off

    /// The part of an address that is logged. Nil if nothing is logged, also if only the network may be logged and the
    /// address can't be parsed.
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
