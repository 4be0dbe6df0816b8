import EventLoop

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// SIGTERM and SIGINT: the first asks for an orderly end, the second ends the process at once.
///
/// Confined to its loop.
package final class StopSignals {
    private let names: AsyncStream<String>
    private let feed: AsyncStream<String>.Continuation
    private var sources: [SignalSource] = []

    /// Takes the signals from now on.
    package init(loop: EventLoop) throws {
        let (names, feed) = AsyncStream.makeStream(of: String.self)
        self.names = names
        self.feed = feed
        let isStopping = Lock(false)
        for (signal, name) in [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT")] {
            let source = try SignalSource(loop: loop, signal: signal) {
                let isSecond = isStopping.withLock { isStopping in
                    defer { isStopping = true }
                    return isStopping
                }
                // What a shell reports of a process that the signal has ended.
                if isSecond { _exit(128 + signal) }
                feed.yield(name)
            }
            sources.append(source)
        }
        Self.unblock([SIGTERM, SIGINT])
    }

    /// Whoever started the process may have blocked them, and a mask survives exec (sigprocmask(2)).
    private static func unblock(_ signals: [Int32]) {
        var mask = sigset_t()
        sigemptyset(&mask)
        for signal in signals { sigaddset(&mask, signal) }
        pthread_sigmask(SIG_UNBLOCK, &mask, nil)
    }

    /// Asks for the orderly end for another reason than a signal.
    package func ask(_ reason: String) {
        feed.yield(reason)
    }

    /// Waits for the first signal, also one that came before; answers its name.
    package func first() async -> String {
        for await name in names { return name }
        return "the end"
    }

    /// Gives the signals their default effect again.
    package func close() {
        for source in sources { source.close() }
        sources = []
    }
}
