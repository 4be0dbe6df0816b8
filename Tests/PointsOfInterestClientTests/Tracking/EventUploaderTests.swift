import Foundation
import Locking
import Testing

@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Sending events", .timeLimit(.minutes(1)))
struct EventUploaderTests {
    private let folder = EventFolder()
    private let clock = TestClock()
    private let reports = AsyncStream.makeStream(of: EventUploader.Report.self)

    private func uploader(
        _ queue: EventQueue, _ transport: any Transport,
        _ policy: EventUploader.Policy = EventUploader.Policy(gathering: .zero)
    ) throws -> EventUploader {
        EventUploader(
            queue: queue, request: EventsEndpoint(baseURL: try #require(URL(string: "https://h/api"))),
            transport: transport, policy: policy, clock: clock, jitter: { 1 },
            now: { Date(timeIntervalSince1970: 1_700_000_000) },
            report: { [reports] in reports.continuation.yield($0) })
    }

    private func queue(_ count: Int) throws -> EventQueue {
        let queue = try folder.queue()
        for number in stride(from: 1, through: count, by: 1) { queue.track(.numbered(number)) }
        return queue
    }

    /// Has the uploader run until no event waits any more.
    private func drain(_ queue: EventQueue, by uploader: EventUploader) async {
        let running = Task { await uploader.run() }
        await queue.drained()
        running.cancel()
        await running.value
    }

    private func pages(_ requests: [URLRequest]) throws -> [[Int]] {
        try requests.map { request in
            try JSONDecoder().decode([TrackedEvent].self, from: try #require(request.httpBody)).map { event in
                if case .search(let search) = event.event { search.page } else { -1 }
            }
        }
    }

    @Test("Batches are sent in order and removed when they are stored")
    func sendsInOrder() async throws {
        let queue = try queue(5)
        let stub = StubTransport([.success(.stored(2)), .success(.stored(2)), .success(.stored(1))])
        let uploader = try uploader(queue, stub, EventUploader.Policy(batchEvents: 2))
        #expect(await uploader.flush() == nil)
        #expect(queue.count == 0)
        #expect(try pages(stub.requests) == [[1, 2], [3, 4], [5]])
        let request = try #require(stub.requests.first)
        #expect(request.url?.absoluteString == "https://h/api/events")
        #expect(request.httpMethod == "POST")
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/json")
        #expect(try folder.reopened() == [])
    }

    @Test(
        "Sending goes on after failures, with doubling pauses and Retry-After, and nothing is lost or repeated"
    )
    func retries() async throws {
        let queue = try queue(3)
        let stub = StubTransport([
            .failure(.transport(code: -1005, reason: "lost")), .success(.test(503)),
            .success(.test(429, ["Retry-After": "7"])), .success(.test(404)), .success(.stored(3)),
        ])
        let uploader = try uploader(queue, stub)
        await drain(queue, by: uploader)
        #expect(try pages(stub.requests) == Array(repeating: [1, 2, 3], count: 5))
        #expect(clock.pauses == [.seconds(1), .seconds(2), .seconds(4 + 7), .seconds(8)])
        #expect(Set(stub.requests.map(\.httpBody)).count == 1)
    }

    @Test("A cancelled request isn't reported, and its events stay in the queue")
    func cancelledRequest() async throws {
        let queue = try queue(1)
        let stub = StubTransport([.failure(.cancelled), .success(.stored(1))])
        let uploader = try uploader(queue, stub)
        #expect(await uploader.flush() == .cancelled)
        #expect(queue.count == 1)
        #expect(await uploader.flush() == nil)
        var reported = reports.stream.makeAsyncIterator()
        guard case .acknowledged = await reported.next() else {
            Issue.record("the cancelled request was reported")
            return
        }
    }

    @Test(
        "A success that isn't the service's counts as a failure",
        arguments: ["", "<html>Welcome</html>", "{}"])
    func distrustsOthers(body: String) async throws {
        let queue = try queue(1)
        let responses = [[:], ["Content-Type": "text/html"], ["Content-Type": "application/json"]].map {
            Result<ServiceResponse, RequestError>.success(.test(200, $0, body))
        }
        let uploader = try uploader(queue, StubTransport(responses))
        #expect(await uploader.flush() == .foreignResponse(status: 200, mediaType: nil))
        #expect(await uploader.flush() == .foreignResponse(status: 200, mediaType: "text/html"))
        switch await uploader.flush()?.reason {
        case .undecodableBody: #expect(body == "{}")
        case .damagedBody: #expect(body != "{}")
        default: Issue.record("taken for stored")
        }
        #expect(queue.count == 1)
        #expect(clock.pauses.isEmpty)
    }

    /// What answers in the service's place for the first hour.
    enum Stranger: CaseIterable, Sendable {
        case page200, page400, page401, page403, page413, page422, otherProblem, noEvents, oneTooFew,
            negative,
            overflow

        func response(to count: Int) -> ServiceResponse {
            switch self {
            case .page200: .test(200, ["Content-Type": "text/html"], "<html>Welcome</html>")
            case .page400: .test(400, ["Content-Type": "text/html"], "<html>Welcome</html>")
            case .page401: .test(401, ["WWW-Authenticate": "Basic"], "<html>Welcome</html>")
            case .page403: .test(403, ["Content-Type": "application/json"], #"{"code":"forbidden"}"#)
            case .page413: .test(413, ["Content-Type": "text/html"], "<html>Too large</html>")
            case .page422: .test(422, ["Content-Type": "application/json"], #"{"errors":[{"index":0}]}"#)
            case .otherProblem:
                .test(
                    422, ["Content-Type": "application/problem+json"],
                    #"{"code":"validation","errors":[{"index":0,"code":"missing","detail":"d"}]}"#)
            case .noEvents: .test(200, [:], #"{"accepted":0,"duplicates":0}"#)
            case .oneTooFew: .test(200, [:], #"{"accepted":\#(count - 1),"duplicates":0}"#)
            case .negative: .test(200, [:], #"{"accepted":\#(count + 1),"duplicates":-1}"#)
            case .overflow: .test(200, [:], #"{"accepted":\#(Int.max),"duplicates":\#(Int.max)}"#)
            }
        }
    }

    @Test(
        "An hour of responses by a stranger loses no event and costs few requests",
        arguments: Stranger.allCases)
    func survivesStrangers(stranger: Stranger) async throws {
        let queue = try queue(200)
        let stored = Lock<[Int]>([])
        let transport = HandledTransport { [self] request in
            let events = try pages([request])[0]
            guard clock.now.offset >= .seconds(3600) else { return stranger.response(to: events.count) }
            stored.withLock { $0 += events }
            return .stored(events.count)
        }
        let uploader = try uploader(queue, transport)
        await drain(queue, by: uploader)
        #expect(stored.withLock { $0 } == Array(1...200))
        #expect(queue.droppedCount == 0)
        // 1 + 2 + … + 256 s, and then 300 s each.
        #expect(clock.pauses.count == 20)
    }

    @Test("A proxy's 413 halves the next batch, and drops nothing")
    func halvesForProxy() async throws {
        let queue = try queue(8)
        let transport = HandledTransport { [self] request in
            let count = try pages([request])[0].count
            return count > 2 ? .test(413, [:], "<html>Too large</html>") : .stored(count)
        }
        let uploader = try uploader(queue, transport, EventUploader.Policy(batchEvents: 8, gathering: .zero))
        await drain(queue, by: uploader)
        #expect(
            try pages(transport.requests) == [
                Array(1...8), Array(1...4), [1, 2], [3, 4, 5, 6], [3, 4], [5, 6, 7, 8], [5, 6], [7, 8],
            ])
        #expect(clock.pauses == [.seconds(1), .seconds(2), .seconds(1), .seconds(1)])
    }

    @Test(
        "Events with a user's id that the service refuses cost no request, and are reported",
        arguments: [
            "", String(repeating: "u", count: 201), "a\0b",
        ])
    func refusesUserIDs(user: String) async throws {
        let queue = try queue(0)
        for number in 1...5 { queue.track(.numbered(number, user: user)) }
        let transport = HandledTransport { _ in .stored(2) }
        let uploader = try uploader(queue, transport)
        #expect(await uploader.flush() == nil)
        #expect(transport.requests.isEmpty)
        #expect(queue.droppedCount == 5)
        var reported = reports.stream.makeAsyncIterator()
        guard case .refused(let ids, let faults) = await reported.next() else {
            Issue.record("nothing was reported")
            return
        }
        #expect(Set(ids).count == 5)
        #expect(faults.map(\.index) == Array(0...4))
        #expect(Set(faults.map(\.parameter)) == ["user_id"])
        // Counted for whoever is there next.
        queue.track(.numbered(6, user: String(repeating: "u", count: 200)))
        #expect(await uploader.flush() == nil)
        let sent = try JSONDecoder().decode(
            [TrackedEvent].self, from: try #require(transport.requests.last?.httpBody))
        #expect(sent.last?.event == .eventsDropped(count: 5, reason: .refused))
    }

    @Test("Of many events with such a user's id, each report has the first hundred, and all are counted")
    func boundsReport() async throws {
        let queue = try queue(0)
        let uploader = try uploader(queue, HandledTransport { _ in .stored(1) })
        var reported = reports.stream.makeAsyncIterator()
        for count in [101, 1] {
            let events = (1...count).map { TrackedEvent.numbered($0, user: "") }
            for event in events { queue.track(event) }
            #expect(await uploader.flush() == nil)
            guard case .refused(let ids, let faults) = await reported.next() else {
                Issue.record("nothing was reported")
                return
            }
            #expect(ids == events.prefix(100).compactMap(\.id))
            #expect(faults.map(\.index) == Array(ids.indices))
        }
        #expect(queue.droppedCount == 102)
    }

    @Test("A service that refuses each event, and each report of that, gets each once")
    func reportsOnce() async throws {
        let queue = try queue(5)
        let requestsLeft = Lock(10)
        let transport = HandledTransport { [self] request in
            let isEndless = requestsLeft.withLock { left in
                left -= 1
                return left < 0
            }
            if isEndless { throw CancellationError() }
            let count = try pages([request])[0].count
            let faults = (0..<count).map { EventFault(index: $0, code: .outOfRange, detail: "d") }
            return .problem(Problem(.invalidEvents, eventErrors: faults))
        }
        #expect(try await uploader(queue, transport).flush() == nil)
        #expect(try pages(transport.requests) == [[1, 2, 3, 4, 5], [-1]])
        #expect(queue.droppedCount == 5)
    }

    @Test("Only refused events are dropped, and they are counted")
    func dropsRefused() async throws {
        let queue = try queue(4)
        let faults = [1, 3, 3, 9, -1].map { EventFault(index: $0, code: .wrongType, detail: "d") }
        let problem = Problem(.invalidEvents, eventErrors: faults)
        let stub = StubTransport([.success(.problem(problem)), .success(.stored(3))])
        #expect(try await uploader(queue, stub).flush() == nil)
        // The third is the event that tells of the two.
        #expect(try pages(stub.requests) == [[1, 2, 3, 4], [1, 3, -1]])
        let told = try JSONDecoder().decode(
            [TrackedEvent].self, from: try #require(stub.requests.last?.httpBody)
        ).last
        #expect(told?.event == .eventsDropped(count: 2, reason: .refused))
        #expect(clock.pauses.isEmpty)
    }

    @Test(
        "A batch that is too large or unreadable is halved, down to the event that is the reason",
        arguments: [ProblemCode.contentTooLarge, .malformedBody, .invalidEvents])
    func splits(code: ProblemCode) async throws {
        let queue = try queue(4)
        // Whatever has the third event is too large.
        let transport = HandledTransport { [self] request in
            let pages = try pages([request])[0]
            return pages.contains(3) ? .problem(Problem(code)) : .stored(pages.count)
        }
        #expect(try await uploader(queue, transport).flush() == nil)
        #expect(
            try pages(transport.requests) == [
                [1, 2, 3, 4], [1, 2], [3, 4], [3], [4], [-1],
            ])
        #expect(queue.count == 0)
        #expect(queue.droppedCount == 1)
    }

    @Test(
        "Nothing is sent or lost after the key is refused, until resume()",
        arguments: [ProblemCode.unauthorized, .forbidden])
    func stopsUnauthorized(code: ProblemCode) async throws {
        let problem = Problem(code)
        let queue = try queue(2)
        let stub = StubTransport([
            .success(.problem(problem)), .success(.stored(2)), .success(.stored(1)),
        ])
        let uploader = try uploader(queue, stub)
        let running = Task { await uploader.run() }
        var reported = reports.stream.makeAsyncIterator()
        #expect(await reported.next() == .unauthorized(.problem(problem)))
        #expect(await uploader.flush() == .problem(problem))
        #expect(stub.requests.count == 1)
        #expect(queue.count == 2)
        await uploader.resume()
        await queue.drained()
        #expect(stub.requests.count == 2)
        queue.track(.numbered(3))
        await queue.drained()
        running.cancel()
        await running.value
        #expect(try pages(stub.requests) == [[1, 2], [1, 2], [3]])
        #expect(clock.pauses.isEmpty)
    }

    @Test("run() works again after it was cancelled while it waited for another key")
    func runsAgain() async throws {
        let queue = try queue(2)
        let stub = StubTransport([.success(.problem(Problem(.unauthorized))), .success(.stored(2))])
        let uploader = try uploader(queue, stub)
        let first = Task { await uploader.run() }
        var reported = reports.stream.makeAsyncIterator()
        #expect(await reported.next() == .unauthorized(.problem(Problem(.unauthorized))))
        first.cancel()
        await first.value
        // Cancelled as the test ends.
        async let _ = uploader.run()
        await uploader.resume()
        await queue.drained()
        #expect(try pages(stub.requests) == [[1, 2], [1, 2]])
    }

    @Test("A second run() takes over from a cancelled one, and doesn't end one that goes on")
    func runsTwice() async throws {
        let queue = try queue(0)
        let transport = HandledTransport { [self] request in .stored(try pages([request])[0].count) }
        let uploaders = [try uploader(queue, transport), try uploader(queue, transport)]
        let first = Task { await uploaders[0].run() }
        queue.track(.numbered(1))
        await queue.drained()
        // Of the same uploader, and of another one.
        for second in uploaders {
            let ending = Task { await second.run() }
            ending.cancel()
            await ending.value
        }
        queue.track(.numbered(2))
        await queue.drained()
        let second = Task { await uploaders[1].run() }
        first.cancel()
        await first.value
        queue.track(.numbered(3))
        await queue.drained()
        second.cancel()
        await second.value
        #expect(try pages(transport.requests) == [[1], [2], [3]])
    }

    @Test("There is only one request at a time, however many callers flush")
    func sendsOneAtATime() async throws {
        let queue = try queue(60)
        let transport = HandledTransport { request in
            .stored(try JSONDecoder().decode([TrackedEvent].self, from: request.httpBody ?? Data()).count)
        }
        let policy = EventUploader.Policy(batchEvents: 3)
        let uploaders = [try uploader(queue, transport, policy), try uploader(queue, transport, policy)]
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<5 { for uploader in uploaders { group.addTask { _ = await uploader.flush() } } }
        }
        #expect(try pages(transport.requests).flatMap { $0 } == Array(1...60))
        #expect(transport.mostAtOnce == 1)
    }

    @Test("Events are gathered before they are sent, up to the maximum of a batch")
    func gathers() async throws {
        #expect(EventUploader.Policy(batchEvents: 5000).batchEvents == 1000)
        #expect(EventUploader.Policy(batchEvents: 0).batchEvents == 1)
        let queue = try queue(2)
        let stub = StubTransport([.success(.stored(2))])
        let uploader = try uploader(queue, stub, EventUploader.Policy(gathering: .seconds(5)))
        await drain(queue, by: uploader)
        #expect(clock.pauses.first == .seconds(5))
    }

    @Test("Pauses grow with each failure up to the maximum, and so is Retry-After bounded")
    func backsOff() {
        let policy = EventUploader.Policy()
        func pause(_ failures: Int, _ retryAfter: Duration? = nil, jitter: Double = 1) -> Duration {
            policy.pause(failures: failures, retryAfter: retryAfter, jitter: jitter)
        }
        #expect((1...4).map { pause($0) } == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        #expect(pause(100) == .seconds(300))
        #expect(pause(3, jitter: 0.5) == .seconds(2))
        #expect(pause(1, .seconds(1 << 40), jitter: 0) == .seconds(3600))
    }
}
