import EventLoop
import Foundation
import Locking
import Loopback
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite("Thread for blocking calls", .timeLimit(.minutes(1)))
struct BlockingThreadTests {
    @Test("A blocking call runs off the loop, and its task resumes on the loop")
    func runsElsewhere() async throws {
        try await withLoop { loop in
            let blocking = BlockingThread(name: "blocking", capacity: 4)
            let (there, here) = try await loop.run {
                let there = try await blocking.run { loop.isInEventLoop }
                return (there, loop.isInEventLoop)
            }
            #expect(!there)
            #expect(here)
        }
    }

    #if os(Linux)
        @Test("A thread that yields is nicer than the others", arguments: [false, true])
        func niceness(yields: Bool) async throws {
            let expected = try Self.niceness() + (yields ? 5 : 0)
            let blocking = BlockingThread(name: "blocking", capacity: 1, yields: yields)
            #expect(try await blocking.run { try Self.niceness() } == expected)
            let thread = try EventLoopThread.start(name: "loop", yields: yields)
            #expect(try await thread.loop.run { try Self.niceness() } == expected)
            thread.stopAndJoin()
        }

        /// The nice value of the calling thread (proc(5)).
        private static func niceness() throws -> Int {
            let stat = try String(contentsOfFile: "/proc/thread-self/stat", encoding: .utf8)
            let fields = try #require(stat.split(separator: ")").last).split(separator: " ")
            return try #require(Int(fields[16]))
        }
    #endif

    @Test("An error of a blocking call reaches its caller")
    func throwsThrough() async {
        struct Failure: Error {}
        let blocking = BlockingThread(name: "blocking", capacity: 4)
        await #expect(throws: Failure.self) { try await blocking.run { throw Failure() } }
    }

    @Test("A blocking call that doesn't fit into the queue is refused at once; the others run in order")
    func boundedLine() async throws {
        let blocking = BlockingThread(name: "blocking", capacity: 2)
        let gate = Gate()
        async let first = blocking.run {
            gate.wait()
            return 1
        }
        await gate.somebodyWaits()
        // The thread is held at the gate: two fit into the line, and of three one doesn't.
        let results = await withTaskGroup(of: Int?.self) { group in
            for number in 2...4 {
                group.addTask { try? await blocking.run { number } }
            }
            let refused = await group.next()
            gate.open()
            var results = [refused]
            for await result in group { results.append(result) }
            return results
        }
        #expect(results[0] == .some(nil))
        #expect(results.dropFirst().allSatisfy { $0 != .some(nil) })
        #expect(try await first == 1)
    }

    @Test("After its shutdown, a blocking thread refuses calls")
    func refusesAfterShutdown() async throws {
        let blocking = BlockingThread(name: "blocking", capacity: 2)
        #expect(try await blocking.run { 1 } == 1)
        blocking.shutdown()
        await #expect(throws: BlockingThread.Refusal.shutDown) { try await blocking.run { 2 } }
    }

    @Test("A lock lets one thread in at a time")
    func lockExcludes() async {
        let count = Lock(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<10_000 { count.withLock { $0 += 1 } } }
            }
        }
        #expect(count.withLock { $0 } == 40_000)
    }
}

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
