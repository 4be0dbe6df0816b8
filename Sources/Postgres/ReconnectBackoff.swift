/// How long to wait before the next attempt to connect.
///
/// Quick at first and never more than a second, so that a pool is healthy soon after a long outage; spread at
/// random, so that the processes of a fleet don't come back in step.
struct ReconnectBackoff {
    private static let first = Duration.milliseconds(50)
    private static let longest = Duration.seconds(1)

    /// The wait after that many failures in a row (from 1), between half and all of the doubling step.
    static func delay(failures: Int, random: Double) -> Duration {
        let doublings = min(max(failures, 1) - 1, 10)
        let step = min(first * (1 << doublings), longest)
        return step * (0.5 + 0.5 * min(max(random, 0), 1))
    }
}
