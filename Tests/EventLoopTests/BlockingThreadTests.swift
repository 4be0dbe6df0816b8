import Locking
import EventLoop
import Loopback
import Testing

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
