import Foundation
import PointsOfInterestClient
import Testing

/// A part of the Earth whose places are all known, so that responses about it can be compared with brute force.
struct Region: Sendable {
    /// The most places that a region has.
    static let maximumCount = 3000

    /// Another walk has another number.
    let number: Int
    /// The part of the Earth: the places in it are all places of the service that this box contains.
    let box: BoundingBox
    /// The tile that the box is; nil where the service can't count clusters, by which tiles are found.
    let tile: MapTile?
    /// All of its places, without distances.
    let places: [RegionPlace]
    /// The clusters of the whole Earth at zoom 3; nil where the service can't count them.
    let earth: PlaceClusters?
    /// The first page of the walk through the region.
    let firstPage: PlacesResponse
    /// Words to search for in the region.
    let words: RegionWords

    /// Whether its places are all that the service has.
    var isWholeEarth: Bool { box.east - box.west == 360 && box.north - box.south == 180 }

    /// A place by its id.
    func place(id: Int) -> RegionPlace? { byID[id] }
    private let byID: [Int: RegionPlace]

    init(number: Int, found: FoundBox, pages: [PlacesResponse]) {
        self.number = number
        (box, tile, earth) = (found.box, found.tile, found.earth)
        places = pages.flatMap(\.places).map { RegionPlace($0) }
        firstPage = pages[0]
        words = RegionWords(places)
        byID = Dictionary(places.map { ($0.place.id, $0) }, uniquingKeysWith: { first, _ in first })
    }
}

/// A place of a region.
struct RegionPlace: Sendable {
    let place: PointOfInterest
    let name: NameWords
    /// As a search by relevance sees it by its own name.
    let ranked: ExpectedRelevance.Place

    init(_ place: PointOfInterest) {
        self.place = place
        name = NameWords(place.name)
        ranked = ExpectedRelevance.Place(place, name: place.name)
    }

    var position: Coordinate {
        Coordinate(validLatitude: place.latitude, validLongitude: place.longitude)
    }
}

extension Region {
    /// The region of this process; nil where the service has no places.
    static func current() async throws -> Region? { try await keeper.region() }

    private static let keeper = RegionKeeper()

    /// Compares responses about the region with brute force, and fails where they differ.
    ///
    /// If the data have changed since the region was walked, a difference proves nothing: the comparison is repeated
    /// with a new region.
    static func compare(
        sourceLocation: SourceLocation = #_sourceLocation,
        _ comparison: (Region, inout Differences) async throws -> Void
    ) async throws {
        guard var region = try await current() else { try Test.cancel("the service has no places") }
        for _ in 1...3 {
            var differences = Differences()
            let thrown: (any Error)?
            do {
                try await comparison(region, &differences)
                thrown = nil
            } catch {
                thrown = error
            }
            if thrown == nil, differences.all.isEmpty { return }
            guard try await region.hasChanged() else {
                differences.record(at: sourceLocation)
                if let thrown { throw thrown }
                return
            }
            guard let next = try await keeper.region(after: region) else {
                try Test.cancel("the service has no places any more")
            }
            region = next
        }
        throw MovingData()
    }

    /// Whether the first page has changed since the walk began.
    func hasChanged() async throws -> Bool { try await firstPage.hasChanged() }
}

/// What a comparison has found to differ.
struct Differences {
    private(set) var all: [String] = []

    /// Notes a text unless something holds.
    mutating func expect(_ holds: Bool, _ text: @autoclosure () -> String) {
        if !holds { all.append(text()) }
    }

    /// Records a failure for each difference, or for the first ones if there are many.
    fileprivate func record(at sourceLocation: SourceLocation) {
        for difference in all.prefix(5) {
            Issue.record(Comment(rawValue: difference), sourceLocation: sourceLocation)
        }
        guard all.count > 5 else { return }
        Issue.record("and \(all.count - 5) more differences", sourceLocation: sourceLocation)
    }

    /// Notes a text unless two values are equal.
    mutating func expect<Value: Equatable>(
        _ value: Value, is expected: Value, _ text: @autoclosure () -> String
    ) {
        expect(value == expected, "\(text()): \(value) instead of \(expected)")
    }
}

/// The data change faster than they can be compared, or seem to.
struct MovingData: Error, CustomStringConvertible {
    let description = """
        the service's data changed, or a box had more pages than places, in each of three attempts to compare \
        them; run the suite while they rest
        """
}

/// Keeps the region that this process compares with.
private actor RegionKeeper {
    private var number = 0
    private var search: Task<Region?, any Error>?

    func region() async throws -> Region? {
        if let search { return try await search.value }
        number += 1
        let search = Task { [number] in try await RegionSearch.region(number: number) }
        self.search = search
        return try await search.value
    }

    /// The region that was walked after another one.
    func region(after other: Region) async throws -> Region? {
        if number == other.number { search = nil }
        return try await region()
    }
}
