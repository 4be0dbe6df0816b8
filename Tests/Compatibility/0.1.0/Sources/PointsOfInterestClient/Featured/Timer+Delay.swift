import Foundation

extension Timer {
    /// Makes a timer that fires after a delay in seconds, and then at that interval if it repeats.
    ///
    /// Not `init(timeInterval:repeats:block:)`, whose first date on Linux is the present (Swift 6.3).
    convenience init(delay: TimeInterval, repeats: Bool, block: @escaping @Sendable (Timer) -> Void) {
        self.init(fire: Date(timeIntervalSinceNow: delay), interval: delay, repeats: repeats, block: block)
    }
}
