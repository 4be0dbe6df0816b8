import EventLoop

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

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
