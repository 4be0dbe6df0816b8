import Foundation

/// A service manager's end of the notification socket, as systemd's (sd_notify(3)). Its reading blocks.
package final class NotifySocket: Sendable {
    /// Neither a message nor, for so long that it hangs, anything else.
    package struct NoMessage: Error {}

    /// The socket's name as `NOTIFY_SOCKET` has it.
    package let name: String
    private let descriptor: Int32

    /// Binds it to a path, or with `@` to an abstract name.
    package init(name: String) throws {
        self.name = name
        #if canImport(Darwin)
            descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #else
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #endif
        // No deadline, only an end to hanging.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        if name.hasPrefix("@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length =
            MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path) + bytes.count
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(length))
            }
        }
        guard status == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    deinit { close(descriptor) }

    /// The next datagram.
    package func next() throws -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { throw NoMessage() }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// Reads up to the datagram that has this line; answers all of them.
    package func read(upTo line: String) throws -> [String] {
        var messages: [String] = []
        repeat {
            messages.append(try next())
        } while !(messages.last ?? "").split(separator: "\n").contains { $0 == line }
        return messages
    }
}
