import SpatialIndex
import Testing

@testable import POIService
@testable import Places

/// That the responses of a process never go back.
@Suite("The places that are served", .timeLimit(.minutes(1)))
struct ServedIndexTests {
    private static func version(_ revision: Int64, incarnation: UInt64 = 1) -> DatasetVersion {
        DatasetVersion(
            datasetID: DatasetID(high: incarnation, low: UInt64(revision)), revision: revision,
            incarnation: DatasetID(high: 0, low: incarnation))
    }

    /// Until 10 s, confirmed at 1 s.
    private static func publish(_ version: DatasetVersion, on index: ServedIndex) -> Bool {
        let part = IndexPartBuilder(expecting: 0).build()
        let facts = ServedIndex.Facts(
            version: version, datasetID: index.servedID(of: version.datasetID),
            categories: NameVocabulary(["cafe"]), datasets: [:])
        return index.publish(
            IndexSnapshot(part: part, version: IndexVersion(facts)), facts, confirmedAt: .seconds(1),
            until: .seconds(10)
        )
    }

    @Test(
        "The database's places aren't served if they are older than those served from memory, unless these are lost"
    )
    func database() {
        let index = ServedIndex()
        #expect(index.admits(Self.version(3)))
        #expect(index.admits(Self.version(2)))
        #expect(Self.publish(Self.version(5), on: index))
        #expect(!index.admits(Self.version(4)))
        #expect(index.admits(Self.version(5)))
        #expect(index.admits(Self.version(1, incarnation: 2)))
        index.withdraw()
        #expect(!index.admits(Self.version(4)))
        index.forgetServed()
        #expect(index.admits(Self.version(4)))
    }

    @Test("Places in memory aren't served if they are older than those that the database has served")
    func memory() {
        let index = ServedIndex()
        #expect(index.admits(Self.version(6)))
        #expect(!Self.publish(Self.version(5), on: index))
        #expect(index.pinned(at: .zero) == nil)
        #expect(Self.publish(Self.version(6), on: index))
        #expect(index.pinned(at: .zero) != nil)
    }

    @Test(
        "Places in memory aren't served until they are as new as what the database has served",
        arguments: [(Int64(6), UInt64(1)), (5, 2)])
    func newerByDatabase(revision: Int64, incarnation: UInt64) {
        let (index, other) = (ServedIndex(), Self.version(revision, incarnation: incarnation))
        #expect(Self.publish(Self.version(5), on: index))
        #expect(index.admits(Self.version(5)))
        #expect(index.pinned(at: .zero) != nil)
        // A request that began before they were in memory, or that found too many searches waiting.
        #expect(index.admits(other))
        #expect(index.pinned(at: .zero) == nil)
        #expect(Self.publish(other, on: index))
        #expect(index.pinned(at: .zero)?.datasetID == other.datasetID)
    }

    @Test("A dataset that got another id keeps it until it gets one more, and other datasets keep their own")
    func rename() {
        let (index, version) = (ServedIndex(), Self.version(3))
        let first = index.rename(version.datasetID)
        #expect(first != version.datasetID && index.servedID(of: version.datasetID) == first)
        #expect(Self.publish(version, on: index))
        #expect(index.pinned(at: .zero)?.datasetID == first)
        #expect(Self.publish(Self.version(4), on: index))
        #expect(index.pinned(at: .zero)?.datasetID == Self.version(4).datasetID)
        // The database has lost what came then.
        index.withdraw()
        index.forgetServed()
        #expect(Self.publish(version, on: index))
        #expect(index.pinned(at: .zero)?.datasetID == first)
        #expect(index.rename(version.datasetID) != first)
    }

    @Test("Places in memory are served until their deadline, or until they are withdrawn")
    func expiry() {
        let index = ServedIndex()
        _ = Self.publish(Self.version(1), on: index)
        #expect(index.isServing(at: .milliseconds(9999)))
        #expect(!index.isServing(at: .seconds(10)))
        #expect(index.pinned(at: .seconds(10)) == nil)
        #expect(Self.publish(Self.version(1), on: index))
        index.withdraw()
        #expect(index.pinned(at: .zero) == nil)
        #expect(index.hasLoaded)
    }

    @Test("Places are stale once they weren't known to be the newest for longer than a moment")
    func staleness() {
        let index = ServedIndex(freshTime: .seconds(3))
        #expect(index.staleSeconds(at: .seconds(9)) == nil)
        #expect(Self.publish(Self.version(1), on: index))
        #expect(index.staleSeconds(at: .seconds(4)) == nil)
        #expect(index.staleSeconds(at: .milliseconds(4001)) == 3)
        #expect(index.staleSeconds(at: .milliseconds(9999)) == 8)
        // They aren't served any more.
        #expect(index.staleSeconds(at: .seconds(10)) == nil)
    }

    @Test(
        "A process that has just started waits for its places: until they are there, don't fit, or take too long"
    )
    func start() {
        let index = ServedIndex()
        for isRequired in [true, false] {
            #expect(!index.hasStarted(isRequired: isRequired, at: .seconds(1)))
            #expect(!index.hasStarted(isRequired: isRequired, at: .seconds(60)))
        }
        #expect(!index.hasStarted(isRequired: true, at: .seconds(61)))
        #expect(index.hasStarted(isRequired: false, at: .seconds(61)))
        let large = ServedIndex()
        large.update { $0.phase = .tooLarge }
        #expect(!large.hasStarted(isRequired: true, at: .seconds(1)))
        #expect(large.hasStarted(isRequired: false, at: .seconds(1)))
        // Once it was ready, what becomes of its places doesn't matter.
        large.update { $0.phase = .loading }
        #expect(large.hasStarted(isRequired: false, at: .seconds(2)))
        let loaded = ServedIndex()
        #expect(!loaded.hasStarted(isRequired: true, at: .zero))
        _ = Self.publish(Self.version(1), on: loaded)
        loaded.withdraw()
        #expect(loaded.hasStarted(isRequired: true, at: .seconds(1)))
    }
}
