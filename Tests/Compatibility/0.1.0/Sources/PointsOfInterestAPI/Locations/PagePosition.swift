/// Where a page ends and the next one begins, in the order of distance, then id.
public struct PagePosition: Hashable, Sendable {
    /// The unrounded geodesic distance of the page's last place from the order's centre, in metres.
    public let distanceMeters: Double
    /// That place's id.
    public let id: Int64
    /// How many places this page and those before it hold: a hint to how dense places are, nothing more.
    public let count: Int

    /// Makes a position.
    public init(distanceMeters: Double, id: Int64, count: Int) {
        self.distanceMeters = distanceMeters
        self.id = id
        self.count = count
    }
}
