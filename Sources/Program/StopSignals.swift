import EventLoop
import Locking

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The signals that end the process. The first SIGTERM or SIGINT asks for an orderly end, the second one ends the
/// process at once. SIGHUP, which a terminal sends when it closes, asks for an orderly end too, unless the process
/// ignores it.
///
/// `poi serve` ignores SIGHUP, and so does a process that nohup(1) has started. Every command ignores SIGUSR1, SIGUSR2
/// and SIGPIPE, see `Terminal.prepare`.
///
/// Confined to its loop.
package final class StopSignals {
    private let names: AsyncStream<String>
    private let feed: AsyncStream<String>.Continuation
    private var sources: [SignalSource] = []
    /// Whether a terminal has said that it closes.
    private let isHungUp = Lock(false)

    package init(loop: EventLoop) throws {
        let (names, feed) = AsyncStream.makeStream(of: String.self)
        self.names = names
        self.feed = feed
        let isFirst = Lock(false)
        for (signal, name) in [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT")] {
            let source = try SignalSource(loop: loop, signal: signal) {
                // The exit code that a shell reports for a process that the signal has ended.
                guard isFirst.claim() else { _exit(128 + signal) }
                feed.yield(name)
            }
            sources.append(source)
        }
        var signals = [SIGTERM, SIGINT]
        if !Self.isIgnored(SIGHUP) {
            // A second one doesn't end the process: a shell and the kernel may both send it.
            sources.append(
                try SignalSource(loop: loop, signal: SIGHUP) { [isHungUp] in
                    _ = isHungUp.claim()
                    feed.yield("SIGHUP")
                })
            signals.append(SIGHUP)
        }
        Self.unblock(signals)
    }

    /// Ignores SIGHUP, which scripts that rotate logs send. Call it in a server without a terminal, before its loops
    /// run.
    package static func ignoreHangup() {
        signal(SIGHUP, SIG_IGN)
    }

    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return false }
        #if canImport(Darwin)
            let handler = action.__sigaction_u.__sa_handler
        #else
            let handler = action.__sigaction_handler.sa_handler
        #endif
        return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Unblocks signals. The process that started this one may have blocked them, and a mask survives exec
    /// (sigprocmask(2)).
    private static func unblock(_ signals: [Int32]) {
        var mask = sigset_t()
        sigemptyset(&mask)
        for signal in signals { sigaddset(&mask, signal) }
        pthread_sigmask(SIG_UNBLOCK, &mask, nil)
    }

    package func ask(_ reason: String) {
        feed.yield(reason)
    }

    /// The signal may have come before.
    package func first() async -> String {
        for await name in names { return name }
        return "the end"
    }

    package func close() {
        for source in sources { source.close() }
        sources = []
        // Another one may come while the rest of the process ends in order.
        if isHungUp.withLock({ $0 }) { signal(SIGHUP, SIG_IGN) }
    }
}

/// Ends the process after a time, even if a database or a reader of the log blocks its orderly end.
///
/// It has a thread of its own, since what blocks a loop's end may block its timers too.
package enum HardEnd {
    /// After the time for requests.
    private static let closingTime = Duration.seconds(2)

    /// When the timer fires, the process ends with exit code 0: it was told to end.
    ///
    /// - Parameter grace: how long the requests in flight may take.
    package static func arm(after grace: Duration) throws {
        let loop = try EventLoopThread.start(name: "poi-end").loop
        loop.execute {
            LoopTimer(loop: loop) { _exit(0) }.start(after: grace + closingTime)
        }
    }
}
