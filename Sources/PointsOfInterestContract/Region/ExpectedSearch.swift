import Foundation
import PointsOfInterestClient
import Testing

/// What a search in a region has to find, by brute force: every place is looked at, and measured by Vincenty's formula.
struct ExpectedSearch {
    struct Candidate {
        let place: PointOfInterest
        /// False at the edge of the radius, and where the name that responses show doesn't have the words of the search text:
        /// a place may have other names.
        let isCertain: Bool
        let meters: Double
        /// How far the formula may be off: nearly antipodal places can't be measured by it.
        let tolerance: Double
    }

    /// Two distances that are nearer than this can't be told apart, in metres.
    private static let precision = 0.002
    /// Where Vincenty's formula doesn't converge, in metres: the last 150 km before the antipode.
    private static let antipode = (meters: 19_930_000.0, tolerance: 150_000.0)
    /// The maximum error of a distance: half of 0.1 m, to which responses round, and the formula's error.
    private static let rounding = 0.051

    let request: NearbyPlacesRequest
    private let region: Region
    private let candidates: [Int: Candidate]

    init(_ request: NearbyPlacesRequest, in region: Region) throws {
        (self.request, self.region) = (request, region)
        let filter = RegionFilter(request)
        let origin = try request.center ?? request.box?.middlePoint ?? Coordinate(latitude: 0, longitude: 0)
        let found = region.places.compactMap { known -> (Int, Candidate)? in
            guard filter.keeps(known.place) else { return nil }
            let measured = Vincenty.meters(from: origin, to: known.place.position)
            let meters = measured ?? Self.antipode.meters
            let tolerance = measured == nil ? Self.antipode.tolerance : Self.precision
            var isInside = true
            if let radius = request.radiusMeters {
                guard meters <= radius + tolerance else { return nil }
                isInside = meters <= radius - tolerance
            }
            return (
                known.place.id,
                Candidate(
                    place: known.place, isCertain: isInside && filter.isFoundByShownName(known),
                    meters: meters, tolerance: tolerance)
            )
        }
        candidates = Dictionary(found, uniquingKeysWith: { first, _ in first })
    }

    /// Compares the first places of this search, or all of them.
    func compare(_ found: [PointOfInterest], isWhole: Bool, into differences: inout Differences) {
        let query = "/locations?\(request.encodedQuery)"
        let ids = Set(found.map(\.id))
        differences.expect(ids.count == found.count, "\(query): a place comes twice")
        for place in found { compare(place, query, into: &differences) }
        let ranked = found.compactMap { candidates[$0.id] }
        for (nearer, farther) in zip(ranked, ranked.dropFirst()) {
            differences.expect(
                Self.mayPrecede(nearer, farther),
                "\(query): place \(nearer.place.id) at \(nearer.meters) m before \(farther.place.id) at \(farther.meters) m"
            )
        }
        for missing in candidates.values where missing.isCertain && !ids.contains(missing.place.id) {
            let mayFollow = !isWhole && ranked.last.map { Self.mayPrecede($0, missing) } ?? false
            differences.expect(
                mayFollow, "\(query): place \(missing.place.id) at \(missing.meters) m is missing")
        }
    }

    /// Checks of the first places that were found by a name that no response shows that they are found by each word of the
    /// search text alone, and not with a word that no name has.
    func compareOtherNames(of found: [PointOfInterest], into differences: inout Differences) async throws {
        guard let text = request.filter.searchText else { return }
        let filter = RegionFilter(request)
        let others = found.filter { place in
            region.place(id: place.id).map { !filter.isFoundByShownName($0) } ?? false
        }
        let words = text.split(separator: " ").map(String.init).filter { !NameWords.SearchText($0).isEmpty }
        let noWord = "qzxjkvwqxzj"
        for place in others.prefix(2) {
            for text in words + ["\(text) \(noWord)", noWord] {
                let isFound = try await place.isFound(by: text)
                differences.expect(
                    isFound != text.hasSuffix(noWord),
                    "place \(place.id), \(place.name), is found by \(words), but \(isFound ? "also" : "not") by \(text)"
                )
            }
        }
    }

    private func compare(_ place: PointOfInterest, _ query: String, into differences: inout Differences) {
        guard let candidate = candidates[place.id] else {
            let why = region.place(id: place.id) == nil ? "isn't in the region" : "doesn't match"
            differences.expect(false, "\(query): place \(place.id), \(place.name), \(why)")
            return
        }
        for difference in place.differences(from: candidate.place) {
            differences.expect(false, "\(query): place \(place.id), \(difference)")
        }
        guard request.center != nil else {
            return differences.expect(place.distance == nil, "\(query): place \(place.id) has a distance")
        }
        guard let distance = place.distance else {
            return differences.expect(false, "\(query): place \(place.id) has no distance")
        }
        let isNear = abs(distance - candidate.meters) <= max(Self.rounding, candidate.tolerance)
        differences.expect(
            isNear,
            "\(query): place \(place.id) has a distance of \(distance) and is at \(candidate.meters) m")
    }

    private static func mayPrecede(_ one: Candidate, _ other: Candidate) -> Bool {
        let isOnePosition =
            one.place.latitude == other.place.latitude && one.place.longitude == other.place.longitude
        return isOnePosition
            ? one.place.id < other.place.id : one.meters <= other.meters + max(one.tolerance, other.tolerance)
    }
}

struct RegionFilter {
    private let box: BoundingBox?
    private let filter: PlaceFilter
    private let searchText: NameWords.SearchText?

    init(_ request: NearbyPlacesRequest) { self.init(request.filter, in: request.box) }

    /// Its cells are counted whole, beyond the box.
    init(_ request: ClustersRequest) { self.init(request.filter, in: nil) }

    private init(_ filter: PlaceFilter, in box: BoundingBox?) {
        (self.filter, self.box) = (filter, box)
        searchText = filter.searchText.map { NameWords.SearchText($0) }
    }

    func keeps(_ place: PointOfInterest) -> Bool {
        if let box, !box.holds(place) { return false }
        if !filter.categories.isEmpty, !filter.categories.contains(place.category) { return false }
        if !filter.datasets.isEmpty, !filter.datasets.contains(where: { $0 == place.source?.dataset }) {
            return false
        }
        return filter.featured.map { $0 == place.featured } ?? true
    }

    /// Whether the name that responses show has the words of the search text.
    func isFoundByShownName(_ known: RegionPlace) -> Bool { searchText?.finds(known.name) ?? true }
}

extension Region {
    static func compareSearches(
        pages: Int = 1, sourceLocation: SourceLocation = #_sourceLocation,
        _ requests: (Region) throws -> [NearbyPlacesRequest]
    ) async throws {
        try await compare(sourceLocation: sourceLocation) { region, differences in
            for request in try requests(region) {
                try await region.compare(request, pages: pages, into: &differences)
            }
        }
    }

    func compare(
        _ request: NearbyPlacesRequest, pages: Int = 1, into differences: inout Differences
    ) async throws {
        let client = try await Service.client()
        let limit = request.limit ?? NearbyPlacesRequest.defaultLimit
        var page = try await client.nearbyPlaces(request)
        var places = page.places
        for number in 1...pages {
            let count = page.places.count
            differences.expect(
                page.next == nil ? count <= limit : count == limit,
                "/locations?\(request.encodedQuery): \(count) places on page \(number)")
            guard number < pages, let following = try await client.nextPage(after: page) else { break }
            page = following
            places += page.places
        }
        let expected = try ExpectedSearch(request, in: self)
        expected.compare(places, isWhole: page.next == nil, into: &differences)
        try await expected.compareOtherNames(of: places, into: &differences)
    }
}

extension PointOfInterest {
    func isFound(by text: String) async throws -> Bool {
        let request = NearbyPlacesRequest(box: try pointBox, limit: 100, searchText: text)
        for try await place in try await Service.client().allNearbyPlacesAsSent(request) where place.id == id
        { return true }
        return false
    }
}

extension BoundingBox {
    fileprivate func holds(_ place: PointOfInterest) -> Bool {
        guard (south...north).contains(place.latitude) else { return false }
        if abs(place.latitude) == 90 { return true }
        let longitudes = abs(place.longitude) == 180 ? [-180, 180] : [place.longitude]
        return longitudes.contains { longitude in
            west <= east
                ? (west...east).contains(longitude)
                : (west...180).contains(longitude) || (-180...east).contains(longitude)
        }
    }

    var middlePoint: Coordinate {
        get throws {
            let width = west <= east ? east - west : east + 360 - west
            let longitude = west + width / 2
            return try Coordinate(
                latitude: (south + north) / 2, longitude: longitude > 180 ? longitude - 360 : longitude)
        }
    }
}
