#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A clock for durations shorter than the loop's millisecond.
package enum MonotonicClock {
    /// Nanoseconds since some moment before the process began, the same on every thread.
    package static func nanoseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
