import Foundation

/// A listener on a port of 127.0.0.1 whose connections are accepted (listen(2)) and get no response, unless
/// `respond(_:)` says so. Nothing listens any more when it is released.
final class LocalListener: Sendable {
    let baseURL: URL
    private let descriptor: Int32

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

    /// Responds to the next request, on a thread of its own.
    func respond(_ response: String) {
        Thread.detachNewThread { [self] in
            let connection = accept(descriptor, nil, nil)
            defer { close(connection) }
            var request: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while case let count = read(connection, &buffer, buffer.count), count > 0 {
                request += buffer.prefix(count)
                guard request.suffix(4).elementsEqual("\r\n\r\n".utf8) else { continue }
                _ = Array(response.utf8).withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
                return
            }
        }
    }
}
