import Locking
import Testing

@testable import POIDatabase

/// What a process knows about the data, without a database.
@Suite("The dataset's state", .timeLimit(.minutes(1)))
struct DatasetStateTests {
    /// A function that is a generic type's state is wrapped again by each access. Then memory grows with the renewals, and
    /// each call takes longer than the one before: this didn't end within minutes.
    @Test("The observer of renewals is called for each of many renewals")
    func renewals() {
        let state = DatasetState()
        let count = Lock(0)
        state.onRenewal { _ in count.withLock { $0 += 1 } }
        for _ in 0..<300_000 { state.noteRenewal(nil) }
        #expect(count.withLock { $0 } == 300_000)
    }
}
