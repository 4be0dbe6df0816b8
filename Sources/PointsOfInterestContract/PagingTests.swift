import Foundation
import PointsOfInterestClient
import Testing

@Suite("Pages", .timeLimit(.minutes(2)))
struct PagingTests {
    private func box() throws -> BoundingBox {
        try #require(BoundingBox(west: -180, south: -90, east: 180, north: 90))
    }

    @Test(
        "Pages are full but for the last, go on where the one before ended, and repeat nothing",
        .contract(
            .invariant, .recorded, in: .locations,
            otherwise: "A list that is scrolled shows a place twice, or never."), .needs(places: 1))
    func pages() async throws {
        let service = try await Service.client()
        let center = try await Service.center()
        let request = NearbyPlacesRequest(center: center, radiusMeters: 5000, limit: 7)
        var pages: [[PointOfInterest]] = []
        let pager = service.pager(for: request)
        while let page = try await pager.loadNext() {
            pages.append(page.places)
            if pages.count == 20 { break }
        }
        let places = pages.flatMap(\.self)
        #expect(!places.isEmpty)
        #expect(pages.dropLast().allSatisfy { $0.count == 7 })
        #expect(Set(places.map(\.id)).count == places.count)
        #expect(places.compactMap(\.distance) == places.compactMap(\.distance).sorted())
        let whole = try await service.nearbyPlaces(
            NearbyPlacesRequest(center: center, radiusMeters: 5000, limit: 100)
        ).places
        #expect(Array(places.prefix(100)) == Array(whole.prefix(places.count)))
    }

    @Test(
        "Pages of any size have every place of the seeds once, in the same order",
        .contract(.seeded, in: .locations, otherwise: "A list that is scrolled to its end lacks a place."),
        arguments: [20, 100])
    func everything(limit: Int) async throws {
        let service = try await Service.client()
        let center = try await Service.center()
        let request = NearbyPlacesRequest(center: center, limit: limit)
        var places: [PointOfInterest] = []
        for try await place in service.allNearbyPlacesAsSent(request) { places.append(place) }
        let expected = try Seed.ranked(from: center)
        let unmeasured = try Seed.all().count - expected.count
        #expect(places.count == expected.count + unmeasured)
        #expect(Set(places.map(\.id)).count == places.count)
        // Vincenty's formula says nothing of antipodes, and nothing below its precision.
        let slugs = places.compactMap { $0.source?.id }
        #expect(Array(slugs.prefix(150)) == expected.prefix(150).map(\.slug))
    }

    @Test(
        "A box without a centre has pages too",
        .contract(
            .invariant, .recorded, in: .locations,
            otherwise: "A map shows the first page of its places for all of them."), .needsIndex)
    func boxPages() async throws {
        let service = try await Service.client()
        let whole = try await service.nearbyPlaces(NearbyPlacesRequest(box: try box(), limit: 30)).places
        var paged: [PointOfInterest] = []
        for try await place in service.allNearbyPlacesAsSent(NearbyPlacesRequest(box: try box(), limit: 4)) {
            paged.append(place)
            if paged.count == whole.count { break }
        }
        #expect(paged == whole)
    }

    @Test(
        "A page has a link unless it is the last",
        .contract(
            .invariant, .recorded, in: .locations,
            otherwise: "The list ends too early, or loads an empty page at its end."), .needs(places: 10))
    func lastPage() async throws {
        let service = try await Service.client()
        let center = try await Service.center()
        let all = try await service.nearbyPlaces(NearbyPlacesRequest(center: center, limit: 10)).places
        let radius = try #require(all.last?.distance) + 0.06
        let count = try await service.nearbyPlaces(
            NearbyPlacesRequest(center: center, radiusMeters: radius, limit: 100)
        ).places.count
        func next(_ limit: Int) async throws -> URL? {
            try await service.nearbyPlaces(
                NearbyPlacesRequest(center: center, radiusMeters: radius, limit: limit)
            ).next
        }
        #expect(try await next(count - 1) != nil)
        guard count == 100 else {
            #expect(try await next(count) == nil)
            #expect(try await next(count + 1) == nil)
            return
        }
        // A full page of the maximum size need not hold all: the pages behind it show whether more places follow.
        let whole = NearbyPlacesRequest(center: center, radiusMeters: radius, limit: count)
        var total = 0
        let pager = service.pager(for: whole)
        while let page = try await pager.loadNext() {
            total += page.places.count
            if total > count { break }
        }
        #expect(try await (next(count) != nil) == (total > count))
    }

    @Test(
        "A cursor may be used with another page size, and is refused in another query",
        .contract(
            .invariant, .recorded, in: .locations,
            otherwise: "Pages of two lists are mixed, and nobody notices."), .needs(places: 4))
    func cursor() async throws {
        let response = try await Service.response(to: "/locations?lat=37.3293&long=-121.8893&limit=3")
        let link = try #require(response.header("Link"))
        let cursor = try #require(try /cursor=([A-Za-z0-9_-]+)/.firstMatch(in: link)?.output.1)
        let other = "/locations?lat=37.3294&long=-121.8893&cursor=\(cursor)"
        #expect(try await Service.problem(of: other)?.code == .cursorMismatch)
        let same = "/locations?lat=37.3293&long=-121.8893&limit=5&cursor=\(cursor)"
        #expect(try await Service.response(to: same).status == 200)
        let made = "/locations?lat=37.3293&long=-121.8893&cursor=AAAA"
        #expect(try await Service.problem(of: made)?.code == .malformedCursor)
    }

    @Test(
        "The next page has the properties and the languages of the first, however they were written",
        .contract(
            .invariant, .recorded, in: .locations,
            otherwise: "A list changes its language, or loses its opening hours, where the user scrolls on."),
        arguments: [
            ("properties=b,a%2Cc,b", "properties=a%2cc,b", "&properties=a%2Cc,b&", ""),
            ("lang=zh-Hant-TW,EN,en", "lang=ZH-hant-tw,en", "&lang=zh-hant-tw,en&", "&lang=en,zh-hant-tw"),
        ])
    func content(first: String, same: String, linked: String, other: String) async throws {
        let target = "/locations?lat=37.3293&long=-121.8893&limit=1"
        let one = try await Service.response(to: "\(target)&\(first)")
        let two = try await Service.response(to: "\(target)&\(same)")
        #expect(one.status == 200)
        #expect(one.header("Link") == two.header("Link"))
        #expect(one.header("ETag") == two.header("ETag"))
        if let link = one.header("Link") { #expect(link.contains(linked), "\(link)") }
        let tag = try await Service.response(to: target + other).header("ETag")
        #expect(tag == nil || tag != one.header("ETag"))
    }
}
