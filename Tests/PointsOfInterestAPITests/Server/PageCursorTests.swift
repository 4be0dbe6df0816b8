import PointsOfInterestServerAPI
import Randomness
import Testing

@Suite("A page's cursor")
struct PageCursorTests {
    private func code(_ cursor: String, _ request: NearbyPlacesRequest) -> ProblemCode? {
        var request = request
        request.cursor = PageCursor(rawValue: cursor)
        do {
            _ = try NearbyPlacesRequest.decode(query: request.encode().percentEncodedQuery.utf8)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("needs no escape in a query, and is short")
    func isUnreserved() throws {
        var random = SeededGenerator()
        for _ in 0..<500 {
            let request = RandomRequest.nearbyPlaces(using: &random)
            let cursor = PageCursor(RandomRequest.position(using: &random), in: request).rawValue
            #expect(cursor.utf8.count == 44)
            #expect([QueryItem(name: "cursor", value: cursor)].percentEncodedQuery == "cursor=\(cursor)")
        }
    }

    @Test("is refused when any one character of it is another, is lost, or is there twice")
    func refusesEveryCorruption() {
        var random = SeededGenerator()
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ .\u{7F}é")
        for _ in 0..<4 {
            let request = RandomRequest.nearbyPlaces(using: &random)
            let cursor = Array(PageCursor(RandomRequest.position(using: &random), in: request).rawValue)
            #expect(code(String(cursor), request) == nil)
            for position in cursor.indices {
                for character in alphabet where character != cursor[position] {
                    var corrupted = cursor
                    corrupted[position] = character
                    #expect(code(String(corrupted), request) == .malformedCursor, "\(String(corrupted))")
                }
                #expect(
                    code(String(cursor[..<position] + cursor[(position + 1)...]), request) == .malformedCursor
                )
                #expect(code(String(cursor[...position] + cursor[position...]), request) == .malformedCursor)
            }
        }
    }

    @Test("is bound to all of its query but the page's size")
    func isBoundToItsQuery() throws {
        let box = try #require(BoundingBox(west: 0, south: 0, east: 1, north: 1))
        let base = NearbyPlacesRequest(
            center: try Coordinate(latitude: 1, longitude: 2), radiusMeters: 5, limit: 7,
            categories: ["a", "b"],
            searchText: "x", featured: true)
        let cursor = PageCursor(PagePosition(distanceMeters: 1, id: 2, count: 3), in: base).rawValue
        func changed(_ change: (inout NearbyPlacesRequest) -> Void) -> ProblemCode? {
            var request = base
            change(&request)
            return code(cursor, request)
        }
        #expect(changed { _ in } == nil)
        #expect(changed { $0.limit = 8 } == nil)
        #expect(changed { $0.limit = nil } == nil)
        #expect(changed { $0.categories = ["b", "a", "b"] } == nil)
        let other = try Coordinate(latitude: 1, longitude: 2.0.nextUp)
        #expect(changed { $0.center = other } == .cursorMismatch)
        #expect(changed { $0.radiusMeters = 6 } == .cursorMismatch)
        #expect(changed { $0.radiusMeters = nil } == .cursorMismatch)
        #expect(
            changed {
                $0.radiusMeters = nil
                $0.box = box
            } == .cursorMismatch)
        #expect(changed { $0.categories = ["a"] } == .cursorMismatch)
        #expect(changed { $0.categories = [] } == .cursorMismatch)
        #expect(changed { $0.searchText = "y" } == .cursorMismatch)
        #expect(changed { $0.searchText = nil } == .cursorMismatch)
        #expect(changed { $0.featured = false } == .cursorMismatch)
        #expect(changed { $0.featured = nil } == .cursorMismatch)
    }

    @Test(
        "counts no further than four bytes hold, and never below nothing",
        arguments: [
            (Int.max, 4_294_967_295), (4_294_967_296, 4_294_967_295), (-1, 0), (Int.min, 0),
        ])
    func clampsItsCount(count: Int, expected: Int) throws {
        var request = NearbyPlacesRequest(center: try Coordinate(latitude: 1, longitude: 2))
        request.cursor = PageCursor(PagePosition(distanceMeters: 1, id: 2, count: count), in: request)
        #expect(request.position?.count == expected)
    }

    @Test("of another request has no position here")
    func hasNoPositionElsewhere() throws {
        var request = NearbyPlacesRequest(center: try Coordinate(latitude: 1, longitude: 2))
        request.cursor = PageCursor(rawValue: "nonsense")
        #expect(request.position == nil)
        request.cursor = nil
        #expect(request.position == nil)
    }
}
