import Locking
import Postgres
import Testing

@testable import POIDatabase

@Suite("The log of failed connections")
struct ConnectionLogTests {
    @Test(
        "A cause of failure is logged if it differs from the last one, and each cause once a minute at most")
    func causes() {
        var filter = CauseFilter()
        let start = ContinuousClock.now
        func isNews(_ cause: String, after seconds: Int) -> Bool {
            filter.isNews(cause, at: start + .seconds(seconds))
        }
        #expect(isNews("refused", after: 0))
        // However long it lasts.
        #expect(!isNews("refused", after: 1) && !isNews("refused", after: 3600))
        #expect(isNews("starting", after: 3601))
        // Two that take turns don't fill the log.
        #expect(isNews("refused", after: 3602))
        #expect(!isNews("starting", after: 3603) && !isNews("refused", after: 3604))
        filter.endCause()
        #expect(!isNews("refused", after: 3605))
        filter.endCause()
        #expect(isNews("refused", after: 3700))
    }

    @Test("A cause that comes back after connections have worked is logged again")
    func causesThatComeBack() {
        let count = Lock(0)
        let log = ConnectionLog(.places) { _ in count.withLock { $0 += 1 } }
        let start = ContinuousClock.now
        let failure = PoolObservation.connectFailed(PostgresError(.connectionFailed))
        for (seconds, observation) in [
            (0, failure), (1, failure), (61, failure), (62, .connected), (123, failure),
        ] {
            log.observe(observation, at: start + .seconds(seconds))
        }
        #expect(count.withLock { $0 } == 2)
    }
}
