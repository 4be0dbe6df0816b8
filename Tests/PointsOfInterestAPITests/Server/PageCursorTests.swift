import Bytes
import PointsOfInterestAPI
import Randomness
import Testing

@testable import PointsOfInterestServerAPI

@Suite("A page's cursor")
struct PageCursorTests {
    private func code(_ cursor: String, _ request: NearbyPlacesRequest) -> ProblemCode? {
        var request = request
        request.cursor = PageCursor(rawValue: cursor)
        do {
            _ = try NearbyPlacesRequest.decode(query: request.encodedQuery.utf8)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("A cursor has 44 characters, by relevance 47, none of which needs an escape in a query")
    func isUnreserved() throws {
        var random = SeededGenerator()
        for _ in 0..<500 {
            let request = RandomRequest.nearbyPlaces(using: &random)
            let cursor = PageCursor(RandomRequest.position(in: request, using: &random), in: request).rawValue
            #expect(cursor.utf8.count == (request.sort == nil ? 44 : 47))
            var query = QueryWriter()
            query.add("cursor", cursor)
            let text = query.text
            #expect(text == "cursor=\(cursor)")
        }
    }

    @Test("A cursor with one changed, missing or repeated character is refused")
    func refusesEveryCorruption() {
        var random = SeededGenerator()
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ .\u{7F}é")
        for _ in 0..<4 {
            let request = RandomRequest.nearbyPlaces(using: &random)
            let cursor = PageCursor(RandomRequest.position(in: request, using: &random), in: request)
            expectRefused(Array(cursor.rawValue), alphabet, request)
        }
    }

    /// Expects that every corruption of a cursor is refused.
    private func expectRefused(
        _ cursor: [Character], _ alphabet: [Character], _ request: NearbyPlacesRequest
    ) {
        #expect(code(String(cursor), request) == nil)
        for position in cursor.indices {
            for character in alphabet where character != cursor[position] {
                var corrupted = cursor
                corrupted[position] = character
                #expect(code(String(corrupted), request) == .malformedCursor, "\(String(corrupted))")
            }
            #expect(
                code(String(cursor[..<position] + cursor[(position + 1)...]), request) == .malformedCursor)
            #expect(code(String(cursor[...position] + cursor[position...]), request) == .malformedCursor)
        }
    }

    @Test("A cursor of another order is refused, though it has the query's fingerprint")
    func isOfItsOrder() {
        let byRelevance = NearbyPlacesRequest(searchText: "a")
        let rank = RelevanceRank(.beginning, importance: 7)
        let byDistance = PagePosition(distanceMeters: 1, id: 2, count: 3)
        let ranked = PagePosition(rank: rank, distanceMeters: 1, id: 2, count: 3)
        #expect(code(PageCursor(ranked, in: byRelevance).rawValue, byRelevance) == nil)
        var near = NearbyPlacesRequest(
            searchText: "a", center: Coordinate(validLatitude: 1, validLongitude: 2))
        let cursor = PageCursor(ranked, in: near).rawValue
        near.nearMeters = 6
        #expect(code(cursor, near) == .cursorMismatch)
        #expect(code(PageCursor(byDistance, in: byRelevance).rawValue, byRelevance) == .malformedCursor)
        near.sort = nil
        #expect(code(PageCursor(ranked, in: near).rawValue, near) == .malformedCursor)
        #expect(RelevanceRank(checking: rank.packed) == rank)
        #expect(rank.group == .words && rank.points == 307)
        for packed: UInt16 in [4095 - 3501, 5 << 12, .max] { #expect(RelevanceRank(checking: packed) == nil) }
    }

    @Test("A rank is the group, then the points of the class, the importance and of being near")
    func rank() {
        let ranks = [
            RelevanceRank(.name, importance: 1000, isNear: true), RelevanceRank(.name, importance: 1000),
            RelevanceRank(.surroundingsOnly, importance: 400, isNear: true),
            RelevanceRank(.category, importance: 1000), RelevanceRank(.beginning, importance: 1000),
            RelevanceRank(.words, importance: 0), RelevanceRank(.surroundingsOnly, importance: 0),
            RelevanceRank(.error, importance: 1000, isNear: true),
            RelevanceRank(.begunError, importance: 1), RelevanceRank(.twoErrors, importance: 1),
            RelevanceRank(.name, importance: 1, leavesOut: true),
        ]
        #expect(ranks.sorted() == ranks)
        #expect(ranks.map(\.points) == [3500, 2000, 1900, 1800, 1300, 100, 0, 2500, 1, 1, 1001])
        #expect(ranks.map(\.group.rawValue) == [0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4])
        for rank in ranks { #expect(RelevanceRank(checking: rank.packed) == rank) }
    }

    @Test("A cursor is bound to all of its query but the page's size")
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
        #expect(changed { $0.sort = .relevance } == .cursorMismatch)
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
        "A cursor's count is kept between zero and the maximum of four bytes",
        arguments: [
            (Int.max, 4_294_967_295), (4_294_967_296, 4_294_967_295), (-1, 0), (Int.min, 0),
        ])
    func clampsItsCount(count: Int, expected: Int) throws {
        var request = NearbyPlacesRequest(center: try Coordinate(latitude: 1, longitude: 2))
        request.cursor = PageCursor(PagePosition(distanceMeters: 1, id: 2, count: count), in: request)
        #expect(request.start == PagePosition(distanceMeters: 1, id: 2, count: expected))
    }

    @Test("A cursor's form stays the same, since servers of two releases run side by side")
    func keepsItsForm() throws {
        let cursor = "AYSixrBx0VpEQJNKRW1c-q0AAAAAAAAAKgAAABTguz7C"
        var request = NearbyPlacesRequest(center: try Coordinate(latitude: 37.3293, longitude: -121.8893))
        request.cursor = PageCursor(rawValue: cursor)
        let position = PagePosition(distanceMeters: 1234.5678, id: 42, count: 20)
        #expect(request.start == position)
        request.limit = 7
        #expect(code(cursor, request) == nil)
        #expect(PageCursor(position, in: request).rawValue == cursor)
        request.featured = true
        #expect(code(cursor, request) == .cursorMismatch)
    }

    @Test("A cursor is the same wherever the page's size is in the query")
    func ignoresLimit() throws {
        let box = try #require(BoundingBox(west: 0, south: 0, east: 1, north: 1))
        let center = try Coordinate(latitude: 1, longitude: 2)
        for request in [
            NearbyPlacesRequest(box: box), NearbyPlacesRequest(center: center),
            NearbyPlacesRequest(center: center, featured: true), NearbyPlacesRequest(center: nil),
        ] {
            var limited = request
            limited.limit = 9
            #expect(WrittenQuery(limited).fingerprint == StableHash.hash(request.encodedQuery))
        }
    }

    @Test("The link to the next page has that page's cursor instead of the current one")
    func isLinked() throws {
        var request = NearbyPlacesRequest(center: try Coordinate(latitude: 1, longitude: 2), limit: 3)
        let end = PagePosition(distanceMeters: 1, id: 4, count: 3)
        let cursor = PageCursor(end, in: request)
        let expected = "<?lat=1&long=2&limit=3&cursor=\(cursor.rawValue)>; rel=\"next\""
        for page in [nil, PageCursor(rawValue: "some"), cursor] {
            request.cursor = page
            var query = WrittenQuery(request)
            #expect(String(decoding: query.makeNextPageLink(behind: end), as: UTF8.self) == expected)
        }
    }

    @Test("A request with a malformed cursor, or none, has no start")
    func hasNoPositionElsewhere() throws {
        var request = NearbyPlacesRequest(center: try Coordinate(latitude: 1, longitude: 2))
        request.cursor = PageCursor(rawValue: "nonsense")
        #expect(request.start == nil)
        request.cursor = nil
        #expect(request.start == nil)
    }
}

extension PageCursor {
    /// A cursor with any numbers.
    init(
        bytes revision: [UInt8], _ request: NearbyPlacesRequest, _ numbers: [Double], _ id: Int64,
        _ count: Int
    ) {
        var bytes = ByteBuffer(capacity: 64)
        bytes.append(revision)
        bytes.append(bigEndian: WrittenQuery(request).fingerprint)
        for number in numbers { bytes.append(bigEndian: number.bitPattern) }
        bytes.append(bigEndian: id)
        bytes.append(bigEndian: UInt32(clamping: count))
        let checksum = StableHash.hash(bytes.bytes)
        bytes.append(bigEndian: UInt32(truncatingIfNeeded: checksum))
        self.init(rawValue: Base64URL.encode(bytes.bytes))
    }
}
