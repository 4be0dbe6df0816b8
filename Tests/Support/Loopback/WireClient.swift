import Foundation

/// A blocking client of plain TCP sockets on this machine. It shares no code with what is tested.
///
/// It blocks: see `offPool`. Unchecked, since only one thread at a time may read from it or close it; sending uses the
/// descriptor alone, so that another thread may send meanwhile.
package final class WireClient: @unchecked Sendable {
    /// A system call that failed.
    package struct Failure: Error {
        package let code = errno
    }
    /// The connection ended where there should have been bytes.
    package struct EndOfStream: Error {
        /// The bytes of the unfinished message.
        package let received: [UInt8]
    }
    /// How the server ended the connection.
    package enum Ending {
        case end
        case reset
    }

    private let descriptor: Int32
    private var isOpen = true
    private var unread: [UInt8] = []
    /// Parsed once: an expression is parsed wherever it is evaluated.
    private let contentLength = /(?i)\r\nContent-Length: *([0-9]+)/

    /// Connects to 127.0.0.1, or to ::1.
    ///
    /// - Parameters:
    ///   - source: the last number of the address in 127.0.0.0/24 that it connects from; not with IPv6.
    ///   - receiveBuffer: the size of the system's receive buffer in bytes.
    /// - Throws: ``Failure`` if nobody listens there.
    package init(
        port: Int, isIPv6: Bool = false, source: UInt8? = nil, receiveBuffer: Int32? = nil
    ) throws {
        descriptor = makeSocket(isIPv6 ? AF_INET6 : AF_INET)
        setOption(IPPROTO_TCP, TCP_NODELAY, Int32(1))
        // Only so that a test that fails doesn't hang.
        let limit = timeval(tv_sec: 60, tv_usec: 0)
        setOption(SOL_SOCKET, SO_RCVTIMEO, limit)
        setOption(SOL_SOCKET, SO_SNDTIMEO, limit)
        #if canImport(Darwin)
            setOption(SOL_SOCKET, SO_NOSIGPIPE, Int32(1))
        #endif
        if let receiveBuffer { setOption(SOL_SOCKET, SO_RCVBUF, receiveBuffer) }
        if let source {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = (0x7F00_0000 | UInt32(source)).bigEndian
            let status = withUnsafePointer(to: address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard status == 0 else { throw Failure() }
        }
        let status =
            isIPv6
            ? withLoopbackIPv6(port) { connect(descriptor, $0, $1) }
            : withLoopback(port) { connect(descriptor, $0, $1) }
        guard status == 0 else { throw Failure() }
    }

    deinit { close() }

    /// Closes the connection; the system resets it if the server sends more.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        _ = Foundation.close(descriptor)
    }

    /// Closes with a reset (SO_LINGER of zero, socket(7)).
    package func reset() {
        setOption(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
        close()
    }

    private func setOption<Value: BitwiseCopyable>(_ level: some BinaryInteger, _ name: Int32, _ value: Value)
    {
        var value = value
        setsockopt(descriptor, Int32(level), name, &value, socklen_t(MemoryLayout<Value>.size))
    }
}

// MARK: - Sending

extension WireClient {
    /// Sends all bytes, or as many as the server takes before it closes; returns how many.
    ///
    /// A server that has gone is no error here: what it sent before can still be read.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Int {
        var sent = 0
        while sent < bytes.count {
            let count = send(bytes[sent...], flags: 0)
            guard count > 0 else { break }
            sent += count
        }
        return sent
    }

    package func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends a `GET` request.
    package func sendGet(_ target: String) { send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n") }

    /// Sends until the system takes no more, without waiting; returns how many bytes it took.
    package func sendUntilFull() -> Int {
        let block = [UInt8](repeating: 1, count: 1 << 16)
        var sent = 0
        while true {
            let count = send(block[...], flags: Int32(MSG_DONTWAIT))
            guard count > 0 else { return sent }
            sent += count
        }
    }

    /// Tells the server that nothing more comes.
    package func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    private func send(_ bytes: ArraySlice<UInt8>, flags: Int32) -> Int {
        #if canImport(Darwin)
            bytes.withUnsafeBytes { Darwin.send(descriptor, $0.baseAddress, $0.count, flags) }
        #else
            bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, flags | Int32(MSG_NOSIGNAL))
            }
        #endif
    }
}

// MARK: - Receiving

extension WireClient {
    /// Receives at least one byte; none at the end.
    package func receiveSome(atMost limit: Int = 1 << 16) throws -> [UInt8] {
        if unread.isEmpty { unread = try receiveBlock() }
        let some = Array(unread.prefix(limit))
        unread.removeFirst(some.count)
        return some
    }

    /// Receives so many bytes, or fewer at the end.
    package func receive(count: Int) throws -> [UInt8] {
        var all: [UInt8] = []
        while all.count < count {
            let some = try receiveSome(atMost: count - all.count)
            if some.isEmpty { break }
            all += some
        }
        return all
    }

    /// Receives everything up to the end, and closes.
    ///
    /// - Throws: ``Failure`` if the server resets the connection.
    package func receiveBytes() throws -> [UInt8] {
        defer { close() }
        var all: [UInt8] = []
        while true {
            let some = try receiveSome()
            if some.isEmpty { return all }
            all += some
        }
    }

    /// Appends everything that comes until the server ends the connection.
    ///
    /// - Throws: ``Failure`` if it doesn't end.
    package func receive(toEndInto bytes: inout [UInt8]) throws -> Ending {
        do {
            while true {
                let some = try receiveSome()
                if some.isEmpty { return .end }
                bytes += some
            }
        } catch let failure as Failure where failure.code == ECONNRESET {
            return .reset
        }
    }

    /// Waits until the server ends the connection, and drops what comes before.
    package func ending() throws -> Ending {
        do {
            while try !receiveSome().isEmpty {}
            return .end
        } catch let failure as Failure where failure.code == ECONNRESET {
            return .reset
        }
    }

    /// Whether the server closes the connection before it sends anything more.
    package func isClosedByServer() -> Bool { (try? receiveSome(atMost: 1))?.isEmpty ?? true }

    /// Receives a head up to its empty line, and as many bytes of a body as its `Content-Length` says.
    ///
    /// - Parameter isHead: whether the request was a `HEAD`, so that no body comes.
    /// - Throws: ``EndOfStream`` if the connection ends before.
    package func receiveMessage(isHead: Bool = false) throws -> (head: String, body: [UInt8]) {
        let emptyLine = Array("\r\n\r\n".utf8)
        while true {
            guard let end = unread.firstRange(of: emptyLine)?.upperBound else {
                try receiveMore()
                continue
            }
            let head = String(decoding: unread[..<end], as: UTF8.self)
            let match = head.firstMatch(of: contentLength)
            let length = isHead ? 0 : match.flatMap { Int($0.1) } ?? 0
            while unread.count < end + length { try receiveMore() }
            let body = Array(unread[end..<end + length])
            unread.removeFirst(end + length)
            return (head, body)
        }
    }

    private func receiveMore() throws {
        guard let block = try? receiveBlock(), !block.isEmpty else { throw EndOfStream(received: unread) }
        unread += block
    }

    /// The bytes of one system call; none at the end.
    private func receiveBlock() throws -> [UInt8] {
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(descriptor, &block, block.count, 0)
            if count >= 0 { return Array(block[..<count]) }
            guard errno == EINTR else { throw Failure() }
        }
    }
}
