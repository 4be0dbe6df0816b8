import Locking
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import SpatialIndex

/// The response to a digest, as a store makes it.
package struct DigestPage: Sendable {
    /// Compresses a body, on any thread; nil where it can't.
    package typealias Compression = @Sendable (_ body: [UInt8]) -> [UInt8]?

    /// How many places match the filter.
    package let count: Int
    /// The response's JSON; empty where there are too many places.
    package private(set) var body: [UInt8]
    package private(set) var isCompressed = false
    package let datasetID: DatasetID

    /// A shorter body isn't worth it.
    private static let minimumCompressedBytes = 1024

    /// The page with a compressed body, where that is worth it.
    func compressed(by compress: Compression?) -> DigestPage {
        guard body.count >= Self.minimumCompressedBytes, let short = compress?(body) else { return self }
        var page = self
        (page.body, page.isCompressed) = (short, true)
        return page
    }
}

extension DigestPage {
    /// The sums of a digest.
    ///
    /// - Parameter maximumCount: with more places there are none.
    init(_ digest: IndexDigest, for request: DigestRequest, maximumCount: Int, _ datasetID: DatasetID) {
        (count, self.datasetID) = (digest.count, datasetID)
        guard count <= maximumCount else {
            body = []
            return
        }
        var writer = JSONWriter(capacity: 2048)
        writer.beginDigest(of: datasetID)
        switch request.part {
        case .root:
            writer.member("count", count)
            writer.name("sums")
            writer.write(digest.groups, DigestRequest.text)
        case .groups(let groups):
            writer.name("groups")
            writer.beginObject()
            for group in groups {
                writer.name(escaping: "\(group)")
                writer.write(digest.buckets(ofGroup: group), DigestRequest.shortText)
            }
            writer.endObject()
        case .buckets, .places: break
        }
        writer.endObject()
        body = writer.bytes
    }

    /// The places of buckets. Those that are asked for and have none are there, too.
    init(
        _ places: [IndexPlaceReference], in snapshot: IndexSnapshot, for request: DigestRequest, count: Int,
        buckets: [Int]
    ) {
        (self.count, datasetID) = (count, snapshot.datasetID)
        var byBucket: [Int: [IndexPlaceReference]] = [:]
        let records = snapshot.records
        for place in places {
            byBucket[PlaceDigest.bucket(ofID: snapshot.id(of: place)), default: []].append(place)
        }
        var writer = JSONWriter(capacity: 512 * places.count + 1024)
        let style = PlaceStyle(ofDetails: .json, languages: [])
        writer.beginDigest(of: datasetID)
        writer.name("buckets")
        writer.beginObject()
        for bucket in buckets {
            writer.name(escaping: PlaceDigest.name(ofBucket: bucket))
            writer.beginArray()
            for place in byBucket[bucket] ?? [] {
                style.write(records[place], distance: nil, PlaceAdditions(), to: &writer)
                writer.reopenObject()
                writer.member("hash", DigestRequest.text(snapshot.contentHash(of: place)))
                if request.hasAllNames { records[place].writeAllNames(to: &writer) }
                writer.endObject()
            }
            writer.endArray()
        }
        writer.endObject()
        writer.endObject()
        body = writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func beginDigest(of datasetID: DatasetID) {
        beginObject()
        member("dataset", datasetID.hexadecimal)
    }

    fileprivate mutating func write(_ sums: some Sequence<PlaceSum>, _ text: (UInt64) -> String) {
        beginArray()
        for sum in sums { value(text(sum.value)) }
        endArray()
    }
}

/// The sums of the filters that were asked for last, for all loops.
final class DigestCache: Sendable {
    private struct Entry {
        let filter: String
        let datasetID: DatasetID
        let digest: IndexDigest
    }

    /// Each takes 64 KiB.
    private static let maximumCount = 64

    private let entries = Lock([Entry]())

    /// The sums of a filter's places in a dataset, where they are known.
    func digest(of filter: String, in datasetID: DatasetID) -> IndexDigest? {
        entries.withLock { entries in
            let index = entries.firstIndex { $0.filter == filter && $0.datasetID == datasetID }
            guard let index else { return nil }
            let entry = entries.remove(at: index)
            entries.append(entry)
            return entry.digest
        }
    }

    func keep(_ digest: IndexDigest, of filter: String, in datasetID: DatasetID) {
        entries.withLock { entries in
            // Those of another dataset aren't asked for any more.
            entries.removeAll { $0.filter == filter || $0.datasetID != datasetID }
            if entries.count == Self.maximumCount { entries.removeFirst() }
            entries.append(Entry(filter: filter, datasetID: datasetID, digest: digest))
        }
    }
}

extension IndexSnapshot {
    /// The response, on any thread; nil where `stop` has ended it.
    func digestPage(
        for request: DigestRequest, _ filter: String, maximumCount: Int,
        compressedBy compress: DigestPage.Compression?, _ cache: DigestCache, until stop: SearchStop
    ) -> DigestPage? {
        let indexFilter = IndexFilter(request.filter, vocabulary)
        let digest: IndexDigest
        if let known = cache.digest(of: filter, in: datasetID) {
            digest = known
        } else {
            guard let added = self.digest(indexFilter, in: request.box, until: stop) else { return nil }
            digest = added
            cache.keep(added, of: filter, in: datasetID)
        }
        let buckets: [Int]
        switch request.part {
        case .root, .groups: buckets = []
        case .buckets(let asked): buckets = asked
        case .places(let group): buckets = Array(PlaceDigest.buckets(ofGroup: group))
        }
        guard digest.count <= maximumCount, !buckets.isEmpty else {
            return DigestPage(digest, for: request, maximumCount: maximumCount, datasetID)
                .compressed(by: compress)
        }
        return places(ofBuckets: Set(buckets), indexFilter, in: request.box, until: stop).map {
            DigestPage($0, in: self, for: request, count: digest.count, buckets: buckets)
                .compressed(by: compress)
        }
    }
}
