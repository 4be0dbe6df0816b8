import EventLoop

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The program's standard input, of which only the end is of interest.
enum StandardInput {
    /// Reads it to its end on a thread of its own, which lasts until then, and tells the loop of that.
    ///
    /// A thread, because it may be a file, which no loop can watch (epoll_ctl(2), `EPERM`).
    static func whenClosed(on loop: EventLoop, _ body: @escaping () -> Void) {
        let work = LoopBound(body, loop: loop)
        let thread = BlockingThread(name: "mock-stdin", capacity: 1)
        Task(executorPreference: loop) {
            // Where the system gives no thread nobody can wait, and a mock that stayed for ever would be worse.
            try? await thread.run { readToEnd() }
            work.value()
        }
    }

    private static func readToEnd() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count == 0 || (count < 0 && errno != EINTR) { return }
        }
    }
}
