import Foundation

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
