import Dispatch
import Foundation
import Geodesy
import Locking
import Places
import PointsOfInterestAPI
import SpatialIndex
import Testing

@Suite("The published snapshot")
struct PublishedIndexTests {
    @Test("Readers see whole snapshots only, while thousands are published and freed")
    func publishing() throws {
        let published = PublishedIndex()
        let readers = (0..<3).map { _ in ReaderThread(of: published) }
        let freed = try publishMany(to: published)
        // Each reader has passed a turn since, which frees all but the last one.
        for reader in readers { reader.runOnce() }
        #expect(published.retiredCount == 0)
        #expect(freed.filter { $0.snapshot != nil }.count == 1)
        for reader in readers { #expect(reader.end() == []) }
        published.withdraw()
        #expect(freed.allSatisfy { $0.snapshot == nil })
    }

    private func publishOne(to published: PublishedIndex) throws -> Weak {
        let snapshot = try Self.snapshot(revision: 1)
        published.publish(snapshot)
        return Weak(snapshot)
    }

    private func publishMany(to published: PublishedIndex) throws -> [Weak] {
        try (1...2000).map { revision in
            let snapshot = try Self.snapshot(revision: revision)
            published.publish(snapshot)
            return Weak(snapshot)
        }
    }

    @Test("A snapshot is freed by another thread than a reader's")
    func freeing() throws {
        let jobs = Lock<[@Sendable () -> Void]>([])
        let published = PublishedIndex { job in jobs.withLock { $0.append(job) } }
        let readers = (0..<2).map { _ in ReaderThread(of: published) }
        let first = try publishOne(to: published)
        published.publish(try Self.snapshot(revision: 2))
        for reader in readers { #expect(reader.end() == []) }
        #expect(published.retiredCount == 0)
        #expect(first.snapshot != nil)
        for job in jobs.withLock({ $0 }) { job() }
        #expect(first.snapshot == nil)
    }

    @Test("A pinned snapshot stays after it was replaced, and a reader that is removed holds up nothing")
    func pinning() throws {
        let published = PublishedIndex()
        let reader = published.addReader { _ in }  // never runs a job
        published.publish(try Self.snapshot(revision: 1))
        var pinned = published.pinned()
        let first = Weak(try #require(pinned))
        published.publish(try Self.snapshot(revision: 2))
        #expect(published.retiredCount == 1)
        published.removeReader(reader)
        #expect(published.retiredCount == 0)
        #expect(pinned.map(ReaderThread.faults) == [])
        pinned = nil
        #expect(first.snapshot == nil)
        #expect(published.pinned()?.version.revision == 2)
        published.withdraw()
        #expect(published.pinned() == nil)
        #expect(published.withSnapshot { _ in true } == nil)
    }

    /// A snapshot whose places all tell its revision.
    static func snapshot(revision: Int) throws -> IndexSnapshot {
        var builder = IndexPartBuilder(expecting: 40)
        let number = builder.category(named: "museum")
        let category = try #require(number)
        for id in 0..<40 {
            Array(" r\(revision)".utf8).withUnsafeBufferPointer { name in
                withUnsafeBytes(of: revision) { record in
                    builder.add(
                        IndexEntry(
                            id: Int64(id), latitude: Double(id), longitude: Double(revision % 90),
                            category: category, isFeatured: false, foldedNames: name, record: record))
                }
            }
        }
        return IndexSnapshot(
            part: builder.build(),
            version: IndexVersion(revision: Int64(revision), datasetIDHigh: 0, datasetIDLow: 0))
    }
}

private final class Weak {
    weak var snapshot: IndexSnapshot?

    init(_ snapshot: IndexSnapshot) { self.snapshot = snapshot }
}

/// A thread with turns, as a loop has: in each it reads the snapshot, then it runs jobs.
private final class ReaderThread: Sendable {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var faults: [String] = []
        var isEnding = false
    }

    private let state = Lock(State())
    private let ended = DispatchSemaphore(value: 0)

    init(of published: PublishedIndex) {
        let reader = published.addReader { [state] job in state.withLock { $0.jobs.append(job) } }
        Thread.detachNewThread { [state, ended] in
            while true {
                let faults = published.withSnapshot(Self.faults) ?? []
                let (jobs, isEnding) = state.withLock { state in
                    state.faults += faults
                    defer { state.jobs = [] }
                    return (state.jobs, state.isEnding)
                }
                for job in jobs { job() }
                if isEnding, jobs.isEmpty { break }
            }
            published.removeReader(reader)
            ended.signal()
        }
    }

    /// Waits until the thread has run what it was given.
    func runOnce() {
        let done = DispatchSemaphore(value: 0)
        state.withLock { $0.jobs.append { done.signal() } }
        done.wait()
    }

    /// Ends the thread, and returns what was wrong.
    func end() -> [String] {
        state.withLock { $0.isEnding = true }
        ended.wait()
        return state.withLock { $0.faults }
    }

    /// What a snapshot's places tell wrong.
    static func faults(_ snapshot: IndexSnapshot) -> [String] {
        let revision = snapshot.version.revision
        guard let center = try? Coordinate(latitude: 20, longitude: Double(revision % 90)) else {
            return ["centre"]
        }
        var query = IndexQuery(ranking: Ranking(center: center, radiusMeters: nil, limit: 21))
        query.filter.words = [.word(Array("r\(revision)".utf8))]
        guard let page = snapshot.search(query) else { return ["no page"] }
        let revisions = page.placed.map { place in
            Int64(snapshot.records[place.reference].bytes.loadUnaligned(as: Int.self))
        }
        return page.placed.count == 20 && revisions.allSatisfy { $0 == revision }
            ? [] : ["\(revision): \(revisions)"]
    }
}
