import PointsOfInterestServerAPI
import SpatialIndex
import Testing

@testable import POIService
@testable import Places

/// Which places may be served, and until when.
@Suite("The places that are served", .timeLimit(.minutes(1)))
struct ServedIndexTests {
    private static func version(_ revision: Int64, incarnation: UInt64 = 1) -> DatasetVersion {
        DatasetVersion(
            datasetID: DatasetID(high: incarnation, low: UInt64(revision)), revision: revision,
            incarnation: DatasetID(high: 0, low: incarnation))
    }

    /// Until 10 s, confirmed at 1 s.
    private static func publish(_ version: DatasetVersion, on index: ServedIndex) {
        let part = IndexPartBuilder(expecting: 0).build()
        let facts = ServedIndex.Facts(
            version: version, datasetID: index.servedID(of: version.datasetID),
            categories: NameVocabulary(["cafe"]), datasets: [:])
        index.publish(
            IndexSnapshot(part: part, version: IndexVersion(facts)), facts, confirmedAt: .seconds(1),
            until: .seconds(10)
        )
    }

    @Test("What is known of a dataset is found for as long as a reader may still have its places")
    func facts() {
        let index = ServedIndex()
        for revision in 1...3 { Self.publish(Self.version(Int64(revision)), on: index) }
        #expect(index.facts(of: Self.version(3).datasetID)?.version == Self.version(3))
        #expect(index.facts(of: Self.version(2).datasetID)?.version == Self.version(2))
        #expect(index.facts(of: Self.version(1).datasetID) == nil)
        // The same once more.
        Self.publish(Self.version(3), on: index)
        #expect(index.facts(of: Self.version(2).datasetID) != nil)
        index.withdraw()
        #expect(index.facts(of: Self.version(3).datasetID) == nil)
    }

    @Test("A dataset that got another id keeps it until it gets one more, and other datasets keep their own")
    func rename() {
        let (index, version) = (ServedIndex(), Self.version(3))
        let first = index.rename(version.datasetID)
        #expect(first != version.datasetID && index.servedID(of: version.datasetID) == first)
        Self.publish(version, on: index)
        #expect(index.pinned(at: .zero)?.datasetID == first)
        Self.publish(Self.version(4), on: index)
        #expect(index.pinned(at: .zero)?.datasetID == Self.version(4).datasetID)
        // The database has lost what came then.
        index.withdraw()
        Self.publish(version, on: index)
        #expect(index.pinned(at: .zero)?.datasetID == first)
        #expect(index.rename(version.datasetID) != first)
    }

    @Test("Places in memory are served until their deadline, or until they are withdrawn")
    func expiry() {
        let index = ServedIndex()
        Self.publish(Self.version(1), on: index)
        #expect(index.isServing(at: .milliseconds(9999)))
        #expect(!index.isServing(at: .seconds(10)))
        #expect(index.pinned(at: .seconds(10)) == nil)
        Self.publish(Self.version(1), on: index)
        index.withdraw()
        #expect(index.pinned(at: .zero) == nil)
        #expect(index.hasLoaded)
    }

    @Test("Places are stale once they weren't known to be the newest for longer than a moment")
    func staleness() {
        let index = ServedIndex(freshTime: .seconds(3))
        #expect(index.staleSeconds(at: .seconds(9)) == nil)
        Self.publish(Self.version(1), on: index)
        #expect(index.staleSeconds(at: .seconds(4)) == nil)
        #expect(index.staleSeconds(at: .milliseconds(4001)) == 3)
        #expect(index.staleSeconds(at: .milliseconds(9999)) == 8)
        // They aren't served any more.
        #expect(index.staleSeconds(at: .seconds(10)) == nil)
    }
}
