import Foundation
import PointsOfInterestClient
import Testing

/// A part of the Earth whose places are all known, so that responses about it can be compared with brute force.
final class Region: Sendable {
    static let maximumCount = 3000

    /// The part of the Earth: the places in it are all places of the service that this box contains.
    let box: BoundingBox
    /// The zoom at which its places are those of one cell; −2 for the whole Earth, which zoom 0 divides into sixteen cells.
    let cellZoom: Int
    let earth: PlaceClusters
    /// All of its places, without distances.
    let places: [RegionPlace]
    let words: RegionWords
    private let firstPage: PlacesResponse
    private let byID: [Int: RegionPlace]

    init(_ found: FoundBox, pages: [PlacesResponse]) {
        (box, cellZoom, earth) = (found.box, found.cellZoom, found.earth)
        places = pages.flatMap(\.places).map { RegionPlace($0) }
        firstPage = pages[0]
        words = RegionWords(places)
        byID = Dictionary(places.map { ($0.place.id, $0) }) { first, _ in first }
    }

    var isWholeEarth: Bool { box.east - box.west == 360 && box.north - box.south == 180 }

    func place(id: Int) -> RegionPlace? { byID[id] }

    /// All of its places as requests for their ids have them.
    func places(properties: [String] = [], languages: [String] = []) async throws -> [PointOfInterest] {
        let client = try await Service.client()
        var found: [PointOfInterest] = []
        for start in stride(from: 0, to: places.count, by: 100) {
            let ids = places[start..<min(start + 100, places.count)].map(\.place.id)
            found += try await client.places(ids: ids, properties: properties, languages: languages)
        }
        return found
    }
}

struct RegionPlace: Sendable {
    let place: PointOfInterest
    let name: NameWords

    init(_ place: PointOfInterest) {
        self.place = place
        name = NameWords(place.name)
    }
}

extension Region {
    private static let keeper = RegionKeeper()

    /// The region of this process; nil where the service has no places.
    static func current() async throws -> Region? { try await keeper.region(after: nil) }

    /// Compares responses about the region with brute force, and fails where they differ. If the data have changed since the
    /// region was walked, a difference proves nothing: the comparison is repeated with a new region.
    static func compare(
        sourceLocation: SourceLocation = #_sourceLocation,
        _ comparison: (Region, inout Differences) async throws -> Void
    ) async throws {
        var last: Region?
        for _ in 1...3 {
            guard let region = try await keeper.region(after: last) else {
                try Test.cancel("the service has no places")
            }
            var differences = Differences()
            let thrown: (any Error)?
            do {
                try await comparison(region, &differences)
                if differences.all.isEmpty { return }
                thrown = nil
            } catch {
                thrown = error
            }
            guard try await region.firstPage.hasChanged() else {
                differences.record(at: sourceLocation)
                if let thrown { throw thrown }
                return
            }
            last = region
        }
        throw MovingData()
    }
}

struct Differences {
    private(set) var all: [String] = []

    mutating func expect(_ holds: Bool, _ text: @autoclosure () -> String) {
        if !holds { all.append(text()) }
    }

    mutating func expect<Value: Equatable>(
        _ value: Value, is expected: Value, _ text: @autoclosure () -> String
    ) {
        expect(value == expected, "\(text()): \(value) instead of \(expected)")
    }

    fileprivate func record(at sourceLocation: SourceLocation) {
        let others = all.count > 5 ? ["and \(all.count - 5) more differences"] : []
        for difference in all.prefix(5) + others {
            Issue.record(Comment(rawValue: difference), sourceLocation: sourceLocation)
        }
    }
}

/// The data change faster than they can be compared, or seem to.
struct MovingData: Error, CustomStringConvertible {
    let description = """
        the service's data changed, or a box had more pages than places, in each of three attempts to compare \
        them; run the suite while they rest
        """
}

private actor RegionKeeper {
    private var search: Task<Region?, any Error>?

    /// The region, or a new one if it is still the one that the data have changed from.
    func region(after old: Region?) async throws -> Region? {
        if let search, let old, try await search.value === old, search == self.search { self.search = nil }
        let search = search ?? Task { try await RegionSearch.region() }
        self.search = search
        return try await search.value
    }
}
