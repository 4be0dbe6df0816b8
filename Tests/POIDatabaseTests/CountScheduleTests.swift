import Places
import PointsOfInterestAPI
import Testing

@testable import POIDatabase

@Suite("The schedule of counts")
struct CountScheduleTests {
    private static let start = ContinuousClock.now

    private static func time(_ milliseconds: Int) -> ContinuousClock.Instant {
        start + .milliseconds(milliseconds)
    }

    private static func id(_ number: UInt64) -> DatasetID { DatasetID(high: 0, low: number) }

    private static func counts(of dataset: UInt64?) -> DatasetCounts<CategoryCount> {
        DatasetCounts(
            [CategoryCount(name: "zoo", count: Int(dataset ?? 0))],
            version: dataset.map { DatasetVersion(datasetID: id($0), revision: 1, incarnation: id(0)) })
    }

    /// One that has counted dataset 1 from 0 to 5 ms: its counts are old from 50 ms on, and too old from 100 ms on.
    private static func counted(_ dataset: UInt64? = 1) -> CountSchedule<CategoryCount> {
        var schedule = CountSchedule<CategoryCount>(multiple: 10)
        _ = schedule.request(current: id(1), at: time(0))
        schedule.finished(counts(of: dataset), at: time(5))
        return schedule
    }

    @Test("The first request begins a count, and other requests wait for it")
    func first() {
        var schedule = CountSchedule<CategoryCount>(multiple: 10)
        #expect(schedule.request(current: nil, at: Self.time(0)) == .wait(beginsCount: true))
        #expect(schedule.request(current: Self.id(1), at: Self.time(1)) == .wait(beginsCount: false))
        schedule.finished(Self.counts(of: 1), at: Self.time(2))
        let decision = schedule.request(current: Self.id(1), at: Self.time(3))
        #expect(decision == .counts(Self.counts(of: 1), beginsCount: false))
    }

    @Test("Counts of the current dataset are served without an end")
    func unchanged() {
        var schedule = Self.counted()
        for milliseconds in [5, 50, 100, 1_000_000_000] {
            let decision = schedule.request(current: Self.id(1), at: Self.time(milliseconds))
            #expect(decision == .counts(Self.counts(of: 1), beginsCount: false))
        }
    }

    @Test(
        "Older counts are served; a new count begins once they are ten times as old as counting took",
        arguments: [Self.id(2), nil], [1, nil] as [UInt64?])
    func changed(current: DatasetID?, counted: UInt64?) {
        var schedule = Self.counted(counted)
        let old = Self.counts(of: counted)
        for (milliseconds, beginsCount) in [(6, false), (49, false), (50, true), (51, false), (99, false)] {
            let decision = schedule.request(current: current, at: Self.time(milliseconds))
            #expect(decision == .counts(old, beginsCount: beginsCount), "\(milliseconds) ms")
        }
        // The count takes 50 ms, and the next one begins 500 ms after it began.
        schedule.finished(Self.counts(of: 3), at: Self.time(100))
        for (milliseconds, beginsCount) in [(101, false), (549, false), (550, true), (551, false)] {
            let decision = schedule.request(current: Self.id(4), at: Self.time(milliseconds))
            #expect(decision == .counts(Self.counts(of: 3), beginsCount: beginsCount), "\(milliseconds) ms")
        }
    }

    @Test("Counts that are twice that old aren't served: requests wait for the new count")
    func tooOld() {
        var schedule = Self.counted()
        #expect(schedule.request(current: Self.id(2), at: Self.time(100)) == .wait(beginsCount: true))
        #expect(schedule.request(current: Self.id(2), at: Self.time(101)) == .wait(beginsCount: false))
        // The dataset that they are of may be known again to be current, after a moment of doubt.
        let decision = schedule.request(current: Self.id(1), at: Self.time(102))
        #expect(decision == .counts(Self.counts(of: 1), beginsCount: false))
    }

    @Test("A count that fails leaves what was known, and the next request begins another")
    func failure() {
        var schedule = CountSchedule<CategoryCount>(multiple: 10)
        _ = schedule.request(current: nil, at: Self.time(0))
        schedule.finished(nil, at: Self.time(5))
        #expect(schedule.request(current: nil, at: Self.time(6)) == .wait(beginsCount: true))

        schedule = Self.counted()
        for _ in 0..<3 {
            let decision = schedule.request(current: Self.id(2), at: Self.time(60))
            #expect(decision == .counts(Self.counts(of: 1), beginsCount: true))
            schedule.finished(nil, at: Self.time(70))
        }
        #expect(schedule.request(current: Self.id(2), at: Self.time(100)) == .wait(beginsCount: true))
        schedule.finished(nil, at: Self.time(110))
        #expect(schedule.request(current: Self.id(2), at: Self.time(111)) == .wait(beginsCount: true))
    }

    @Test("Counting takes about a tenth of the time, however often the data change")
    func share() {
        var schedule = CountSchedule<CategoryCount>(multiple: 10)
        var (end, counting): (Int?, Int) = (nil, 0)
        for milliseconds in 0..<10_000 {
            if end == milliseconds {
                schedule.finished(Self.counts(of: UInt64(milliseconds)), at: Self.time(milliseconds))
                end = nil
            }
            switch schedule.request(current: nil, at: Self.time(milliseconds)) {
            case .counts(_, beginsCount: true), .wait(beginsCount: true): end = milliseconds + 7
            default: break
            }
            if end != nil { counting += 1 }
        }
        #expect((950...1050).contains(counting), "\(counting)")
    }
}
