import Locking
@testable import EventLoop
import Loopback
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite("libuv handles", .timeLimit(.minutes(1)))
struct HandleTests {
    @Test("A repeating timer fires until it is stopped, and can be started again")
    func repeatingTimer() async throws {
        try await withLoop { loop in
            let count = try await loop.run {
                await withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
                    var fired = 0
                    var timer: LoopTimer?
                    timer = LoopTimer(loop: loop) {
                        fired += 1
                        switch fired {
                        case 3:
                            timer?.stop()
                            timer?.start(after: .zero)
                        case 4:
                            timer?.close()
                            timer?.close()
                            timer?.start(after: .zero)
                            timer = nil
                            continuation.resume(returning: fired)
                        default: break
                        }
                    }
                    timer?.start(after: .zero, repeating: .milliseconds(1))
                }
            }
            #expect(count == 4)
        }
    }

    @Test("A timer doesn't fire before its time")
    func timerIsNotEarly() async throws {
        try await withLoop { loop in
            let (start, end) = try await loop.run {
                await withCheckedContinuation {
                    (continuation: CheckedContinuation<(Duration, Duration), Never>) in
                    let start = loop.now
                    var timer: LoopTimer?
                    timer = LoopTimer(loop: loop) {
                        timer?.close()
                        timer = nil
                        continuation.resume(returning: (start, loop.now))
                    }
                    timer?.start(after: .microseconds(2500))
                }
            }
            #expect(end - start >= .milliseconds(3))
        }
    }

    @Test("The loop returns how many handles were forgotten, and closes them itself")
    func forgottenHandles() async throws {
        let thread = try EventLoopThread.start(name: "test-loop")
        let loop = thread.loop
        try await loop.submit {
            _ = LoopTimer(loop: loop) {}
            _ = LoopTimer(loop: loop) {}
            LoopTimer(loop: loop) {}.close()
        }
        #expect(thread.stopAndJoin() == 2)
    }

    @Test("Each close callback runs exactly once, after close() has returned")
    func closeCallbacks() async throws {
        try await withLoop { loop in
            let order = Lock<[String]>([])
            try await loop.run {
                let pair = try SocketPair()
                let poll = try FileDescriptorPoll(loop: loop, descriptor: pair.ours) { _ in }
                await withCheckedContinuation { continuation in
                    poll.close {
                        order.withLock { $0.append("closed") }
                        continuation.resume()
                    }
                    poll.close { order.withLock { $0.append("closed again") } }
                    order.withLock { $0.append("close returned") }
                }
                _ = close(pair.ours)
                pair.close()
            }
            #expect(order.withLock { $0 } == ["close returned", "closed"])
        }
    }

    @Test("A polled descriptor is reported when it can be read")
    func pollDescriptor() async throws {
        try await withLoop { loop in
            let seen = try await loop.run {
                let pair = try SocketPair()
                let (events, feed) = AsyncStream.makeStream(of: FileDescriptorPoll.Events.self)
                let poll = try FileDescriptorPoll(loop: loop, descriptor: pair.ours) { result in
                    if case .success(let events) = result { feed.yield(events) }
                }
                var iterator = events.makeAsyncIterator()
                try poll.start([.writable])
                let first = await iterator.next()
                try poll.start([.readable])
                pair.write("x")
                var second = await iterator.next()
                while second == first { second = await iterator.next() }
                poll.close()
                _ = close(pair.ours)
                pair.close()
                return [first, second]
            }
            #expect(seen == [.writable, .readable])
        }
    }

    @Test(
        "A descriptor may be closed by its owner while it is polled: libpq does that when a connection is lost"
    )
    func descriptorClosedByOwner() async {
        await #expect(processExitsWith: .success) {
            try await withLoop { loop in
                try await loop.run {
                    let pair = try SocketPair()
                    let (events, feed) = AsyncStream.makeStream(of: FileDescriptorPoll.Events.self)
                    let poll = try FileDescriptorPoll(loop: loop, descriptor: pair.ours) { result in
                        if case .success(let events) = result { feed.yield(events) }
                    }
                    try poll.start(.readable)
                    _ = close(pair.ours)
                    try poll.start([.readable, .writable])
                    for await event in events where event.contains(.writable) { break }
                    poll.close()
                    pair.close()
                }
            }
        }
    }

    @Test("A descriptor that can't be polled is an error, not a crash")
    func badDescriptor() async throws {
        try await withLoop { loop in
            await #expect(throws: EventLoopError.self) {
                try await loop.submit { _ = try FileDescriptorPoll(loop: loop, descriptor: 9999) { _ in } }
            }
        }
    }

    @Test("A signal is an event of the loop")
    func signals() async throws {
        try await withLoop { loop in
            try await loop.run {
                try await withCheckedThrowingContinuation {
                    (continuation: CheckedContinuation<Void, Error>) in
                    do {
                        var source: SignalSource?
                        source = try SignalSource(loop: loop, signal: SIGUSR2) {
                            source?.close()
                            source = nil
                            continuation.resume()
                        }
                        kill(getpid(), SIGUSR2)
                    } catch {
                        continuation.resume(throwing: error)
                    }
                }
            }
        }
    }

    @Test("A signal that can't be caught is an error")
    func uncatchableSignal() async throws {
        try await withLoop { loop in
            await #expect(throws: EventLoopError.self) {
                try await loop.submit { _ = try SignalSource(loop: loop, signal: SIGKILL) {} }
            }
        }
    }

    @Test(
        "Timer durations are rounded up to milliseconds, and never below zero",
        arguments: [
            (Duration.zero, UInt64(0)), (.nanoseconds(1), 1), (.milliseconds(5), 5), (.microseconds(5001), 6),
            (.seconds(2), 2000), (.milliseconds(-5), 0), (.nanoseconds(-1), 0), (.seconds(Int64.max), .max),
        ])
    func rounding(duration: Duration, milliseconds: UInt64) {
        #expect(duration.roundedUpMilliseconds == milliseconds)
    }
}
