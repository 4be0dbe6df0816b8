import Testing

@testable import POIDatabase

/// Whether places are read into memory.
@Suite("Places that may not fit into memory")
struct MemoryFitTests {
    @Test("Places are not read if even the shortest ones would take too much memory")
    func neverFit() {
        let fit = MemoryFit(maximumBytes: 200_000)
        func admits(_ count: Int, _ seconds: Int) -> Bool { fit.admits(count, at: .seconds(seconds)) }
        #expect(admits(1000, 0))
        #expect(!admits(1001, 0))
        #expect(!fit.isExceeded)
    }

    @Test("Places that took too much memory are read again once they are fewer, or after a while")
    func retry() {
        var fit = MemoryFit(maximumBytes: 300_000)
        func admits(_ count: Int, _ seconds: Int) -> Bool { fit.admits(count, at: .seconds(seconds)) }
        fit.exceeded(bytesOfAPlace: 300, count: 1200, at: .seconds(1))
        #expect(fit.isExceeded)
        #expect(!admits(1200, 2))
        #expect(!admits(1001, 3))
        #expect(admits(1000, 4))
        #expect(!admits(1200, 600))
        #expect(admits(1200, 601))
        fit.begin()
        #expect(!fit.isExceeded)
    }

    @Test("A wrong estimate of their number doesn't make places be read again and again")
    func wrongEstimate() {
        var fit = MemoryFit(maximumBytes: 300_000)
        func admits(_ count: Int, _ seconds: Int) -> Bool { fit.admits(count, at: .seconds(seconds)) }
        fit.exceeded(bytesOfAPlace: 300, count: 500, at: .zero)
        #expect(!admits(500, 1))
        #expect(!admits(460, 2))
        #expect(admits(440, 3))
    }

    @Test(
        "The number of places is read off the planner's estimate",
        arguments: [
            ("Seq Scan on locations  (cost=0.00..155.00 rows=10000 width=0)", 10_000),
            ("Index Only Scan using a_b on locations  (cost=0.29..4.31 rows=1 width=0)", 1), ("", 0),
        ])
    func plan(text: String, count: Int) {
        #expect(IndexFollower.rowCount(ofPlan: text) == count)
    }
}
