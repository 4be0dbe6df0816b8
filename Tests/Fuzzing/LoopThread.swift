import EventLoop
import Foundation
import Locking

/// The loop of targets whose code is confined to one. libFuzzer's thread waits for it.
struct LoopThread {
    static let only = LoopThread()

    private let thread: EventLoopThread

    private init() {
        do { thread = try EventLoopThread.start(name: "fuzzed-loop") } catch { fatalError("\(error)") }
    }

    var loop: EventLoop { thread.loop }

    /// Runs `body` on the loop.
    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value {
        let done = DispatchSemaphore(value: 0)
        let value = Lock<Value?>(nil)
        thread.loop.execute {
            let made = body()
            value.withLock { $0 = made }
            done.signal()
        }
        done.wait()
        guard let made = value.withLock({ $0 }) else { fatalError("the loop's closure has returned nothing") }
        return made
    }
}
