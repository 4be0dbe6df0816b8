import Foundation
import PointsOfInterestHTTP
import PointsOfInterestServerAPI
import SpatialIndex

/// Makes a region's places those of the service: compares sums, and loads what differs, until all sums are equal.
///
/// What was loaded is in the log, so that nothing is loaded twice, however often this is ended. It compares what the file has with
/// what the log has above it, and doesn't remember anything else.
struct RegionUpdate {
    /// More buckets than these in one request would make its target too long.
    private static let bucketsAtOnce = DigestRequest.maximumPartCount
    /// Of a group with more buckets than these that differ, all places are loaded.
    private static let fewBuckets = PlaceDigest.bucketsPerGroup / 2
    /// How often all sums are compared again, because places have changed meanwhile or another server has answered.
    private static let maximumRounds = 5

    let service: PointsOfInterestService
    /// The region as its file has it; nil where it has none.
    let base: RegionPlaces?
    let log: DownloadLog
    let progress: @Sendable (OfflineRegionProgress) -> Void

    private var region: OfflineRegion { log.region }
    /// The sums of the file's places with those of the log above them.
    private var own: IndexDigest
    private var dataset: String?
    /// How many places the service has.
    private var expectedCount = 0

    init(
        _ log: DownloadLog, over base: RegionPlaces?, from service: PointsOfInterestService,
        progress: @escaping @Sendable (OfflineRegionProgress) -> Void
    ) {
        self.log = log
        self.service = service
        self.progress = progress
        // A client that reads more of a place than the one before takes none of what that one has read.
        self.base = base?.notes.content == RegionNotes.currentContent ? base : nil
        own = self.base?.snapshot.digestOfAll ?? IndexDigest()
        for (bucket, frame) in log.lastFrames {
            own.buckets[bucket] = log.frames[frame].sums[bucket] ?? PlaceSum()
        }
    }

    /// Compares, and loads what differs.
    ///
    /// - Returns: the sums of all groups, which both sides have.
    mutating func run() async throws -> [String] {
        for _ in 0..<Self.maximumRounds {
            let root: DigestRoot = try await decoded(.root)
            guard root.sums.count == PlaceDigest.groupCount else {
                throw RequestError.undecodableBody(reason: "a digest has 64 sums")
            }
            expectedCount = root.count
            dataset = root.dataset
            try await compare(root)
            if different(from: root).isEmpty { return root.sums }
            // Of one dataset, half a sum has hidden a difference, as it does once in four thousand millions.
            if dataset == root.dataset {
                for group in different(from: root) { try await load(.places(group: group)) }
                if different(from: root).isEmpty { return root.sums }
            }
        }
        throw OfflineRegionError.changesTooOften
    }

    private mutating func compare(_ root: DigestRoot) async throws {
        let groups = different(from: root)
        report()
        var known: [Int] = []
        for group in groups {
            // Of a group without places nothing has to be compared.
            if own.buckets(ofGroup: group).allSatisfy({ $0.count == 0 }) {
                try await load(.places(group: group))
            } else {
                known.append(group)
            }
        }
        guard !known.isEmpty else { return }
        let answer: DigestGroups = try await decoded(.groups(known))
        note(answer.dataset)
        var buckets: [Int] = []
        for group in known {
            guard let others = answer.groups["\(group)"], others.count == PlaceDigest.bucketsPerGroup else {
                throw RequestError.undecodableBody(reason: "a group has 64 sums")
            }
            let different = zip(PlaceDigest.buckets(ofGroup: group), others).filter { bucket, sum in
                DigestRequest.shortText(own.buckets[bucket].value) != sum
            }
            if different.count > Self.fewBuckets {
                try await load(.places(group: group))
            } else {
                buckets += different.map(\.0)
            }
        }
        for start in stride(from: 0, to: buckets.count, by: Self.bucketsAtOnce) {
            try await load(.buckets(Array(buckets[start..<min(buckets.count, start + Self.bucketsAtOnce)])))
        }
    }

    /// Loads the places of buckets, which replace all that was in them: what isn't there any more is gone.
    private mutating func load(_ part: DigestRequest.Part) async throws {
        let asked: [Int]
        switch part {
        case .buckets(let buckets): asked = buckets
        case .places(let group): asked = Array(PlaceDigest.buckets(ofGroup: group))
        case .root, .groups: asked = []
        }
        let body = try await service.digest(region.request(part))
        let received = try ReceivedBuckets(Array(body))
        guard asked.allSatisfy({ received.sums[$0] != nil }) else {
            throw RequestError.undecodableBody(reason: "a bucket is missing")
        }
        let found = received.sums.filter { asked.contains($0.key) }
        try log.append(body, found)
        for (bucket, sum) in found { own.buckets[bucket] = sum }
        note(received.dataset)
        guard log.byteCount <= 4 * region.maximumBytes else {
            throw OfflineRegionError.tooLarge(bytes: log.byteCount)
        }
        report()
    }

    /// Notes which dataset a response is of; afterwards there is none where several were.
    private mutating func note(_ other: String) {
        if dataset != other { dataset = nil }
    }

    private func report() {
        progress(
            OfflineRegionProgress(
                placeCount: min(own.count, expectedCount), expectedCount: expectedCount,
                byteCount: log.byteCount)
        )
    }

    private func decoded<Answer: Decodable & Sendable>(_ part: DigestRequest.Part) async throws -> Answer {
        try Answer.decode(body: try await service.digest(region.request(part)))
    }

    /// The numbers of the groups whose sums differ.
    private func different(from root: DigestRoot) -> [Int] {
        let sums = own.groupTexts
        return sums.indices.filter { sums[$0] != root.sums[$0] }
    }
}

// MARK: - The next file

extension RegionUpdate {
    /// The places of the file and those of the log in one part, which has the sums that were found equal.
    func part(proving sums: [String]) throws -> IndexPart {
        let snapshot = base?.snapshot
        var builder = IndexPartBuilder(
            expecting: own.count,
            vocabulary: snapshot?.vocabulary ?? IndexVocabulary())
        var isPacked = true
        for (number, frame) in log.frames.enumerated() {
            let wanted = Set(frame.sums.keys.filter { log.lastFrames[$0] == number })
            guard !wanted.isEmpty else { continue }
            _ = try ReceivedBuckets(log.body(of: frame), isWanted: wanted.contains) { place, hash in
                if !builder.add(place, contentHash: hash) { isPacked = false }
            }
        }
        guard isPacked else { throw RequestError.undecodableBody(reason: "a place can't be packed") }
        let part: IndexPart
        if let snapshot {
            let replaced = snapshot.places(ofBuckets: Set(log.lastFrames.keys), IndexFilter(), in: nil) ?? []
            let next = snapshot.applying(
                removedIDs: replaced.map(snapshot.id), added: builder.build(), version: snapshot.version)
            part = next.wholeMerge()?.run() ?? next.onlyPart ?? IndexPartBuilder(expecting: 0).build()
        } else {
            part = builder.build()
        }
        guard IndexSnapshot(ofRegion: part).digestOfAll.groupTexts == sums else {
            throw RequestError.undecodableBody(reason: "the sums aren't those of the places")
        }
        return part
    }

    /// What the file has besides places: the words for categories, and the credits of its datasets.
    func notes(of part: IndexPart) async throws -> RegionNotes {
        let labels = try await service.categories(CategoriesRequest(hasAllWords: true))
            .reduce(into: [:]) { $0[$1.name] = $1.words }
        let datasets = Set(part.vocabulary.sources.map(\.dataset))
        let attributions = try await service.attributions().filter { datasets.contains($0.dataset) }
        let favorites = try await service.places(
            ids: Array(region.favorites.prefix(NearbyPlacesRequest.maximumIDCount)),
            languages: region.languages)
        return RegionNotes(
            region: region, labels: CategoryLabels(labels), attributions: attributions, favorites: favorites)
    }
}

extension IndexSnapshot {
    /// The places of a region's part, which are of no dataset's version.
    convenience init(ofRegion part: IndexPart) {
        self.init(part: part, version: IndexVersion(revision: 0, datasetIDHigh: 0, datasetIDLow: 0))
    }

    /// The sums of all places.
    var digestOfAll: IndexDigest { digest(IndexFilter(), in: nil) ?? IndexDigest() }
}

extension IndexDigest {
    /// The sums of all groups, as they are sent.
    fileprivate var groupTexts: [String] { groups.map { DigestRequest.text($0.value) } }
}
