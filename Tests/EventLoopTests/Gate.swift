#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Holds a thread until it is opened, by a pipe, and tells a task that somebody waits.
final class Gate: Sendable {
    private let arrivals = AsyncStream.makeStream(of: Void.self)
    private let release = Pipe()

    /// Blocks until `open()`.
    func wait() {
        arrivals.continuation.yield()
        release.read()
    }

    /// Returns once somebody waits.
    func somebodyWaits() async {
        for await _ in arrivals.stream { return }
    }

    func open() {
        release.write()
    }

    private final class Pipe: Sendable {
        private let ends: (read: Int32, write: Int32)

        init() {
            var descriptors: [Int32] = [-1, -1]
            pipe(&descriptors)
            ends = (descriptors[0], descriptors[1])
        }

        deinit {
            close(ends.read)
            close(ends.write)
        }

        func write() {
            var byte: UInt8 = 1
            #if canImport(Darwin)
                _ = Darwin.write(ends.write, &byte, 1)
            #else
                _ = Glibc.write(ends.write, &byte, 1)
            #endif
        }

        func read() {
            var byte: UInt8 = 0
            #if canImport(Darwin)
                _ = Darwin.read(ends.read, &byte, 1)
            #else
                _ = Glibc.read(ends.read, &byte, 1)
            #endif
        }
    }
}
