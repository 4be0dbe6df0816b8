import Foundation
import Loopback
import PointsOfInterestTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("A fault of the mock reaches the app's client", .timeLimit(.minutes(2)))
struct FaultTests {
    /// What a request for places fails with under a fault, and then no more.
    private func failure(_ fault: MockFault) async throws -> RequestError? {
        let session = try await SharedMock.session()
        try await session.setFaults([MockFaultRule(path: "/locations", times: 1, fault: fault)])
        let error = await #expect(throws: RequestError.self) { try await session.places() }
        #expect(try await session.places().count == 20)
        #expect(try await session.faults().map(\.timesUsed) == [1])
        #expect(try await session.journal().requests.map(\.fault) == [fault.kind, nil])
        try await session.end()
        return error
    }

    private func problem(_ fault: MockFault) async throws -> Problem {
        guard let problem = try await failure(fault)?.problem else { throw CancellationError() }
        return problem
    }

    @Test("A fault can be a problem, of HTTP's own code or of another")
    func asAProblem() async throws {
        let plain = try await problem(.problem(status: 503))
        #expect(plain.code == .overloaded)
        #expect(plain.requestId != nil)
        let other = try await problem(.problem(status: 503, code: "database-busy", detail: "Later."))
        #expect(other.code == .databaseBusy)
        #expect(other.status == 503)
        #expect(other.detail == "Later.")
        #expect(other.title == Problem(.databaseBusy).title)
    }

    @Test("A fault can be a page of another server, whatever its status")
    func asAPage() async throws {
        for status in [200, 502] {
            #expect(
                try await failure(.page(status: status))
                    == .foreignResponse(status: status, mediaType: "text/html"))
        }
    }

    @Test(
        "A fault can be a lost connection",
        arguments: [.reset, .truncatedBody(), .truncatedBody(bytes: 0)] as [MockFault])
    func asALostConnection(fault: MockFault) async throws {
        let error = try await failure(fault)
        guard error?.urlErrorCode != nil else {
            Issue.record("\(fault) came as \(String(describing: error))")
            return
        }
        // The fault is temporary: a client with a retry policy tries again.
        let session = try await SharedMock.session()
        try await session.setFaults([MockFaultRule(times: 1, fault: fault)])
        let service = PointsOfInterestService(
            baseURL: session.baseURL, retryPolicy: RetryPolicy(firstPause: .zero))
        #expect(try await service.place(id: 84).id == 84)
        #expect(try await session.journal().requests.map(\.status).last == 200)
        try await session.end()
    }

    @Test("A fault can be the loss of the response to a request that was done")
    func asALostResponse() async throws {
        let session = try await SharedMock.session()
        try await session.setFaults([MockFaultRule(method: "POST", times: 1, fault: .lostResponse)])
        var request = URLRequest(url: session.baseURL.appending(path: "locations"))
        request.httpMethod = "POST"
        request.setValue("Bearer \(MockEditor.key)", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue("a-key", forHTTPHeaderField: "Idempotency-Key")
        request.httpBody = Data(
            #"{"name": "New", "category": "zoo", "latitude": 80, "longitude": 170}"#.utf8)
        let urlSession = URLSession(configuration: .ephemeral)
        await #expect(throws: URLError.self) { try await urlSession.data(for: request) }
        // It is sent again as a client does that doesn't know what has become of it.
        let (_, response) = try await urlSession.data(for: request)
        #expect((response as? HTTPURLResponse)?.statusCode == 201)
        let there = NearbyPlacesRequest(center: try Coordinate(latitude: 80, longitude: 170), radiusMeters: 1)
        #expect(try await session.service.nearbyPlaces(there).places.map(\.name) == ["New"])
        #expect(try await session.journal().requests.map(\.fault) == [.lostResponse, nil, nil])
        try await session.end()
    }

    @Test("A fault can be a body that can't be decoded")
    func asMalformedJSON() async throws {
        guard case .damagedBody = try await failure(.malformedJSON)?.reason else {
            Issue.record("half of a document was taken for a whole")
            return
        }
        // Though it has a tag, a client that keeps responses doesn't keep that one, and one that has a good response gets the
        // fault all the same.
        let session = try await SharedMock.session()
        let service = PointsOfInterestService(baseURL: session.baseURL)
        let fault = MockFaultRule(times: 1, fault: .malformedJSON)
        for _ in 0..<2 {
            try await session.setFaults([fault])
            await #expect(throws: RequestError.self) { try await service.place(id: 84) }
            #expect(try await service.place(id: 84).id == 84)
        }
        try await session.end()
    }

    @Test("A fault can be a body that is larger than the client reads")
    func asALargeBody() async throws {
        let error = try await failure(.paddedBody(bytes: 1 << 25))
        #expect(error?.urlErrorCode == .dataLengthExceedsMaximum)
        let session = try await SharedMock.session()
        try await session.setFaults([MockFaultRule(fault: .paddedBody(bytes: 1 << 24))])
        #expect(try await session.places().count == 20)
        try await session.end()
    }

    @Test("A fault can be one wrong response, from which nobody's favourites suffer")
    func asAWrongResponse() async throws {
        let session = try await SharedMock.session()
        let empty = MockFault.response(
            status: 200, headers: ["Content-Type": "application/json", "ETag": "\"1\""], body: "[]")
        try await session.setFaults([MockFaultRule(path: "/locations", skip: 1, times: 1, fault: empty)])
        let favorites = await FavoritePlaces(ids: [84, 1], placeFinder: session.service)
        await favorites.load()
        let places = await favorites.places
        #expect(places.map(\.id) == [84, 1])
        await favorites.load()
        #expect(await favorites.missing == [84, 1])
        await favorites.load()
        #expect(await favorites.missing == [])
        #expect(await favorites.ids == [84, 1])
        #expect(await favorites.places == places)
        try await session.end()
    }

    @Test("A fault can be a place that comes twice, a link to another host, or a 304 that nobody asked for")
    func asAStrangeResponse() async throws {
        let session = try await SharedMock.session()
        let places = String(
            decoding: try JSONEncoder().encode([PointOfInterest.fixture(), .fixture()]), as: UTF8.self)
        let headers = [
            "Content-Type": "application/json", "Link": #"<https://elsewhere.example/?cursor=2>; rel="next""#,
        ]
        try await session.setFaults([
            MockFaultRule(path: "/locations", fault: .response(status: 200, headers: headers, body: places)),
            MockFaultRule(path: "/categories", fault: .response(status: 304)),
        ])
        let location = await CurrentLocationProvider(
            locationFetcher: MockLocationFetcher(), placeFinder: session.service)
        let list = await PointsOfInterestList(placeFinder: session.service, locationSource: location)
        await list.load()
        #expect(await list.places.count == 1)
        await list.loadMore()
        #expect(await list.places.count == 1)
        guard case .failedMore = await list.phase else {
            Issue.record("the link was followed")
            return
        }
        let error = await #expect(throws: RequestError.unexpectedStatus(304)) {
            try await session.service.categories()
        }
        #expect(error?.text == .damaged)
        try await session.end()
    }

    @Test("A fault can make a response slow, and whole in the end")
    func asASlowDrip() async throws {
        let session = try await SharedMock.session()
        let fault = MockFault.slowDrip(bytes: 512, intervalSeconds: 0.001)
        try await session.setFaults([MockFaultRule(delaySeconds: 0.01, fault: fault)])
        #expect(try await session.places().count == 20)
        #expect(try await session.faults().map(\.timesUsed) == [1])
        try await session.end()
    }

    @Test("A body is cut off after so many bytes, or sent in pieces, and a reset sends nothing")
    func onTheWire() async throws {
        let session = try await SharedMock.session()
        let url = session.baseURL
        func response(with fault: MockFault?) async throws -> (bytes: [UInt8], ending: WireClient.Ending) {
            try await session.setFaults(fault.map { [MockFaultRule(fault: $0)] } ?? [])
            let client = try WireClient(port: url.port ?? 0)
            client.sendGet(url.path + "/categories")
            var bytes: [UInt8] = []
            let ending = try client.receive(toEndInto: &bytes)
            return (bytes, ending)
        }
        let whole = try await response(with: nil)
        let end = try #require(whole.bytes.firstRange(of: "\r\n\r\n".utf8)?.upperBound)
        #expect(whole.bytes.count > end + 100)
        for count in [0, 7, 1 << 20] {
            let cut = try await response(with: .truncatedBody(bytes: count))
            #expect(cut.bytes.count == min(end + count, whole.bytes.count))
            #expect(cut.ending == .end)
        }
        let half = try await response(with: .truncatedBody())
        #expect(half.bytes.count == end + (whole.bytes.count - end) / 2)
        for count in [7, 1 << 20] {
            let dripped = try await response(with: .slowDrip(bytes: count, intervalSeconds: 0.001))
            #expect(dripped.bytes[end...] == whole.bytes[end...])
        }
        let reset = try await response(with: .reset)
        #expect(reset.bytes.isEmpty)
        #expect(reset.ending == .reset)
        try await session.end()
    }

    @Test("A fault can be a problem with a Retry-After, which the client keeps to")
    func asARetryAfter() async throws {
        let session = try await SharedMock.session()
        try await session.setFaults([
            MockFaultRule(times: 1, fault: .problem(status: 429, retryAfterSeconds: 0))
        ])
        let service = PointsOfInterestService(
            baseURL: session.baseURL,
            retryPolicy: RetryPolicy(firstPause: .seconds(3600), maximumPause: .zero))
        #expect(try await service.place(id: 1).id == 1)
        #expect(try await session.journal().requests.map(\.status) == [429, 200])
        try await session.end()
    }

    @Test("A fault can be any response, with its own status, headers and body")
    func asAResponse() async throws {
        let session = try await SharedMock.session()
        let places = [PointOfInterest.fixture(id: 7, name: "Only here")]
        let body = String(decoding: try JSONEncoder().encode(places), as: UTF8.self)
        let headers = ["Content-Type": "application/json", "X-Mock": "yes", "Retry-After": "7"]
        try await session.setFaults([
            MockFaultRule(
                path: "/locations", fault: .response(status: 200, headers: headers, body: body)),
            MockFaultRule(path: "/categories", fault: .response(status: 418)),
        ])
        #expect(try await session.places() == places)
        let url = session.baseURL.appending(path: "/locations")
        let (data, response) = try await URLSession.uncached.data(from: url)
        let head = try #require(response as? HTTPURLResponse)
        #expect(head.statusCode == 200)
        #expect(String(decoding: data, as: UTF8.self) == body)
        for (name, value) in headers { #expect(head.value(forHTTPHeaderField: name) == value) }
        #expect(head.value(forHTTPHeaderField: "Content-Length") == String(body.utf8.count))
        await #expect(throws: RequestError.unexpectedStatus(418)) { try await session.service.categories() }
        #expect(try await session.journal().requests.map(\.fault) == [.response, .response, .response])
        try await session.end()
    }

    @Test("A fault can be that of the second page, of a request without a key, and of one event")
    func ofWhatARequestHas() async throws {
        let session = try await SharedMock.session()
        try await session.setFaults([
            MockFaultRule(path: "/locations", query: ["cursor": .present], fault: .problem(status: 503)),
            MockFaultRule(
                path: "/categories", headers: ["Authorization": .absent], fault: .problem(status: 401)),
            MockFaultRule(path: "/events", bodyContains: #""page-view""#, fault: .problem(status: 500)),
        ])
        let here = try Coordinate(latitude: 37.3293, longitude: -121.8893)
        var ids: [Int] = []
        await #expect(throws: RequestError.self) {
            for try await place in session.service.allNearbyPlaces(NearbyPlacesRequest(center: here)) {
                ids.append(place.id)
            }
        }
        #expect(ids.count == 20)
        await #expect(throws: RequestError.self) { try await session.service.categories() }
        func send(_ event: TrackingEvent) async throws {
            let event = TrackedEvent(userID: "u", time: 1, event: event, isTest: true)
            _ = try await session.service.loader(for: EventsEndpoint(baseURL: session.baseURL))
                .loadAPIRequest(requestData: EventsRequest(events: [event]))
        }
        try await send(.launch)
        await #expect(throws: RequestError.self) {
            try await send(.pageView(page: .locationDetail, additional: ""))
        }
        #expect(try await session.journal().requests.map(\.status) == [200, 503, 401, 200, 500])
        try await session.end()
    }

    @Test("A fault can withhold a response, whose request the app gives up")
    func asAResponseThatNeverComes() async throws {
        let session = try await SharedMock.session()
        try await session.setFaults([MockFaultRule(delaySeconds: 600)])
        let asking = Task { try await session.places() }
        #expect(try await session.request(untilDone: false).isDone == false)
        asking.cancel()
        await #expect(throws: RequestError.cancelled) { try await asking.value }
        let request = try await session.request()
        #expect(request.isDone)
        #expect(request.status == nil)
        try await session.end()
    }
}
