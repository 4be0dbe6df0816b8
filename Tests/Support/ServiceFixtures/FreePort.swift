import Foundation

/// Ports that nobody has taken, for programs that can't be told to choose one.
package enum FreePort {
    /// No port could be had.
    package struct None: Error {}

    /// A port of 127.0.0.1 that was free a moment ago, for TCP and for UDP.
    package static func choose() throws -> Int {
        for _ in 0..<100 {
            let port = try bind(to: 0, type: SOCK_STREAM)
            if (try? bind(to: port, type: SOCK_DGRAM)) != nil { return port }
        }
        throw None()
    }

    #if canImport(Darwin)
        private typealias SocketType = Int32
    #else
        private typealias SocketType = __socket_type
    #endif

    /// Takes a port, 0 for any, and lets it go; answers which it was.
    private static func bind(to port: Int, type: SocketType) throws -> Int {
        #if canImport(Darwin)
            let descriptor = socket(AF_INET, type, 0)
        #else
            let descriptor = socket(AF_INET, Int32(type.rawValue), 0)
        #endif
        guard descriptor >= 0 else { throw None() }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                #if canImport(Darwin)
                    let bound = Darwin.bind(descriptor, pointer, length)
                #else
                    let bound = Glibc.bind(descriptor, pointer, length)
                #endif
                return bound == 0 ? getsockname(descriptor, pointer, &length) : bound
            }
        }
        guard status == 0 else { throw None() }
        return Int(in_port_t(bigEndian: address.sin_port))
    }
}
