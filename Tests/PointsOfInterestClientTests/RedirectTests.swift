import Foundation
import Testing

@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Two servers on two ports, so of two origins: the service, and a stranger.
@Suite("A redirect", .timeLimit(.minutes(1)))
struct RedirectTests {
    private let service: LocalListener
    private let stranger: LocalListener
    private let secrets = ["Authorization": "Bearer key", "X-API-Key": "key"]

    init() throws {
        service = try LocalListener()
        stranger = try LocalListener()
    }

    /// The sessions that an app may have.
    enum Session: CaseIterable, Sendable {
        case uncached, own, withDelegate

        func make() -> URLSession {
            switch self {
            case .uncached: .uncached
            case .own: URLSession(configuration: .ephemeral)
            case .withDelegate:
                URLSession(configuration: .uncached, delegate: FollowingDelegate(), delegateQueue: nil)
            }
        }
    }

    private func client(_ session: Session) -> PointsOfInterestService {
        PointsOfInterestService(
            baseURL: service.baseURL, urlSession: session.make(), retryPolicy: .never,
            headers: { [secrets] _ in secrets })
    }

    private func redirect(_ status: Int, to target: String) -> String {
        "HTTP/1.1 \(status) Redirect\r\nLocation: \(target)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    }

    private func json(_ body: String) -> String {
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
            + "Connection: close\r\n\r\n\(body)"
    }

    private var origin: String { service.baseURL.absoluteString }

    @Test(
        "A redirect to another origin isn't followed, so that neither key nor position gets there",
        arguments: [301, 302, 303, 307, 308], Session.allCases)
    func refusesOtherOrigins(status: Int, session: Session) async throws {
        service.respond(redirect(status, to: "\(stranger.baseURL)/locations?lat=1&long=2"))
        stranger.respond(json("[]"))
        defer { stranger.stop() }
        let request = NearbyPlacesRequest(center: try Coordinate(latitude: 1, longitude: 2))
        await #expect(throws: RequestError.redirectRefused(to: stranger.baseURL.absoluteString)) {
            try await client(session).places(request)
        }
        #expect(stranger.requests == [])
        #expect(service.requests.count == 1)
    }

    @Test(
        "A redirect of events isn't followed, and an acknowledgement of its target isn't accepted",
        arguments: [301, 302, 303, 307, 308], [true, false])
    func keepsEvents(status: Int, leadsAway: Bool) async throws {
        let folder = EventFolder()
        let queue = try folder.queue()
        queue.track(.numbered(1))
        let target = leadsAway ? stranger : service
        let acknowledgement = json(#"{"accepted":1,"duplicates":0}"#)
        service.respond(redirect(status, to: "\(target.baseURL)/other"), acknowledgement)
        stranger.respond(acknowledgement)
        defer {
            service.stop()
            stranger.stop()
        }
        let error = await EventUploader(queue: queue, service: client(.uncached)).flush()
        #expect(error == .redirectRefused(to: target.baseURL.absoluteString))
        #expect(queue.count == 1)
        #expect(stranger.requests == [])
        #expect(service.requests.map { $0.prefix(12) } == ["POST /events"])
    }

    @Test(
        "A redirect within the origin is followed with the same method and header fields",
        arguments: [301, 302, 303, 307, 308], Session.allCases)
    func followsOwn(status: Int, session: Session) async throws {
        service.respond(
            redirect(status, to: "/v2/categories?a=b%2Bc#part"), redirect(status, to: "x"),
            redirect(status, to: "\(origin)/v3"), json("[]"))
        #expect(try await client(session).categories() == [])
        let lines = service.requests.map { $0.split(separator: "\r\n") }
        #expect(
            lines.map(\.first) == [
                "GET /categories HTTP/1.1", "GET /v2/categories?a=b%2Bc HTTP/1.1", "GET /v2/x HTTP/1.1",
                "GET /v3 HTTP/1.1",
            ])
        for request in lines {
            #expect(request.contains("Authorization: Bearer key"))
            #expect(request.contains("Accept: application/json"))
        }
    }

    @Test(
        "The details of a place that was merged are those of the other one, also where the service is below a path"
    )
    func followsMerges() async throws {
        let place = #"{"id":84,"name":"a","category":"cafe","latitude":1,"longitude":2,"featured":false}"#
        service.respond(redirect(308, to: "84?lat=1.0&long=2.0&lang=de"), json(place))
        let client = PointsOfInterestService(
            baseURL: service.baseURL.appending(path: "below/this"), retryPolicy: .never,
            headers: { [secrets] _ in secrets })
        let center = try Coordinate(latitude: 1, longitude: 2)
        #expect(try await client.place(id: 12, center: center, languages: ["de"]).id == 84)
        let lines = service.requests.map { $0.split(separator: "\r\n") }
        #expect(lines.first?.first?.hasPrefix("GET /below/this/locations/12?") == true)
        #expect(lines.last?.first == "GET /below/this/locations/84?lat=1.0&long=2.0&lang=de HTTP/1.1")
        #expect(lines.allSatisfy { $0.contains("Authorization: Bearer key") })
    }

    @Test("Redirects are followed five times at most")
    func isBounded() async throws {
        let again = redirect(302, to: "/categories")
        service.respond(again, again, again, again, again, again, json("[]"))
        defer { service.stop() }
        await #expect(throws: RequestError.redirectRefused(to: origin)) {
            try await client(.uncached).categories()
        }
        #expect(service.requests.count == 6)
    }

    @Test(
        "A redirect to another origin is refused, however its target is written",
        arguments: [
            ("https://h/a", "http://h/a"), ("https://h/a", "http://h:443/a"),
            ("https://h/a", "https://h:444/a"),
            ("https://h/a", "//g/a"), ("https://h/a", "https://h@g/a"), ("https://h/a", "https://h.g/a"),
            ("https://h/a", "ftp://h/a"), ("https://h/a", "javascript:a"), ("https://h/a", "https:///a"),
            ("http://h/a", "https://h/a"), ("http://[::1]:80/a", "http://[::2]/a"),
        ])
    func isAnother(url: String, target: String) throws {
        let request = URLRequest(url: try #require(URL(string: url)))
        #expect(throws: RequestError.self) { try request.redirected(by: .test(302, ["Location": target])) }
    }

    @Test(
        "A redirect within the origin keeps scheme, host and port literally",
        arguments: [
            ("https://H/a", "https://h:443/b?c", "https://H/b?c"), ("https://h/a/b", "../c", "https://h/c"),
            ("http://[::1]:8080/a", "http://[::1]:8080/b", "http://[::1]:8080/b"),
            ("https://u:p@h/a", "https://x:y@h/b", "https://u:p@h/b"),
        ])
    func isOwn(url: String, target: String, expected: String) throws {
        let request = URLRequest(url: try #require(URL(string: url)))
        #expect(
            try request.redirected(by: .test(302, ["Location": target]))?.url?.absoluteString == expected)
    }

    #if canImport(FoundationNetworking)
        @Test("A redirect of a cancelled task is ignored, since on Linux calling its handler would trap")
        func comesTooLate() throws {
            let url = try #require(URL(string: "https://h/a"))
            let task = URLSession.uncached.dataTask(with: url)
            task.cancel()
            let response = try #require(
                HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: nil))
            RedirectRefusal.shared.urlSession(
                .uncached, task: task, willPerformHTTPRedirection: response, newRequest: URLRequest(url: url)
            ) { _ in Issue.record("the redirect has a consequence") }
        }
    #endif

    @Test("A redirect without a target is a response like any other", arguments: [302, 304, 300])
    func hasNoTarget(status: Int) async throws {
        service.respond("HTTP/1.1 \(status) No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await #expect(throws: RequestError.unexpectedStatus(status)) {
            try await client(.uncached).categories()
        }
    }
}

/// A session's delegate that would follow each redirect, as an app's own may.
private final class FollowingDelegate: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(request)
    }
}
