import PointsOfInterestAPI

/// A store's answer to which categories there are.
public struct CategoryCounts: Hashable, Sendable {
    /// Every category with its number of places, most frequent first, then by name.
    public let categories: [CategoryCount]
    /// The dataset that the counts were read from; nil where nothing vouches for that.
    public let datasetID: DatasetID?
    /// How long the database took for it.
    public let databaseDuration: Duration?

    /// Makes an answer, whose categories may come in any order.
    public init(
        categories: [CategoryCount], datasetID: DatasetID? = nil, databaseDuration: Duration? = nil
    ) {
        self.categories = categories.sorted { ($1.count, $0.name) < ($0.count, $1.name) }
        self.datasetID = datasetID
        self.databaseDuration = databaseDuration
    }
}
