import Foundation

/// A connection to a server on this machine, byte by byte. Its calls block, see `offPool`.
package final class WireConnection {
    package struct Refused: Error {}
    /// Neither bytes nor the connection's end, for so long that it hangs.
    package struct NoEnd: Error {}
    /// The connection's end where there should have been bytes, with those that came.
    package struct EndOfStream: Error {
        package let received: String
    }

    private let descriptor: Int32
    private var isOpen = true
    private var unread: [UInt8] = []

    /// Connects to 127.0.0.1, or to ::1.
    package init(port: Int, isIPv6: Bool = false) throws {
        let family = isIPv6 ? AF_INET6 : AF_INET
        #if canImport(Darwin)
            descriptor = socket(family, SOCK_STREAM, 0)
        #else
            descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #endif
        var one: Int32 = 1
        #if canImport(Darwin)
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &one, socklen_t(MemoryLayout<Int32>.size))
        #endif
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        // No deadline, only an end to hanging.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))

        let isConnected = isIPv6 ? Self.connectIPv6(descriptor, port) : Self.connectIPv4(descriptor, port)
        guard isConnected else { throw Refused() }
    }

    private static func connectIPv4(_ descriptor: Int32, _ port: Int) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    private static func connectIPv6(_ descriptor: Int32, _ port: Int) -> Bool {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = UInt16(port).bigEndian
        address.sin6_addr = in6addr_loopback
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size)) == 0
            }
        }
    }

    deinit { close() }

    /// Leaves, as an app does that gives up: whatever comes is refused from now on.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        #if canImport(Darwin)
            _ = Darwin.close(descriptor)
        #else
            _ = Glibc.close(descriptor)
        #endif
    }

    /// Sends bytes; a peer that has gone is no error here: what it said before is still to be read.
    package func send(_ bytes: [UInt8]) {
        #if canImport(Darwin)
            let flags: Int32 = 0
        #else
            let flags = Int32(MSG_NOSIGNAL)
        #endif
        var sent = 0
        bytes.withUnsafeBytes { buffer in
            while sent < buffer.count {
                let rest = UnsafeRawBufferPointer(rebasing: buffer[sent...])
                #if canImport(Darwin)
                    let count = Darwin.send(descriptor, rest.baseAddress, rest.count, flags)
                #else
                    let count = Glibc.send(descriptor, rest.baseAddress, rest.count, flags)
                #endif
                guard count > 0 else { return }
                sent += count
            }
        }
    }

    package func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends a `GET` request.
    package func sendGet(_ target: String) { send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n") }

    /// Tells the server that nothing more comes.
    package func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Reads one answer with a `Content-Length`, or to `HEAD` one without a body.
    package func readAnswer(isHead: Bool = false) throws -> WireAnswer {
        let headEnd = Array("\r\n\r\n".utf8)
        while true {
            if let range = unread.firstRange(of: headEnd) {
                var answer = WireAnswer(head: String(decoding: unread[..<range.lowerBound], as: UTF8.self))
                unread.removeSubrange(..<range.upperBound)
                let length = isHead ? 0 : answer.headers["content-length"].flatMap { Int($0) } ?? 0
                while unread.count < length { try receive() }
                answer.body = Data(unread[..<length])
                unread.removeSubrange(..<length)
                return answer
            }
            try receive()
        }
    }

    /// Whether the server closes the connection and sends nothing more before.
    package func isClosedByServer() -> Bool {
        do {
            try receive()
            return false
        } catch {
            return unread.isEmpty
        }
    }

    /// Reads all that comes until the server ends the connection; answers whether it tore it down.
    ///
    /// - Throws: where it doesn't end.
    package func readToEnd(into bytes: inout [UInt8]) throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16384)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 {
                bytes += buffer[..<count]
            } else if count < 0 && errno == EINTR {
                continue
            } else if count == 0 || errno == ECONNRESET {
                return count < 0
            } else {
                throw NoEnd()
            }
        }
    }

    private func receive() throws {
        var buffer = [UInt8](repeating: 0, count: 16384)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { throw EndOfStream(received: String(decoding: unread, as: UTF8.self)) }
        unread += buffer[..<count]
    }
}
