import Locking
import EventLoop
import Loopback
import Testing

@Suite("Loop as an executor", .timeLimit(.minutes(1)))
struct ExecutorTests {
    @Test("A task that prefers the loop runs on its thread")
    func taskRunsOnLoop() async throws {
        try await withLoop { loop in
            #expect(!loop.isInEventLoop)
            let isInEventLoop = try await loop.run { loop.isInEventLoop }
            #expect(isInEventLoop)
        }
    }

    @Test("Whatever a task waits for, it resumes on the loop")
    func resumesOnLoop() async throws {
        try await withLoop { loop in
            let elsewhere = try EventLoopThread.start(name: "elsewhere")
            let places = try await loop.run {
                var places: [Bool] = []
                let here = { loop.isInEventLoop }
                await withCheckedContinuation { continuation in
                    elsewhere.loop.execute { continuation.resume() }
                }
                places.append(here())
                await Task.yield()
                places.append(here())
                async let child = here()
                places.append(await child)
                await withTaskGroup(of: Bool.self) { group in
                    for _ in 0..<3 { group.addTask { loop.isInEventLoop } }
                    for await place in group { places.append(place) }
                }
                let (stream, feed) = AsyncStream.makeStream(of: Int.self)
                elsewhere.loop.execute {
                    feed.yield(1)
                    feed.finish()
                }
                for await _ in stream { places.append(here()) }
                places.append(await plainAsyncFunction(loop))
                return places
            }
            #expect(places == Array(repeating: true, count: places.count))
            #expect(places.count == 8)
            elsewhere.stopAndJoin()
        }
    }

    @Test("Nothing runs between a condition and the continuation that waits for it")
    func keepsItsTurn() async throws {
        let elsewhere = try EventLoopThread.start(name: "elsewhere")
        try await onLoop { loop in
            // Resumes the task from another thread.
            func passThrough() async {
                await withUnsafeContinuation { continuation in
                    elsewhere.loop.execute { continuation.resume() }
                }
            }
            for round in 0..<20_000 {
                let sleeper = LoopBound(Sleeper(), loop: loop)
                Task(executorPreference: loop) {
                    for _ in 0..<2 { await passThrough() }
                    await sleeper.value.sleep()
                }
                for _ in 0..<round % 7 { await passThrough() }
                sleeper.value.wake()
                var turns = 0
                while !sleeper.value.hasEnded, turns < 1000 {
                    await passThrough()
                    turns += 1
                }
                guard sleeper.value.hasEnded else {
                    sleeper.value.wake()
                    Issue.record("it fell asleep though it had been woken, in round \(round)")
                    return
                }
            }
        }
        elsewhere.stopAndJoin()
    }

    @Test("Work from many threads all runs, in order for each thread")
    func crossThreadWork() async throws {
        try await withLoop { loop in
            let seen = Lock([[Int]](repeating: [], count: 8))
            await withTaskGroup(of: Void.self) { group in
                for sender in 0..<8 {
                    group.addTask {
                        for number in 0..<1000 {
                            loop.execute { seen.withLock { $0[sender].append(number) } }
                        }
                    }
                }
            }
            try await loop.submit {}
            #expect(seen.withLock { $0 } == Array(repeating: Array(0..<1000), count: 8))
        }
    }

    @Test("submit returns the result of its work, or throws its error")
    func submitReturns() async throws {
        struct Failure: Error {}
        try await withLoop { loop in
            let result = try await loop.submit { 42 }
            #expect(result == 42)
            await #expect(throws: Failure.self) { try await loop.submit { throw Failure() } }
        }
    }

    @Test("Work for the end of a turn runs after the jobs of the turn")
    func endOfTurn() async throws {
        try await withLoop { loop in
            let order = Lock<[String]>([])
            try await loop.run {
                loop.atEndOfTurn { order.withLock { $0.append("end of turn") } }
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<3 { group.addTask { order.withLock { $0.append("job") } } }
                }
            }
            try await loop.submit {}
            #expect(order.withLock { $0 } == ["job", "job", "job", "end of turn"])
        }
    }

    @Test("Tasks that never stop yielding don't keep the loop from its timers")
    func jobsDontStarveEvents() async throws {
        try await withLoop { loop in
            let busy = Task(executorPreference: loop) {
                while !Task.isCancelled { await Task.yield() }
            }
            try await loop.run {
                await withCheckedContinuation { continuation in
                    var timer: LoopTimer?
                    timer = LoopTimer(loop: loop) {
                        timer?.close()
                        timer = nil
                        continuation.resume()
                    }
                    timer?.start(after: .milliseconds(1))
                }
            }
            busy.cancel()
            await busy.value
        }
    }

    @Test("A value that belongs to a loop traps when another thread touches it")
    func loopBoundTraps() async throws {
        try await withLoop { loop in
            let bound = try await loop.submit { LoopBound([1, 2, 3], loop: loop) }
            let value = try await loop.submit { bound.value }
            #expect(value == [1, 2, 3])
        }
        await #expect(processExitsWith: .failure) {
            let thread = try EventLoopThread.start(name: "test-loop")
            let bound = try await thread.loop.submit { LoopBound(1, loop: thread.loop) }
            _ = bound.value
        }
    }

    /// Sleeps until it is woken, unless it was woken before.
    private final class Sleeper {
        private var continuation: UnsafeContinuation<Void, Never>?
        private var isAwake = false
        private(set) var hasEnded = false

        func sleep() async {
            if !isAwake { await fallAsleep() }
            hasEnded = true
        }

        private func fallAsleep() async {
            await withUnsafeContinuation { continuation = $0 }
        }

        func wake() {
            isAwake = true
            let woken = continuation
            continuation = nil
            woken?.resume()
        }
    }
}

private func plainAsyncFunction(_ loop: EventLoop) async -> Bool {
    await Task.yield()
    return loop.isInEventLoop
}
