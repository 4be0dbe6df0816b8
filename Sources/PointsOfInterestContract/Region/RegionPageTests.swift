import Foundation
import PointsOfInterestClient
import Testing

@Suite("Pages of searches in a region", .timeLimit(.minutes(2)))
struct RegionPageTests {
    /// The most pages that a test follows.
    private static let maximumPages = 6

    /// Follows the pages of a search, compares what comes with brute force, and each link with the request.
    private func comparePages(
        _ request: NearbyPlacesRequest, in region: Region, into differences: inout Differences
    ) async throws {
        let expected = try ExpectedSearch(request, in: region)
        let client = try await Service.client()
        let limit = request.limit ?? NearbyPlacesRequest.defaultLimit
        var page = try await client.nearbyPlaces(request)
        var places = page.places
        for _ in 1..<Self.maximumPages {
            guard let next = page.next else { break }
            try compare(next, request, into: &differences)
            differences.expect(
                page.places.count, is: limit, "a page with a link to another, \(next.query ?? "")")
            guard let following = try await client.nextPage(after: page) else { break }
            page = following
            places += page.places
        }
        // Without a link these are all, whatever the limit.
        expected.compare(places, limit: page.next == nil ? Int.max : places.count, into: &differences)
        try await expected.compareOtherNames(of: places, into: &differences)
    }

    /// The link to the next page has every filter of the request.
    private func compare(
        _ next: URL, _ request: NearbyPlacesRequest, into differences: inout Differences
    ) throws {
        let items = URLComponents(url: next, resolvingAgainstBaseURL: true)?.queryItems ?? []
        func values(_ name: String) -> [String] { items.filter { $0.name == name }.compactMap(\.value) }
        func numbers(_ name: String) -> [Double] {
            values(name).flatMap { $0.split(separator: ",") }.compactMap { Double($0) }
        }
        let query = next.query ?? ""
        let box = request.box.map { [$0.west, $0.south, $0.east, $0.north] }
        for (name, expected) in [
            ("lat", request.center.map { [$0.latitude] }), ("long", request.center.map { [$0.longitude] }),
            ("radius", request.radiusMeters.map { [$0] }), ("bbox", box),
            ("limit", request.limit.map { [Double($0)] }),
        ] {
            differences.expect(numbers(name), is: expected ?? [], "\(name) of the link \(query)")
        }
        let categories = values("category").flatMap { $0.split(separator: ",").map(String.init) }
        differences.expect(Set(categories), is: Set(request.categories), "category of the link \(query)")
        // In a dataset's name, a comma is escaped.
        let datasets =
            URLComponents(url: next, resolvingAgainstBaseURL: true)?.percentEncodedQueryItems?
            .filter { $0.name == "dataset" }.compactMap(\.value)
            .flatMap { $0.split(separator: ",").compactMap(\.removingPercentEncoding) } ?? []
        differences.expect(Set(datasets), is: Set(request.datasets), "dataset of the link \(query)")
        differences.expect(
            values("q"), is: request.searchText.map { [$0] } ?? [], "q of the link \(query)")
        differences.expect(
            values("featured"), is: request.featured.map { ["\($0)"] } ?? [], "featured of the link \(query)")
        differences.expect(values("cursor").count, is: 1, "cursors of the link \(query)")
    }

    @Test(
        "The pages of a filtered search have each of its places once, and each link has all of its filters",
        .contract(
            .invariant, in: .locations,
            otherwise: "A list that goes on while it is scrolled would show places that don't match."),
        .needs(.morePages))
    func filteredPages() async throws {
        try await Region.compare { region, differences in
            // Best one with several pages, but no more than are followed.
            let counts = Dictionary(grouping: region.places, by: \.place.category).mapValues(\.count)
            let categories = region.categories
            let category =
                categories.first { (8...7 * Self.maximumPages).contains(counts[$0, default: 0]) }
                ?? categories[0]
            var request = NearbyPlacesRequest(box: region.box, limit: 7, categories: [category])
            request.center = region.first { $0.category != category }.map {
                Coordinate(validLatitude: $0.latitude, validLongitude: $0.longitude)
            }
            try await comparePages(request, in: region, into: &differences)
            if let dataset = region.first(where: { $0.source != nil })?.source?.dataset {
                (request.categories, request.datasets) = ([], [dataset])
                try await comparePages(request, in: region, into: &differences)
            }
        }
    }

    @Test(
        "The pages of a search for a text, around a centre or in a box, have each match once",
        .contract(
            .invariant, in: .locations,
            otherwise: "A search's list would repeat places, or end before the last."),
        .needs(.word))
    func textPages() async throws {
        try await Region.compare { region, differences in
            let word = try region.needed(\.word, .word)
            let place = try #require(region.first { NameWords($0.name).match(word) })
            let disc = try #require(region.disc)
            let around = NearbyPlacesRequest(
                center: disc.center.position, radiusMeters: max(0.1, disc.radius), limit: 7, searchText: word)
            try await comparePages(around, in: region, into: &differences)
            let box = NearbyPlacesRequest(
                box: region.box, limit: 4, searchText: String(word.prefix(3)), featured: place.featured)
            try await comparePages(box, in: region, into: &differences)
        }
    }

    @Test(
        "Places at one position come in ascending order of id, on one page and over several",
        .contract(
            .invariant, in: .locations,
            otherwise: "Places in one building would change their order, or vanish between two pages."),
        .needs(.onePosition))
    func ties() async throws {
        try await Region.compare { region, differences in
            guard let crowd = region.crowds.first else { throw NotShown(fact: .onePosition) }
            let position = try Coordinate(latitude: crowd[0].latitude, longitude: crowd[0].longitude)
            var request = NearbyPlacesRequest(box: region.box, limit: 1)
            request.center = position
            try await comparePages(request, in: region, into: &differences)
            request.limit = 100
            try await region.compare(request, into: &differences)
            // Seen from elsewhere, too.
            request.center = region.places[region.places.count / 2].position
            request.categories = Array(Set(crowd.prefix(50).map(\.category)))
            try await region.compare(request, into: &differences)
        }
    }

    @Test(
        "A page as GeoJSON has the places of the page as JSON, with all members",
        .contract(
            .invariant, in: .forms,
            otherwise: "A map that reads GeoJSON would say something else of a place than the list."),
        .needs(.place))
    func geoJSON() async throws {
        try await Region.compare { region, differences in
            var request = NearbyPlacesRequest(
                box: region.box, limit: 50, categories: Array(region.categories.prefix(3)))
            request.center = try #require(region.quarter).middlePoint
            let places = try await Service.geoJSONPlaces(request)
            differences.expect(!places.contains(nil), "a feature isn't a point")
            let expected = try ExpectedSearch(request, in: region)
            expected.compare(places.compactMap(\.self), limit: 50, into: &differences)
        }
    }
}
