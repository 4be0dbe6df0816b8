import Locking
import Places
import PointsOfInterestAPI

/// What a process knows about the data without reading the database. Its stores share it; one `DatasetWatcher` keeps it up to
/// date.
///
/// Any thread.
public final class DatasetState: Sendable {
    private struct State {
        var datasetID: DatasetID?
        var vocabulary: FilterVocabulary?
        var renewalObserver: (@Sendable (DatasetID?) -> Void)?
    }

    private let state = Lock(State())
    private let isWatched = Lock(false)
    /// The number of places of each category, counted once for all stores.
    let categoryCounts: SharedCounts<CategoryCount>
    /// The number of places of each source dataset, counted once for all stores.
    let attributionCounts: SharedCounts<Attribution>

    /// Makes a state that knows nothing yet.
    public convenience init() {
        self.init(countingMultiple: 10)
    }

    /// Knows nothing yet, and counts places by a `CountSchedule` with this multiple.
    init(countingMultiple: Int) {
        categoryCounts = SharedCounts(schedule: CountSchedule(multiple: countingMultiple))
        attributionCounts = SharedCounts(schedule: CountSchedule(multiple: countingMultiple))
    }

    /// The dataset that a page read now would most likely come from; nil while that isn't known.
    var datasetID: DatasetID? { state.withLock { $0.datasetID } }

    /// The names that were read last. Outdated names do no harm: a name that is gone matches no place.
    var vocabulary: FilterVocabulary? { state.withLock { $0.vocabulary } }

    /// Returns true to the first caller only, which then has to keep this up to date.
    func claimWatch() -> Bool { isWatched.claim() }

    /// Takes the current dataset; nil while it isn't known.
    func update(datasetID: DatasetID?) {
        state.withLock { $0.datasetID = datasetID }
    }

    /// Calls `observer` with each notification of a renewal, with the new dataset's id where that is known. Notifications may
    /// be missing. One observer; it is called on the watcher's loop.
    func onRenewal(_ observer: @escaping @Sendable (DatasetID?) -> Void) {
        state.withLock { $0.renewalObserver = observer }
    }

    /// Passes a notification of a renewal to the observer.
    func noteRenewal(_ id: DatasetID?) {
        state.withLock { $0.renewalObserver }?(id)
    }

    /// Takes the names that the watcher has read.
    func update(vocabulary: FilterVocabulary) {
        state.withLock { $0.vocabulary = vocabulary }
    }
}
