import PointsOfInterestAPI

/// Where the service's places are kept.
///
/// A store belongs to one loop and is used on its thread only. Every store answers exactly what a scan
/// over all places would, in the order of `Ranking`.
public protocol PlaceStore: AnyObject {
    /// The dataset that an answer given now would most likely come from, known without asking the database;
    /// nil where it isn't known.
    var currentDatasetID: DatasetID? { get }

    /// The categories that there ever were, known without asking the database; nil where they aren't.
    var vocabulary: CategoryVocabulary? { get }

    /// The categories that there ever were, asked for now: for a name that `vocabulary` doesn't have.
    func currentVocabulary() async throws(PlaceStoreError) -> CategoryVocabulary

    /// The page of places that a request asks for, nearest first.
    func places(for request: NearbyPlacesRequest) async throws(PlaceStoreError) -> RankedPage

    /// One place; a page of none where there is no such place.
    func place(for request: PlaceRequest) async throws(PlaceStoreError) -> RankedPage

    /// Every category with its number of places, most frequent first, then by name.
    func categories() async throws(PlaceStoreError) -> CategoryCounts

    /// Waits until the store answers as fast as it ever will, or can't be had.
    func warmUp() async

    /// Whether the store could answer now.
    func checkHealth() async -> StoreHealth

    /// Adds what the store knows in numbers, by `DatabaseMetrics` for instance; of its own loop only.
    func collectMetrics(into snapshot: inout MetricsSnapshot)

    /// Lets go of what the store holds; to be awaited before its loop stops.
    func close() async
}

extension PlaceStore {
    /// Nothing to wait for.
    public func warmUp() async {}

    /// Nothing.
    public func collectMetrics(into snapshot: inout MetricsSnapshot) {}
}

/// What a store knows of its own state.
public enum StoreHealth: Hashable, Sendable {
    /// It can't be asked; `reason` is for the log, never for a client.
    case unreachable(reason: String)
    /// It answers, and these migrations, which this binary relies on, are missing.
    case reachable(missingMigrations: [String])
    /// It answers, and these migrations of a newer release say that this binary is too old for them.
    case outdated(byMigrations: [String])
}
