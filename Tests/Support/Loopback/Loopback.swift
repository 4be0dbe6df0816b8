import EventLoop
import Foundation

/// Handles of a loop that a test left open.
package struct OpenHandles: Error {
    package let count: Int
}

/// Runs `body` beside a loop, which has a thread of its own.
///
/// - Throws: ``OpenHandles`` unless every handle of the loop is closed in the end.
@discardableResult
package func withLoop<Value>(_ body: (EventLoop) async throws -> Value) async throws -> Value {
    let thread = try EventLoopThread.start(name: "test-loop")
    let value: Value
    do {
        value = try await body(thread.loop)
    } catch {
        thread.stopAndJoin()
        throw error
    }
    let count = thread.stopAndJoin()
    guard count == 0 else { throw OpenHandles(count: count) }
    return value
}

/// Runs `body` as a task on a new loop.
///
/// - Throws: ``OpenHandles`` unless every handle of the loop is closed in the end.
package func onLoop<Value: Sendable>(
    _ body: @escaping @Sendable (EventLoop) async throws -> Value
) async throws -> Value {
    try await withLoop { loop in try await loop.run { try await body(loop) } }
}

extension EventLoop {
    /// Runs `body` as a task on the loop and returns its result.
    package func run<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let task = Task(executorPreference: self) { try await body() }
        // A test's time limit cancels the test, and so this.
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

/// Runs what blocks on a thread of its own: Swift's pool has a thread a core, for all tests together.
package func offPool<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread { continuation.resume(with: Result { try body() }) }.start()
    }
}

/// A socket on 127.0.0.1 that the system takes connections for, and from which nothing ever comes.
package final class SilentListener: Sendable {
    package let port: Int
    private let descriptor: Int32

    package init() throws {
        (descriptor, port) = try bindLoopback()
        listen(descriptor, 64)
    }

    deinit { close(descriptor) }

    /// Blocks until somebody is connected; the caller closes the socket.
    package func accept() -> Int32 { Foundation.accept(descriptor, nil, nil) }

    /// Resets the connections, and takes no further ones.
    package func resetConnections() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Blocks until somebody is connected.
    package func waitForConnection() {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while Foundation.poll(&poll, 1, -1) <= 0 {}
    }
}

/// Ports that nobody has taken, for programs that can't be told to choose one.
package enum FreePort {
    /// There was no free port.
    package struct None: Error {}

    /// A port of 127.0.0.1 that was free a moment ago, for TCP and for UDP. It is none of those that systems give to connections, one
    /// of which could have it a moment later.
    package static func choose() throws -> Int {
        for _ in 0..<100 {
            guard let (stream, port) = try? bindLoopback(port: .random(in: 20_000..<32_000)) else { continue }
            defer { close(stream) }
            guard let (datagram, _) = try? bindLoopback(port: port, isDatagram: true) else { continue }
            close(datagram)
            return port
        }
        throw None()
    }
}

/// Binds a new socket to a port of 127.0.0.1; 0 lets the system choose one.
private func bindLoopback(port: Int = 0, isDatagram: Bool = false) throws -> (descriptor: Int32, port: Int) {
    let descriptor = makeSocket(AF_INET, isDatagram: isDatagram)
    let status = withLoopback(port) { address, length in bind(descriptor, address, length) }
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let named = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    guard status == 0, named == 0 else {
        close(descriptor)
        throw WireClient.Failure()
    }
    return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
}

// MARK: - Sockets and addresses

/// A new socket that no child process inherits; negative where there is none.
func makeSocket(_ family: Int32, isDatagram: Bool = false) -> Int32 {
    #if canImport(Darwin)
        socket(family, isDatagram ? SOCK_DGRAM : SOCK_STREAM, 0)
    #else
        socket(
            family,
            Int32((isDatagram ? SOCK_DGRAM : SOCK_STREAM).rawValue | SOCK_CLOEXEC.rawValue), 0)
    #endif
}

/// Calls `body` with the address of a port of 127.0.0.1.
func withLoopback<Value>(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}

/// Calls `body` with the address of a port of ::1.
func withLoopbackIPv6<Value>(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = in_port_t(port).bigEndian
    address.sin6_addr = in6addr_loopback
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
        }
    }
}

/// Two connected sockets of this process: ours goes to what is tested, which closes it, and the test has the other.
package struct SocketPair: Sendable {
    package let ours: Int32
    private let theirs: Int32

    package init() throws {
        var pair: [Int32] = [-1, -1]
        #if canImport(Darwin)
            let status = socketpair(AF_UNIX, SOCK_STREAM, 0, &pair)
        #else
            let status = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair)
        #endif
        guard status == 0 else { throw WireClient.Failure() }
        (ours, theirs) = (pair[0], pair[1])
    }

    /// Writes at the test's end.
    package func write(_ text: String) {
        _ = text.withCString { send(theirs, $0, strlen($0), 0) }
    }

    /// All that has arrived at the test's end, without waiting.
    package func received() -> [UInt8] {
        var all: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 14)
        while true {
            let count = recv(theirs, &block, block.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { return all }
            all += block[..<count]
        }
    }

    /// Closes the test's end.
    package func close() { _ = Foundation.close(theirs) }
}
