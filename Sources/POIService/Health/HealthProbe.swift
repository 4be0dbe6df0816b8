import EventLoop

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Requests a server's health over a plain socket, for `poi healthcheck`.
public struct HealthProbe: Sendable {
    /// Why the server isn't healthy, in one line.
    public struct Failure: Error, CustomStringConvertible {
        /// The URL and the reason.
        public let description: String
    }

    private let host: String
    private let port: Int
    private let path: String

    /// - Parameters:
    ///   - host: an address or a name, or `unix:` and the path of a socket. `0.0.0.0` and `::`, which stand for all
    ///     addresses of a machine, become the loopback address.
    ///   - path: `/livez` or `/readyz`, percent-encoded where necessary.
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

    /// The URL that is requested, for people.
    public var url: String { Service.url(host: host, port: port) + path }

    /// Sends the request, and returns if the status is 200. Blocks, without a time limit.
    ///
    /// - Throws: `Failure` if the server can't be reached, or if the response isn't 200.
    public func run() throws(Failure) {
        let descriptor = try connected()
        defer { close(descriptor) }
        let request = "GET \(path) HTTP/1.1\r\nHost: \(hostField)\r\nConnection: close\r\n\r\n"
        let sent = Array(request.utf8).withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, 0) }
        guard sent == request.utf8.count else { throw failure("it doesn't accept a request") }
        let response = response(from: descriptor)
        guard let line = response.split(separator: "\r\n").first, line.hasPrefix("HTTP/1."),
            let status = line.split(separator: " ").dropFirst().first
        else { throw failure("it doesn't respond with HTTP") }
        guard status == "200" else { throw failure("its response is \(status)\(Self.detail(of: response))") }
    }

    private var hostField: String {
        host.hasPrefix("unix:") ? "localhost" : Service.authority(host: host, port: port)
    }

    private func failure(_ reason: String) -> Failure { Failure(description: "\(url): \(reason)") }

    /// Connects to a Unix domain socket.
    private func connected(to address: UnixSocketAddress) throws(Failure) -> Int32 {
        do throws(EventLoopError) {
            return try address.connect()
        } catch {
            throw failure(String(cString: strerror(-error.code)))
        }
    }

    /// Connects to the first address of the host that accepts a connection.
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

    /// The response to its end, or its first 64 KiB.
    private func response(from descriptor: Int32) -> String {
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

    /// The detail of a problem, if it has printable ASCII characters only.
    private static func detail(of response: String) -> String {
        guard let match = response.firstMatch(of: /"detail":"([ !#-\[\]-~]*)"/) else { return "" }
        return ": \(match.1)"
    }
}
