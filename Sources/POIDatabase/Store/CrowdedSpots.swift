import Locking
import PointsOfInterestAPI

/// Where the walk to the nearest places meets a crowd: places on one point, which its index can't order.
///
/// The walk has to read all of them before it proposes the first (28,263 pages of 50,000 places), and still proves
/// nothing. So the neighbourhood of such a walk is remembered, and its pages come by a search through cubes.
///
/// Any thread.
final class CrowdedSpots: Sendable {
    private struct State {
        /// The minimum number of places for which a walk from a neighbourhood met a crowd: a walk for more goes as far.
        var minimumLimits: [Cell: Int] = [:]
        var hits = 0
    }

    /// A neighbourhood.
    private struct Cell: Hashable {
        let size, row, column: Int
    }

    /// 0.2, 1.7 and 14 km high.
    private static let cellsPerDegree = [512.0, 64, 8]
    private static let metersPerDegree = 111_195.0
    /// The maximum number of neighbourhoods that are remembered; then all are forgotten.
    static let maximumCount = 1024
    /// After so many requests near crowds all are forgotten, since a crowd may be gone.
    static let maximumHitCount = 65_536

    private let state = Lock(State())

    /// Whether a walk for so many places, or fewer, met a crowd near here.
    func contains(_ center: Coordinate, limit: Int) -> Bool {
        state.withLock { state in
            guard !state.minimumLimits.isEmpty else { return false }
            let isHit = Self.cellsPerDegree.indices.contains { size in
                state.minimumLimits[Self.cell(of: center, size: size)].map { $0 <= limit } ?? false
            }
            guard isHit else { return false }
            state.hits += 1
            if state.hits == Self.maximumHitCount { state = State() }
            return true
        }
    }

    /// Remembers that a walk for so many places met a crowd at a distance from here: the neighbourhood is no
    /// wider than that distance, unless it is of the smallest size.
    func insert(_ center: Coordinate, limit: Int, crowdDistanceMeters: Double) {
        let size = Self.cellsPerDegree.lastIndex { Self.metersPerDegree / $0 <= crowdDistanceMeters } ?? 0
        let cell = Self.cell(of: center, size: size)
        state.withLock { state in
            if state.minimumLimits.count == Self.maximumCount { state = State() }
            state.minimumLimits[cell] = min(limit, state.minimumLimits[cell] ?? limit)
        }
    }

    private static func cell(of center: Coordinate, size: Int) -> Cell {
        let perDegree = cellsPerDegree[size]
        return Cell(
            size: size, row: Int((center.latitude + 90) * perDegree),
            column: Int((center.longitude + 180) * perDegree))
    }
}
