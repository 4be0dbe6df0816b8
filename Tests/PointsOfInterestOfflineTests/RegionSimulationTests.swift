import BruteForce
import DifficultPlaces
import Foundation
import PointsOfInterestAPI
import PointsOfInterestHTTP
import PointsOfInterestServerAPI
import Randomness
import SpatialIndex
import Testing

@testable import PointsOfInterestOffline

/// A table that lives, servers of which some lag, and phones that sleep and are killed. The soak has more of each.
@Suite("Phones and servers over a long time", .timeLimit(.minutes(60)))
struct RegionSimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let transactionCount = environment["POI_TEST_TRANSACTIONS"].flatMap(Int.init) ?? 120
    private static let placeCount = environment["POI_TEST_PLACES"].flatMap(Int.init) ?? 800
    private static let phoneCount = environment["POI_TEST_PHONES"].flatMap(Int.init) ?? 8
    private static let filterable = FilterableProperties([(name: "kind", kind: .text)])

    /// A phone with a region: its folder stays, all else is gone when it is killed.
    private struct Phone {
        let folder: URL
        let region: OfflineRegion
        let link: Link
        /// After how many transactions it wakes up.
        var sleep = 0

        func path(_ suffix: String) -> String {
            folder.appendingPathComponent(region.id.uuidString.lowercased() + suffix).path
        }
    }

    private static func regions(using generator: inout SeededGenerator) -> [OfflineRegion] {
        (0..<phoneCount).map { number in
            var filter = PlaceFilter()
            if number % 4 == 1 { filter.categories = ["cafe", "zoo"] }
            if number % 7 == 2 { filter.featured = number % 2 == 0 }
            if number % 5 == 3 { filter.datasets = ["osm"] }
            if number % 6 == 4 { filter.propertyFilters = [PropertyFilter("kind", anyOf: ["a"])] }
            let south = Double.random(in: -90...60, using: &generator)
            let box =
                number % 3 == 0
                ? BoundingBox.world
                : BoundingBox(
                    west: .random(in: -180...180, using: &generator), south: south,
                    east: .random(in: -180...180, using: &generator),
                    north: .random(in: south...90, using: &generator)) ?? .world
            return OfflineRegion(name: "\(number)", box: box, filter: filter)
        }
    }

    @Test("A phone that says that it is equal has the table's places at the dataset that it compared with")
    func simulation() async throws {
        var generator = SeededGenerator()
        let fleet = Fleet(
            (1...Self.placeCount).map {
                Sample.place($0, at: .anywhere(using: &generator), using: &generator)
            },
            serverCount: 3, properties: Self.filterable)
        let folder = try TestFolder()
        var phones = Self.regions(using: &generator).enumerated().map { number, region in
            Phone(
                folder: folder.url.appendingPathComponent("\(number)"), region: region,
                link: Link(fleet, seed: generator.next()))
        }
        var saved = fleet.current.table
        var (equalCount, killedCount, openedCount) = (0, 0, 0)
        for transaction in 1...Self.transactionCount {
            Self.change(fleet, &saved, transaction, using: &generator)
            fleet.lag([0, 0, Int.random(in: 0..<8, using: &generator)])
            for index in phones.indices {
                phones[index].sleep -= 1
                guard phones[index].sleep < 0 else { continue }
                phones[index].sleep = [0, 3, 10, 60].pick(using: &generator)
                switch try await Self.wake(phones[index], fleet, using: &generator) {
                case .equal: equalCount += 1
                case .killed: killedCount += 1
                case .other: openedCount += 1
                }
            }
        }
        print("\(equalCount) times equal, \(killedCount) times killed, \(openedCount) times otherwise")
        #expect(equalCount > 0 && killedCount > 0)
        // At last all are left alone, with servers that are all as far.
        fleet.restore(fleet.current.table, properties: Self.filterable)
        fleet.lag([0, 0, 0])
        for phone in phones {
            phone.link.kill(after: nil)
            let regions = try OfflineRegions(directory: phone.folder)
            try await regions.update(phone.region.id, from: phone.link.service)
            try Self.expectEqual(phone, regions, fleet)
        }
    }

    /// A transaction, as editors, imports, merges, reverts and restores make them.
    private static func change(
        _ fleet: Fleet, _ saved: inout Fleet.Table, _ number: Int, using generator: inout SeededGenerator
    ) {
        let table = fleet.current.table
        func ids(_ count: Int, using generator: inout SeededGenerator) -> [Int] {
            (0..<count).map { _ in Int.random(in: 1...placeCount * 5 / 4, using: &generator) }
        }
        func new(_ ids: [Int], using generator: inout SeededGenerator) -> [StoredPlace] {
            Set(ids).sorted().map { Sample.place($0, at: .anywhere(using: &generator), using: &generator) }
        }
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<40: fleet.commit(new(ids(3, using: &generator), using: &generator))
        case 40..<55: fleet.commit([], removing: ids(5, using: &generator))
        case 55..<75:
            // A place moves a little, or another member changes: all else stays.
            let moved = ids(4, using: &generator).compactMap { table[$0] }.map { fleet.content($0) }
                .uniqued { $0.place.id }
            fleet.commit(moved.map { $0.changed(using: &generator) })
        case 75..<85:
            // One is merged into another: it is gone, and the other has its name.
            let (gone, stays) = (ids(1, using: &generator)[0], ids(1, using: &generator)[0])
            guard gone != stays, let one = table[gone], let other = table[stays] else { break }
            let (lost, kept) = (fleet.content(one), fleet.content(other))
            fleet.commit(
                [StoredPlace(kept.place, names: kept.names, otherNames: [lost.place.name])], removing: [gone])
        case 85..<87: fleet.commit(new(ids(placeCount, using: &generator), using: &generator))
        case 87..<92: saved = table
        case 92..<96: fleet.restore(saved)
        default:
            fleet.restore(table, properties: number % 3 == 0 ? FilterableProperties.none : filterable)
        }
    }

    private enum Outcome {
        case equal, killed, other
    }

    /// A new process of the phone's app, which compares, and may be killed while it does.
    private static func wake(
        _ phone: Phone, _ fleet: Fleet, using generator: inout SeededGenerator
    ) async throws -> Outcome {
        let regions = try OfflineRegions(directory: phone.folder)
        if regions.list().isEmpty { try regions.add(phone.region) }
        let isKilled = Int.random(in: 0..<3, using: &generator) == 0
        phone.link.kill(
            after: isKilled ? Int.random(in: 1..<[5, 70].pick(using: &generator), using: &generator) : nil)
        let log = FileManager.default.contents(atPath: phone.path(".poi-download"))
        do {
            try await regions.update(phone.region.id, from: phone.link.service)
            try expectEqual(phone, regions, fleet)
            // Killed after the file was named, and before the download was removed; or while another file was written.
            if let log, Bool.random(using: &generator) {
                try log.write(to: URL(fileURLWithPath: phone.path(".poi-download")))
            }
            let half = Data(count: Int.random(in: 0..<9000, using: &generator))
            try half.write(to: URL(fileURLWithPath: phone.path(".poi-region.new")))
            return .equal
        } catch RequestError.cancelled {
            try RegionUpdateTests.damageEnd(of: phone.path(".poi-download"), using: &generator)
            return .killed
        } catch let error as RequestError {
            // Servers don't find places by the property any more.
            #expect(error.problem?.code == .unknownProperty && phone.region.filter.hasPropertyFilters)
            return .other
        } catch {
            #expect(error as? OfflineRegionError == .changesTooOften)
            return .other
        }
    }

    private static func expectEqual(_ phone: Phone, _ regions: OfflineRegions, _ fleet: Fleet) throws {
        try RegionUpdateTests.expect(
            regions, phone.region, equals: try #require(phone.link.compared), of: fleet)
    }
}

extension StoredPlace {
    /// The same place with one member changed.
    fileprivate func changed(using generator: inout SeededGenerator) -> StoredPlace {
        let which = Int.random(in: 0..<6, using: &generator)
        let moved = place.position.moved(upTo: which == 0 ? 20 : 0, using: &generator)
        let changed = PointOfInterest(
            id: place.id, name: which == 1 ? place.name + "x" : place.name, category: place.category,
            latitude: moved.latitude, longitude: moved.longitude,
            featured: which == 2 ? !place.featured : place.featured, address: place.address,
            website: place.website, source: place.source, importance: place.importance,
            properties: which == 3 ? ["kind": "a"] : place.properties,
            operatingStatus: which == 4 ? nil : place.operatingStatus, version: (place.version ?? 0) + 1,
            updatedAt: place.updatedAt)
        return StoredPlace(
            changed, names: which == 5 ? ["de": "Neu"] : names, otherNames: otherNames)
    }
}
