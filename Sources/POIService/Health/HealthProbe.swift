import EventLoop

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Asks a server on this machine or elsewhere how it is, by plain sockets: for `poi healthcheck`.
public struct HealthProbe: Sendable {
    /// Why the server isn't as it should be, in one line.
    public struct Failure: Error, CustomStringConvertible {
        /// The line.
        public let description: String
    }

    private let host: String
    private let port: Int
    private let path: String

    /// - Parameters:
    ///   - host: an address or a name, or `unix:` and the path of a socket; an address that stands for all of a machine's is taken as its loopback.
    ///   - path: `/livez` or `/readyz`, percent-encoded where it has to be.
    public init(host: String, port: Int, path: String) {
        self.host =
            switch host {
            case "0.0.0.0": "127.0.0.1"
            case "::": "::1"
            default: host
            }
        self.port = port
        self.path = path
    }

    /// What is asked, for people.
    public var url: String { host.hasPrefix("unix:") ? host + path : "http://\(hostField)\(path)" }

    /// Asks, and returns where the answer is 200. Blocks, for as long as the server lets it.
    public func run() throws(Failure) {
        let descriptor = try connected()
        defer { close(descriptor) }
        let request = "GET \(path) HTTP/1.1\r\nHost: \(hostField)\r\nConnection: close\r\n\r\n"
        let sent = Array(request.utf8).withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, 0) }
        guard sent == request.utf8.count else { throw failure("it takes no request") }
        let answer = answer(from: descriptor)
        guard let line = answer.split(separator: "\r\n").first, line.hasPrefix("HTTP/1."),
            let status = line.split(separator: " ").dropFirst().first
        else { throw failure("it doesn't answer by HTTP") }
        guard status == "200" else { throw failure("it answers \(status)\(Self.detail(of: answer))") }
    }

    private var hostField: String {
        if host.hasPrefix("unix:") { return "localhost" }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    private func failure(_ reason: String) -> Failure { Failure(description: "\(url): \(reason)") }

    /// Connects to a Unix socket.
    private func connected(to address: UnixSocketAddress) throws(Failure) -> Int32 {
        do throws(EventLoopError) {
            return try address.connect()
        } catch {
            throw failure(String(cString: strerror(-error.code)))
        }
    }

    /// Connects to the first address of the host that takes connections.
    private func connected() throws(Failure) -> Int32 {
        if let address = UnixSocketAddress(host: host) { return try connected(to: address) }
        var hints = addrinfo()
        #if canImport(Darwin)
            hints.ai_socktype = SOCK_STREAM
        #else
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0 else {
            throw failure("there is no such host")
        }
        defer { freeaddrinfo(list) }
        var reason = "it can't be reached"
        var next = list
        while let address = next {
            let descriptor = socket(address.pointee.ai_family, address.pointee.ai_socktype, 0)
            if connect(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 {
                return descriptor
            }
            reason = String(cString: strerror(errno))
            if descriptor >= 0 { close(descriptor) }
            next = address.pointee.ai_next
        }
        throw failure(reason)
    }

    /// The answer to its end, or as much as anybody needs.
    private func answer(from descriptor: Int32) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while bytes.count < 64 * 1024 {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// What a problem document says, in printable letters only.
    private static func detail(of answer: String) -> String {
        guard let match = answer.firstMatch(of: /"detail":"([ !#-\[\]-~]*)"/) else { return "" }
        return ": \(match.1)"
    }
}
