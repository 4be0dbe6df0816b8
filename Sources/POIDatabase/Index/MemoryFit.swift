/// Decides by the number of places whether they are read into memory. Their number is estimated before they are read; the
/// memory that they take is known afterwards. A value that is passed the time.
struct MemoryFit {
    /// What is known of places that didn't fit.
    private struct Excess {
        /// How many bytes each took, or takes at least if they weren't read.
        let bytesOfAPlace: Double
        /// About how many there were, as it was estimated.
        let count: Int
        /// When places are read again, although there seem to be too many: the estimate may be wrong.
        let retry: Duration
    }

    /// A place takes at least so many bytes: its columns, its part of the trees, and a record with a short name.
    static let minimumBytesOfAPlace = 200.0
    /// After so long, places that didn't fit are read again.
    static let retryInterval = Duration.seconds(600)

    /// How many bytes places may take.
    private let maximumBytes: Int
    private var excess: Excess?

    /// - Parameter maximumBytes: how many bytes places may take.
    init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
    }

    /// Whether the places didn't fit.
    var isExceeded: Bool { excess != nil }

    /// Whether there may be room for about so many places.
    ///
    /// After places didn't fit, their number has to fall by a tenth before they are read again, so that a wrong estimate
    /// doesn't lead to one attempt after the other.
    func admits(_ count: Int, at now: Duration) -> Bool {
        let bytesOfAPlace = excess?.bytesOfAPlace ?? Self.minimumBytesOfAPlace
        let fits = Double(count) * bytesOfAPlace <= Double(maximumBytes)
        guard let excess else { return fits }
        return now >= excess.retry || fits && Double(count) < 0.9 * Double(excess.count)
    }

    /// Notes that the places don't fit: each takes this many bytes, and there are about `count`, as it was estimated.
    mutating func exceeded(bytesOfAPlace: Double, count: Int, at now: Duration) {
        excess = Excess(bytesOfAPlace: bytesOfAPlace, count: count, retry: now + Self.retryInterval)
    }

    /// Notes that the places are being read.
    mutating func begin() {
        excess = nil
    }
}
