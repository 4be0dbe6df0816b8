#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A blocking HTTP client of plain sockets, deliberately without the code under test.
struct WireClient {
    struct Failure: Error {
        let code = errno
    }

    /// How a connection ended, from the client's side.
    enum Ending: Equatable {
        case end
        case reset
    }

    private static let timeoutSeconds = 20  // a test that fails should not hang

    private let descriptor: Int32

    /// - Parameter receiveBuffer: size of the system's receive buffer in bytes, where it matters.
    init(port: Int, receiveBuffer: Int32? = nil) throws {
        #if canImport(Darwin)
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var timeout = timeval()
        timeout.tv_sec = Self.timeoutSeconds
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let descriptor = self.descriptor
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw Failure() }
    }

    func send(_ text: String) {
        send(Array(text.utf8))
    }

    /// Sends all bytes, or as many as a server takes that closes meanwhile; answers how many that were.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Int {
        var sent = 0
        bytes.withUnsafeBytes { bytes in
            while sent < bytes.count {
                let count = write(descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent)
                guard count > 0 else { return }
                sent += count
            }
        }
        return sent
    }

    func finishSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Reads at least one byte; nothing at the end.
    func receiveSome(atMost limit: Int = 1 << 16) throws -> [UInt8] {
        var block = [UInt8](repeating: 0, count: limit)
        let count = block.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 else { throw Failure() }
        return Array(block[..<count])
    }

    /// Reads one answer: its head, and as much body as it names.
    func receiveResponse(isHead: Bool = false) throws -> String {
        var bytes: [UInt8] = []
        while !bytes.suffix(4).elementsEqual([13, 10, 13, 10]) {
            let byte = try receiveSome(atMost: 1)
            guard !byte.isEmpty else { return Self.normalized(bytes) }
            bytes += byte
        }
        var missing = isHead ? 0 : Self.contentLength(bytes)
        while missing > 0 {
            let more = try receiveSome(atMost: missing)
            guard !more.isEmpty else { break }
            bytes += more
            missing -= more.count
        }
        return Self.normalized(bytes)
    }

    /// Reads to the end and closes.
    func receiveAll() throws -> String {
        defer { close() }
        var all: [UInt8] = []
        while true {
            let more = try receiveSome()
            if more.isEmpty { return Self.normalized(all) }
            all += more
        }
    }

    /// Reads to the end, and answers how many bytes that were.
    func receiveCount() throws -> Int {
        var count = 0
        while true {
            let more = try receiveSome()
            if more.isEmpty { return count }
            count += more.count
        }
    }

    /// Waits for the server's end.
    func ending() throws -> Ending {
        do {
            while try !receiveSome().isEmpty {}
            return .end
        } catch let failure as Failure where failure.code == ECONNRESET {
            return .reset
        }
    }

    /// Closes with a reset (SO_LINGER of zero, socket(7)).
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        close()
    }

    func close() {
        #if canImport(Darwin)
            _ = Darwin.close(descriptor)
        #else
            _ = Glibc.close(descriptor)
        #endif
    }

    /// An answer without what differs from run to run: the time, and ids that the server made.
    private static func normalized(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self)
            .replacing(
                /Date: [A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT/,
                with: "Date: <date>"
            )
            .replacing(/X-Request-Id: [0-9a-z]{15}\r\n/, with: "X-Request-Id: <id>\r\n")
    }

    private static func contentLength(_ head: [UInt8]) -> Int {
        let text = String(decoding: head, as: UTF8.self)
        guard let match = text.firstMatch(of: /Content-Length: ([0-9]+)/) else { return 0 }
        return Int(match.1) ?? 0
    }
}
