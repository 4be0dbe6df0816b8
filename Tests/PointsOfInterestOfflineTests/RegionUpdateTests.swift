import BruteForce
import DifficultPlaces
import Foundation
import Geodesy
import Locking
import PointsOfInterestAPI
import PointsOfInterestHTTP
import PointsOfInterestServerAPI
import Randomness
import SpatialIndex
import Testing

@testable import PointsOfInterestOffline

/// Regions that are downloaded, compared, ended in the middle, and changed.
@Suite("Regions on the device", .timeLimit(.minutes(5)))
struct RegionUpdateTests {
    private static let box = BoundingBox(validWest: -20, south: -30, east: 40, north: 50)

    private static func places(
        _ count: Int, using generator: inout SeededGenerator
    ) -> [StoredPlace] {
        (1...count).map { id in
            Sample.place(id, at: .anywhere(using: &generator), using: &generator)
        }
    }

    /// Expects that a region has exactly the places of a version that match.
    static func expect(
        _ regions: OfflineRegions, _ region: OfflineRegion, equals version: Fleet.Version, of fleet: Fleet,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let kept = try #require(regions.places(of: region.id), sourceLocation: sourceLocation)
        var count = 0
        for number in version.table.values {
            let stored = fleet.content(number)
            guard stored.isIn(region) else { continue }
            count += 1
            let found = try #require(
                kept.snapshot.place(withID: Int64(stored.place.id)), "\(stored.place.id) is missing",
                sourceLocation: sourceLocation)
            var record: [UInt8] = []
            let isEncoded = PlaceRecord.encode(stored.fields, into: &record)
            #expect(isEncoded)
            // Behind its content a record has its last change, of which sums don't tell.
            let isSame = kept.snapshot.records[found].bytes.dropLast(16).elementsEqual(record.dropLast(16))
            #expect(isSame, "\(stored.place.id) differs", sourceLocation: sourceLocation)
        }
        #expect(kept.snapshot.placeCount == count, sourceLocation: sourceLocation)
    }

    @Test("A region is downloaded once, and compared by few requests; one without changes by one")
    func download() async throws {
        var generator = SeededGenerator()
        let fleet = Fleet(Self.places(4000, using: &generator))
        fleet.set(
            [
                Attribution(dataset: "osm", license: "ODbL-1.0", credit: "© OpenStreetMap", places: 1),
                Attribution(dataset: "none", license: "CC0-1.0", places: 0),
            ], CategoryLabels(["cafe": ["de": ["Café", "Kaffeehaus"]]]))
        let link = Link(fleet)
        let folder = try TestFolder()
        let regions = try OfflineRegions(directory: folder.url)
        let region = OfflineRegion(name: "West", box: Self.box, languages: ["de", "en"])
        await #expect(throws: OfflineRegionError.unknownRegion) {
            try await regions.update(region.id, from: link.service)
        }
        try regions.add(region)
        #expect(regions.list().map(\.isComplete) == [false])
        let progress = Lock([OfflineRegionProgress]())
        let state = try await regions.update(region.id, from: link.service) { step in
            progress.withLock { $0.append(step) }
            // A screen that lists regions doesn't disturb the download.
            #expect(regions.list().map(\.region) == [region])
        }
        try Self.expect(regions, region, equals: fleet.current, of: fleet)
        #expect(state.isComplete && state.region == region && state.comparedAt != nil)
        #expect(state.attributions.map(\.credit) == ["© OpenStreetMap"])
        let steps = progress.withLock(\.self)
        #expect((33...65).contains(steps.count) && steps.last?.placeCount == state.placeCount)
        #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.placeCount <= $1.placeCount })
        _ = link.takeCounts()
        try await regions.update(region.id, from: link.service)
        // The sums of all groups, the words for categories, and the credits.
        #expect(link.takeCounts().requests == 3)
        let changed = (1...50).map { id in
            Sample.place(id, at: .anywhere(using: &generator), using: &generator)
        }
        fleet.commit(changed, removing: Array(60...70))
        try await regions.update(region.id, from: link.service)
        #expect(link.takeCounts().requests <= 6)
        try Self.expect(regions, region, equals: fleet.current, of: fleet)
        // Another process finds it, too.
        let others = try OfflineRegions(directory: folder.url)
        #expect(others.list() == regions.list())
        try regions.remove(region.id)
        #expect(regions.list().isEmpty && others.list().isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }

    @Test(
        "A download that is ended anywhere goes on with what it has, also where its last bytes are lost or wrong"
    )
    func resume() async throws {
        var generator = SeededGenerator()
        let fleet = Fleet(Self.places(3000, using: &generator))
        let link = Link(fleet)
        let folder = try TestFolder()
        let region = OfflineRegion(name: "West", box: Self.box)
        try OfflineRegions(directory: folder.url).add(region)
        var bytes = 0
        var isDone = false
        while !isDone {
            // A new process.
            let regions = try OfflineRegions(directory: folder.url)
            link.kill(after: Int.random(in: 1...30, using: &generator))
            do {
                try await regions.update(region.id, from: link.service)
                isDone = true
            } catch {
                #expect(error as? RequestError == .cancelled)
                try Self.damageEnd(of: folder.path(region.id, ".poi-download"), using: &generator)
            }
            bytes += link.takeCounts().bytes
        }
        let regions = try OfflineRegions(directory: folder.url)
        try Self.expect(regions, region, equals: fleet.current, of: fleet)
        link.kill(after: nil)
        let other = try TestFolder()
        let all = try OfflineRegions(directory: other.url)
        try all.add(region)
        try await all.update(region.id, from: link.service)
        // Nothing but what was lost is loaded twice.
        #expect(bytes < 2 * link.takeCounts().bytes)
    }

    /// Takes bytes away from the end of a file, or changes some there, as a kill or a loss of power may leave it.
    static func damageEnd(of path: String, using generator: inout SeededGenerator) throws {
        guard var bytes = FileManager.default.contents(atPath: path), bytes.count > 600 else { return }
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: bytes.removeLast(Int.random(in: 1...500, using: &generator))
        case 1: bytes[bytes.count - Int.random(in: 1...100, using: &generator)] ^= 4
        default: break
        }
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    @Test("A region that is changed keeps its places until it has the new ones, and loads only what it lacks")
    func changedRegion() async throws {
        var generator = SeededGenerator()
        let fleet = Fleet(Self.places(3000, using: &generator))
        let link = Link(fleet)
        let folder = try TestFolder()
        let regions = try OfflineRegions(directory: folder.url)
        var region = OfflineRegion(name: "West", box: Self.box)
        try regions.add(region)
        try await regions.update(region.id, from: link.service)
        let before = region
        region.name = "West and east"
        region.box = BoundingBox(validWest: -30, south: -30, east: 60, north: 50)
        region.filter.categories = ["museum", "zoo"]
        try regions.add(region)
        #expect(regions.list().map(\.region) == [region])
        try Self.expect(regions, before, equals: fleet.current, of: fleet)
        link.kill(after: 5)
        await #expect(throws: RequestError.cancelled) {
            try await regions.update(region.id, from: link.service)
        }
        try Self.expect(regions, before, equals: fleet.current, of: fleet)
        link.kill(after: nil)
        // What has come belongs to the region also where it is changed once more.
        let byteCount = try regions.state(of: region.id).byteCount
        region.name = "All"
        try regions.add(region)
        #expect(abs(try regions.state(of: region.id).byteCount - byteCount) < 100)
        try await regions.update(region.id, from: link.service)
        try Self.expect(regions, region, equals: fleet.current, of: fleet)
    }

    @Test("A file that isn't what was written isn't used, and is made anew")
    func damagedFile() async throws {
        var generator = SeededGenerator()
        let fleet = Fleet(Self.places(500, using: &generator))
        let link = Link(fleet)
        let folder = try TestFolder()
        let region = OfflineRegion(name: "All", box: .world)
        try OfflineRegions(directory: folder.url).add(region)
        try await OfflineRegions(directory: folder.url).update(region.id, from: link.service)
        let path = folder.path(region.id, ".poi-region")
        let whole = try #require(FileManager.default.contents(atPath: path))
        for round in 0..<200 {
            var bytes = whole
            let offset = Int.random(in: 0..<bytes.count, using: &generator)
            if round % 2 == 0 {
                bytes.removeLast(bytes.count - offset)
            } else {
                bytes[offset] ^= 1 << (round % 8)
            }
            try FileManager.default.removeItem(atPath: path)
            try bytes.write(to: URL(fileURLWithPath: path))
            let regions = try OfflineRegions(directory: folder.url)
            // What isn't used, such as the rest of a page, may have any bytes.
            guard let places = regions.places(of: region.id) else {
                #expect(regions.list().map(\.region) == [region] && !regions.list()[0].isComplete)
                continue
            }
            #expect(places.snapshot.digestOfAll.buckets == fleet.current.snapshot.digestOfAll.buckets)
        }
        try FileManager.default.removeItem(atPath: path)
        try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: path))
        let regions = try OfflineRegions(directory: folder.url)
        try regions.add(region)
        try await regions.update(region.id, from: link.service)
        try Self.expect(regions, region, equals: fleet.current, of: fleet)
    }

    @Test(
        "Places that change during each comparison, too many bytes, and two updates at once end with their errors"
    )
    func refused() async throws {
        var generator = SeededGenerator()
        let fleet = Fleet(Self.places(1500, using: &generator))
        let link = Link(fleet)
        let folder = try TestFolder()
        let regions = try OfflineRegions(directory: folder.url)
        let small = OfflineRegion(name: "West", box: Self.box, maximumBytes: 20_000)
        try regions.add(small)
        do {
            try await regions.update(small.id, from: link.service)
            Issue.record("it is small")
        } catch OfflineRegionError.tooLarge(let bytes) {
            #expect(bytes > 20_000)
        }
        let region = OfflineRegion(id: small.id, name: "West", box: Self.box)
        try regions.add(region)
        try await regions.update(region.id, from: link.service)
        let changing = Self.places(1500, using: &generator).filter { $0.isIn(region) }
        link.before { _ in fleet.commit(changing.map { StoredPlace($0.place, names: ["de": "\(UUID())"]) }) }
        await #expect(throws: OfflineRegionError.changesTooOften) {
            try await regions.update(region.id, from: link.service)
        }
        link.before { _ in
            #expect(throws: OfflineRegionError.alreadyUpdating) { try regions.remove(region.id) }
        }
        try await regions.update(region.id, from: link.service)
        try Self.expect(regions, region, equals: fleet.current, of: fleet)
    }

    @Test(
        "A box around a circle holds what is as far as its radius, and none beyond its edge is nearer than it says"
    )
    func boxes() throws {
        var generator = SeededGenerator()
        for _ in 0..<20_000 {
            let center = Coordinate.anywhere(using: &generator)
            let radius = Double.random(in: 1...3_000_000, using: &generator)
            let box = BoundingBox(around: center, radiusMeters: radius)
            let angle = radius / 6_400_000 * 180 / .pi * Double.random(in: 0...1, using: &generator)
            let place = center.destination(azimuth: .random(in: 0..<360, using: &generator), degrees: angle)
            #expect(box.contains(place), "\(center) \(radius) \(box) \(place)")
            let other = Coordinate.anywhere(using: &generator)
            if !box.contains(other) {
                let meters = try #require(box.metersToOutside(from: center))
                let distance = Geodesic.distanceMeters(from: center, to: other)
                #expect(distance >= meters && meters >= radius * 0.98)
            }
        }
    }
}

extension StoredPlace {
    /// Whether it belongs to a region, by rules that are written down for the tests.
    func isIn(_ region: OfflineRegion) -> Bool {
        let filter = region.filter
        return place.operatingStatus != .permanentlyClosed
            && region.box.contains(latitude: place.latitude, longitude: place.longitude)
            && (filter.categories.isEmpty || filter.categories.contains(place.category))
            && (filter.featured == nil || filter.featured == place.featured)
            && (filter.datasets.isEmpty || filter.datasets.contains(place.source?.dataset ?? ""))
            && filter.propertyFilters.allSatisfy { property in
                place.properties?[property.name]?.text.map { property.values.contains($0) } ?? false
            }
    }
}
