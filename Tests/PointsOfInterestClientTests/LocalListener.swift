import Foundation
import Locking

/// A listener on a port of 127.0.0.1 whose connections are accepted (listen(2)) and get no response, unless
/// `respond(_:)` says so. Nothing listens any more when it is released.
final class LocalListener: Sendable {
    let baseURL: URL
    private let descriptor: Int32
    private let received = Lock<[String]>([])

    init() throws {
        #if canImport(Darwin)
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        self.descriptor = descriptor
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard status, let url = URL(string: "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))") else {
            throw POSIXError(.init(rawValue: errno) ?? .EIO)
        }
        baseURL = url
    }

    deinit { close(descriptor) }

    /// The requests that came, as they were sent.
    var requests: [String] { received.withLock { $0 } }

    /// Responds to the next requests, each on a connection of its own, on a thread of its own.
    func respond(_ responses: String...) {
        Thread.detachNewThread { [self] in
            for response in responses {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                defer { close(connection) }
                guard let request = Self.request(on: connection) else { continue }
                received.withLock { $0.append(request) }
                _ = Array(response.utf8).withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
            }
        }
    }

    /// Ends the wait for requests that don't come.
    func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Reads a request with its body; nil where the client has closed the connection before its end.
    private static func request(on connection: Int32) -> String? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = read(connection, &buffer, buffer.count), count > 0 {
            bytes += buffer.prefix(count)
            let request = String(decoding: bytes, as: UTF8.self)
            guard let head = request.range(of: "\r\n\r\n") else { continue }
            let length = request[..<head.lowerBound].lowercased().components(separatedBy: "content-length: ")
                .dropFirst().first.flatMap { Int($0.prefix(while: \.isNumber)) }
            if request[head.upperBound...].utf8.count >= length ?? 0 { return request }
        }
        return nil
    }
}
