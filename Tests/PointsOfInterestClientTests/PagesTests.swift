import Locking
import Foundation
@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP
import PointsOfInterestTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("The pages of nearby places", .timeLimit(.minutes(1)))
struct PagesTests {
    /// A network on which each request has the places and the `Link` that a function makes of its query.
    private func network(
        _ respond: @escaping @Sendable (_ query: String) -> (ids: [Int], link: String?)
    ) throws -> MockNetwork {
        try MockNetwork { request in
            let url = try #require(request.url)
            let (ids, link) = respond(url.query ?? "")
            let response = try #require(
                HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: "HTTP/1.1",
                    headerFields: link.map { ["Link": "<\($0)>; rel=\"next\""] }))
            let places = ids.map {
                PointOfInterest(id: $0, name: "", category: "", latitude: 0, longitude: 0)
            }
            return (response, try JSONEncoder().encode(places))
        }
    }

    private func pager(on network: MockNetwork) throws -> PlacePager {
        PointsOfInterestService(baseURL: network.baseURL, urlSession: network.session, retryPolicy: .never)
            .pager(for: NearbyPlacesRequest(center: try Coordinate(latitude: 1, longitude: 2)))
    }

    /// How many pages there were before the error, and the error.
    private func walk(_ network: MockNetwork) async throws -> (count: Int, error: RequestError?) {
        var count = 0
        let pager = try pager(on: network)
        do {
            while try await pager.loadNext() != nil { count += 1 }
            return (count, nil)
        } catch {
            let first = try #require(error as? RequestError)
            await #expect(throws: first, "the same page again") { try await pager.loadNext() }
            return (count, first)
        }
    }

    @Test("Pages are loaded when they are wanted, not before")
    func areLazy() async throws {
        let count = Lock(0)
        let network = try network { _ in
            let page = count.withLock { count in
                count += 1
                return count
            }
            return ([2 * page, 2 * page + 1], "?page=\(page)")
        }
        let pager = try pager(on: network)
        #expect(count.withLock { $0 } == 0)
        _ = try await pager.loadNext()
        #expect(count.withLock { $0 } == 1)
        var ids: [Int] = []
        let places = PointsOfInterestService(baseURL: network.baseURL, urlSession: network.session)
            .allNearbyPlaces(NearbyPlacesRequest(center: try Coordinate(latitude: 1, longitude: 2)))
        for try await place in places {
            ids.append(place.id)
            if ids.count == 4 { break }
        }
        #expect(ids == [4, 5, 6, 7])
        #expect(count.withLock { $0 } == 3)
    }

    @Test("All places come once each, also where a page repeats some")
    func comeOnce() async throws {
        let network = try network { query in query == "page=2" ? ([2, 3, 3], nil) : ([1, 2, 1], "?page=2") }
        var ids: [Int] = []
        let places = PointsOfInterestService(baseURL: network.baseURL, urlSession: network.session)
            .allNearbyPlaces(NearbyPlacesRequest(center: nil))
        for try await place in places { ids.append(place.id) }
        #expect(ids == [1, 2, 3])
    }

    @Test("A link to another host costs no page: only who goes on fails, and nothing is sent there")
    func showPagesWithForeignLinks() async throws {
        let count = Lock(0)
        let network = try network { _ in
            count.withLock { $0 += 1 }
            return ([1], "https://evil.test/?page=2")
        }
        let (pages, error) = try await walk(network)
        #expect(pages == 1)
        #expect(error == .undecodableBody(reason: "the next page is not on the service's host"))
        #expect(count.withLock { $0 } == 1)
    }

    @Test("A single empty page is no error")
    func mayBeEmpty() async throws {
        let (count, error) = try await walk(try network { _ in ([], nil) })
        #expect(count == 1)
        #expect(error == nil)
    }

    @Test(
        "Pages that link in a circle end with an error, after what is in them",
        arguments: [("?page=2", 2), ("?lat=1&long=2", 1)])
    func refuseCircles(link: String, expected: Int) async throws {
        let (count, error) = try await walk(try network { _ in ([1], link) })
        #expect(count == expected)
        #expect(error == .undecodableBody(reason: "a page links to one before it"))
    }

    @Test(
        "A page that links to one further back ends with an error, too",
        arguments: [("?lat=1&long=2", 3), ("?page=2", 3)])
    func refuseLongCircles(link: String, expected: Int) async throws {
        let (count, error) = try await walk(
            try network { query in
                switch query {
                case "page=2": ([2], "?page=3")
                case "page=3": ([3], link)
                default: ([1], "?page=2")
                }
            })
        #expect(count == expected)
        #expect(error == .undecodableBody(reason: "a page links to one before it"))
    }

    @Test("After an empty page that links on there is an error")
    func refuseEndlessNothing() async throws {
        let count = Lock(0)
        let network = try network { _ in
            let page = count.withLock { count in
                count += 1
                return count
            }
            return ([], "?page=\(page)")
        }
        let (walked, error) = try await walk(network)
        #expect(walked == 1)
        #expect(error == .undecodableBody(reason: "an empty page links to another one"))
    }
}

@Suite("A link to the next page")
struct NextPageTests {
    private func next(_ target: String, base: String, respondingURL: String? = nil) throws -> String? {
        let request = NearbyPlacesEndpoint(baseURL: try #require(URL(string: base)))
        let head = ResponseHead(
            status: 200, url: URL(string: respondingURL ?? base + "/locations?lat=1&long=2"),
            fields: ["LINK": "<\(target)>; rel=\"next\""])
        return try request.parseResponse(data: Data("[]".utf8), head: head).next?.absoluteString
    }

    @Test(
        "A link is resolved against the URL of the response, behind any prefix",
        arguments: [
            ("?c=1", "https://h", "https://h/locations?c=1"),
            ("?c=1", "https://h/api/v1", "https://h/api/v1/locations?c=1"),
            ("/other?c=1", "https://h/api", "https://h/other?c=1"),
            ("https://H:443/x?c=1", "https://h", "https://H:443/x?c=1"),
            ("?c=a%2Bb", "http://127.0.0.1:8080", "http://127.0.0.1:8080/locations?c=a%2Bb"),
            ("?c=1", "http://[::1]:8080", "http://[::1]:8080/locations?c=1"),
        ])
    func isResolved(target: String, base: String, expected: String) throws {
        #expect(try next(target, base: base) == expected)
    }

    @Test("A link may lead to HTTPS if the system has gone there by itself")
    func mayUpgrade() throws {
        #expect(
            try next("?c=1", base: "http://h", respondingURL: "https://h/locations?lat=1")
                == "https://h/locations?c=1")
    }

    @Test(
        "A link that leads away from the service costs no page, and is refused when it is followed",
        arguments: [
            ("https://evil.test/?c=1", nil), ("//evil.test/?c=1", nil), ("http://h/?c=1", nil),
            ("https://h:8443/?c=1", nil), ("ftp://h/?c=1", nil), ("https://h.evil.test/", nil),
            ("https://h@evil.test/", nil), ("javascript:x", nil), ("https:///x", nil), ("", nil),
            // Relative to a host that the request was redirected to.
            ("?c=1", "https://evil.test/locations"), ("?c=1", "http://h/locations"),
        ])
    func isRefused(target: String, respondingURL: String?) throws {
        let next = try #require(try next(target, base: "https://h", respondingURL: respondingURL))
        let request = NearbyPlacesEndpoint(baseURL: try #require(URL(string: "https://h")))
        let url = try #require(URL(string: next))
        #expect(throws: RequestError.undecodableBody(reason: "the next page is not on the service's host")) {
            try request.makeRequest(from: .linked(url))
        }
    }

    @Test("A linked page is requested only from the service's host")
    func isAskedForThere() throws {
        let request = NearbyPlacesEndpoint(baseURL: try #require(URL(string: "https://h/api")))
        let own = try #require(URL(string: "https://h/api/locations?c=1"))
        #expect(try request.makeRequest(from: .linked(own)).url == own)
        #expect(
            try request.makeRequest(from: .linked(own)).cachePolicy == .reloadIgnoringLocalCacheData)
        let other = try #require(URL(string: "https://evil.test/api/locations?c=1"))
        #expect(throws: RequestError.self) { try request.makeRequest(from: .linked(other)) }
    }
}
