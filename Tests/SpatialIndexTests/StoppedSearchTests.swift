import Geodesy
import Locking
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Randomness
import Testing

@testable import SpatialIndex

/// Searches that nobody waits for any more.
@Suite("A search that is stopped")
struct StoppedSearchTests {
    /// Stops a search at one of its looks, and counts them.
    private struct Looks {
        let count = Lock(0)

        func stop(at last: Int) -> SearchStop {
            let count = count
            return SearchStop {
                count.withLock { count in
                    count += 1
                    return count >= last
                }
            }
        }
    }

    /// All at one distance, so that each has to be measured.
    private static func crowd() -> IndexSnapshot {
        var generator = SeededGenerator()
        let places = (0..<5000).map { TestPlace(id: $0, at: .init(wrapping: 10, 20), using: &generator) }
        return IndexSnapshot(part: .packing(places), version: .revision(1))
    }

    /// One that needs distances, and one that asks many places for many words.
    private static func queries() -> [IndexQuery] {
        let plain = IndexQuery(
            ranking: Ranking(center: .init(wrapping: 11, 20), radiusMeters: nil, limit: 21))
        var worded = plain
        worded.filter.words = (0..<40).map { _ in .word(Array(TestPlace.words[0].utf8)) }
        return [plain, worded]
    }

    @Test("A search checks for a stop throughout, and ends at the check that demands it")
    func search() {
        let snapshot = Self.crowd()
        for query in Self.queries() {
            let all = Looks()
            #expect(snapshot.search(query, until: all.stop(at: .max)) != nil)
            let count = all.count.withLock { $0 }
            #expect(count >= 3, "\(query)")
            for last in [1, 2, count / 2, count] {
                let looks = Looks()
                #expect(snapshot.search(query, until: looks.stop(at: last)) == nil)
                // A walk that was stopped is followed by a look at what could be done instead.
                #expect((last...last + 1).contains(looks.count.withLock { $0 }), "\(query)")
            }
        }
    }

    @Test("Counting clusters ends at the check that demands it", arguments: [true, false])
    func clusters(isWhole: Bool) throws {
        var generator = SeededGenerator()
        let places = SnapshotTests.places(0..<20_000, around: .init(wrapping: 10, 20), using: &generator)
        let snapshot = IndexSnapshot(part: .packing(places), version: .revision(1))
        let box =
            isWhole
            ? BoundingBox(west: -180, south: -90, east: 180, north: 90)
            : BoundingBox(west: -180, south: -80, east: 180, north: 80)
        let cells = ClusterCells(try #require(box), zoom: 3)
        var filter = IndexFilter()
        filter.words = (0..<40).map { _ in .word(Array(TestPlace.words[0].utf8.prefix(1))) }
        let all = Looks()
        #expect(snapshot.clusters(in: cells, filter, until: all.stop(at: .max)) != nil)
        let count = all.count.withLock { $0 }
        #expect(count >= 3)
        for last in [1, 2, count / 2, count] {
            let looks = Looks()
            #expect(snapshot.clusters(in: cells, filter, until: looks.stop(at: last)) == nil)
            #expect(looks.count.withLock { $0 } == last)
        }
    }

    @Test("A budget of work that is checked in steps allows as much work as one without checks")
    func budget() {
        let stop = SearchStop { false }
        // A budget doesn't keep it alive.
        withExtendedLifetime(stop) {
            var one = WorkBudget(until: stop).prefix(100_000)
            #expect(one.remaining == 100_000)
            var spent = 0
            while !one.isSpent {
                one.spend(7)
                spent += 7
            }
            #expect((100_000...100_007).contains(spent))
            #expect(one.remaining < 0)
        }
    }
}
