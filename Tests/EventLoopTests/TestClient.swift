#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A blocking TCP client, deliberately without the code under test.
struct TestClient {
    enum Outcome: Equatable {
        case bytes([UInt8])
        case reset
    }

    struct Failure: Error {
        let code = errno
    }

    private let descriptor: Int32

    init(port: Int) throws {
        #if canImport(Darwin)
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
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

    func send(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }

    /// Sends until the system takes no more, without waiting; answers how much it took.
    func sendUntilFull() -> Int {
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
        defer { _ = fcntl(descriptor, F_SETFL, flags) }
        let block = [UInt8](repeating: 1, count: 1 << 16)
        var sent = 0
        while true {
            let count = block.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return sent }
            sent += count
        }
    }

    func finishSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Reads to the end and closes.
    func receiveAll() -> Outcome {
        defer { close() }
        var all: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = block.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return .bytes(all) }
            if count < 0 { return .reset }
            all += block[..<count]
        }
    }

    /// Reads so many bytes, or to the end.
    func receive(count: Int) -> [UInt8] {
        var all: [UInt8] = []
        var block = [UInt8](repeating: 0, count: count)
        while all.count < count {
            let length = block.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, count - all.count) }
            guard length > 0 else { break }
            all += block[..<length]
        }
        return all
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
}
