import EventLoop
import Locking

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// SIGTERM and SIGINT: the first asks for an orderly end, the second ends the process at once. SIGHUP, by which a
/// terminal tells that it closes, asks for the orderly end too, unless the process ignores it.
///
/// Who ignores it: `poi serve`, and whatever nohup(1) has started. SIGUSR1, SIGUSR2 and SIGPIPE are ignored in every
/// command, see `Terminal.prepare`.
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
        var signals = [SIGTERM, SIGINT]
        if !Self.isIgnored(SIGHUP) {
            // However often it comes: a shell and the kernel may both tell.
            sources.append(try SignalSource(loop: loop, signal: SIGHUP) { feed.yield("SIGHUP") })
            signals.append(SIGHUP)
        }
        Self.unblock(signals)
    }

    /// To be called by a server that runs without a terminal, before its loops run: SIGHUP, which scripts that rotate
    /// logs send, then changes nothing.
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

/// Ends the process after a while, whatever still goes on in it then: a database that hangs, a reader of the log that
/// has stalled.
///
/// On a thread of its own, since what keeps a loop from its end may keep it from a timer, too.
enum HardEnd {
    /// What closing takes beyond the time of the requests, at most.
    private static let closingTime = Duration.seconds(2)

    /// From now on the process ends by itself, with exit code 0: what it was told to do is done.
    ///
    /// - Parameter grace: how long the requests in flight may take.
    /// - Throws: `EventLoopError` where the system gives no thread.
    static func arm(after grace: Duration) throws {
        let loop = try EventLoopThread.start(name: "poi-end").loop
        loop.execute {
            LoopTimer(loop: loop) { _exit(0) }.start(after: grace + closingTime)
        }
    }
}
