import Foundation
import Locking
import PointsOfInterestTesting
import Testing

@testable import PointsOfInterestAPI
@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An app with a key that the service refuses until it is renewed.
@Suite("The renewal of a key", .timeLimit(.minutes(1)))
struct KeyRenewalTests {
    private struct State {
        /// The app's keys of data and events.
        var keys = [false: "old", true: "old"]
        var accepted: Set<String> = ["new"]
        /// The paths of requests and their keys, as they arrived.
        var sent: [String] = []
        var renewals: [ServiceEndpoint] = []
    }

    private let state = Lock(State())
    private let clock = TestClock(limit: .seconds(20))
    private let refusals = AsyncStream.makeStream(of: Void.self)

    private var sent: [String] { state.withLock { $0.sent } }
    private var renewals: [ServiceEndpoint] { state.withLock { $0.renewals } }

    /// A network on which the service accepts the keys of `State.accepted`.
    private func network(refusal: Int = 401) throws -> MockNetwork {
        try MockNetwork(fields: ["Content-Type": MediaType.problemJSON]) { [state, refusals] request in
            let key = request.value(forHTTPHeaderField: "Authorization") ?? "none"
            let isAccepted = state.withLock { state in
                state.sent.append("\(request.url?.path ?? "") \(key)")
                return state.accepted.contains(key)
            }
            if isAccepted {
                return (200, request.httpMethod == "POST" ? #"{"accepted":1,"duplicates":0}"# : "[]")
            }
            refusals.continuation.yield()
            let problem = Problem(refusal == 401 ? .unauthorized : .forbidden)
            return (refusal, String(decoding: problem.json, as: UTF8.self))
        }
    }

    /// A service whose app renews its key as `renew` says; by default it gets the key `new` for all endpoints.
    private func service(
        _ network: MockNetwork, renewing renew: @escaping KeyRenewer = { _ in },
        headers: HeaderProvider? = nil
    ) -> PointsOfInterestService {
        PointsOfInterestService(
            baseURL: network.baseURL, urlSession: network.session, clock: clock,
            headers: headers ?? { [state] endpoint in
                ["Authorization": state.withLock { $0.keys[endpoint == .events] ?? "" }]
            },
            renewKey: { [state] endpoint in
                state.withLock { $0.renewals.append(endpoint) }
                try await renew(endpoint)
                state.withLock { $0.keys = [false: "new", true: "new"] }
            },
            jitter: { 1 })
    }

    /// Waits until so many requests were refused.
    private func refused(_ count: Int) async {
        var iterator = refusals.stream.makeAsyncIterator()
        for _ in 0..<count { await iterator.next() }
    }

    @Test("Twenty requests that are refused wait for one renewal, and each is sent once more")
    func isShared() async throws {
        let service = service(try network()) { _ in await refused(20) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    _ =
                        number.isMultiple(of: 2)
                        ? try await service.categories().count : try await service.attributions().count
                }
            }
            try await group.waitForAll()
        }
        #expect(renewals.count == 1)
        #expect(
            sent.sorted()
                == ["/attributions new", "/attributions old", "/categories new", "/categories old"].flatMap {
                    Array(repeating: $0, count: 10)
                })
    }

    @Test("A second refusal is final")
    func isOnce() async throws {
        state.withLock { $0.accepted = [] }
        let service = service(try network())
        let error = await #expect(throws: RequestError.self) { try await service.categories() }
        #expect(error?.text == .unauthorized)
        #expect(sent == ["/categories old", "/categories new"])
        #expect(renewals == [.categories])
    }

    @Test("A request has one renewal in all of its attempts")
    func isOnceForAllAttempts() async throws {
        let statuses = Lock([401, 503, 401, 200])
        let network = try MockNetwork { _ in (statuses.withLock { $0.removeFirst() }, "[]") }
        await #expect(throws: RequestError.unexpectedStatus(401)) {
            try await service(network).categories()
        }
        #expect(renewals.count == 1)
        #expect(statuses.withLock { $0 } == [200])
        #expect(clock.pauses == [.milliseconds(250)])
    }

    @Test("A key isn't renewed after another refusal, or one of a request without a key")
    func isFor401() async throws {
        await #expect(throws: RequestError.self) { try await service(network(refusal: 403)).categories() }
        await #expect(throws: RequestError.self) {
            try await service(network(), headers: { _ in [:] }).categories()
        }
        #expect(sent == ["/categories old", "/categories none"])
        #expect(renewals == [])
    }

    @Test(
        "An error of the renewal fails the requests as one of the header fields does, and the next request tries again",
        arguments: [
            (URLError(.badURL) as any Error, URLError.Code.badURL),
            (RequestError.transport(code: -1009, reason: ""), .notConnectedToInternet),
            (POSIXError(.EIO), .userAuthenticationRequired),
        ])
    func fails(error: any Error, code: URLError.Code) async throws {
        let isFirst = Lock(false)
        let service = service(try network()) { _ in if isFirst.claim() { throw error } }
        let thrown = await #expect(throws: RequestError.self) { try await service.attributions() }
        #expect(thrown?.urlErrorCode == code)
        #expect(sent == ["/attributions old"])
        #expect(try await service.attributions() == [])
        #expect(renewals.count == 2)
    }

    @Test(
        "Events are sent again with the renewed key, and the uploader stops only where that is refused, too")
    func ofEvents() async throws {
        let queue = try EventFolder().queue()
        let reports = AsyncStream.makeStream(of: EventUploader.Report.self)
        let uploader = EventUploader(
            queue: queue, service: service(try network()), report: { reports.continuation.yield($0) })
        queue.track(.numbered(1))
        #expect(await uploader.flush() == nil)
        #expect(queue.count == 0)
        state.withLock { $0.accepted = ["newer"] }
        queue.track(.numbered(2))
        #expect(await uploader.flush()?.text == .unauthorized)
        #expect(queue.count == 1)
        #expect(await uploader.flush()?.text == .unauthorized)
        var reported = reports.stream.makeAsyncIterator()
        guard case .acknowledged = await reported.next(), case .unauthorized = await reported.next() else {
            Issue.record("another report")
            return
        }
        #expect(sent == ["/events old", "/events new", "/events new", "/events new"])
        #expect(renewals == [.events, .events])
        state.withLock { $0.accepted = ["new"] }
        await uploader.resume()
        #expect(await uploader.flush() == nil)
        #expect(queue.count == 0)
    }

    @Test("Where events have the key of the data, one renewal serves both")
    func servesBoth() async throws {
        let service = service(try network()) { _ in await refused(2) }
        async let categories = service.categories()
        async let response = service.send([.numbered(1)])
        #expect(try await categories == [])
        #expect(try await response.accepted == 1)
        #expect(renewals.count == 1)
        #expect(sent.count == 4)
    }

    @Test(
        "Where events have a key of their own, it is renewed after the one of the data, and not at the same time"
    )
    func ofTwoKeys() async throws {
        let running = Lock(0)
        let renewed = Lock<[ServiceEndpoint]>([])
        let service = PointsOfInterestService(
            baseURL: AppConfiguration.mock.baseURL, urlSession: try network().session, clock: clock,
            headers: { [state] endpoint in
                ["Authorization": state.withLock { $0.keys[endpoint == .events] ?? "" }]
            },
            renewKey: { [state] endpoint in
                #expect(
                    running.withLock {
                        $0 += 1; return $0
                    } == 1)
                let count = renewed.withLock {
                    $0.append(endpoint); return $0.count
                }
                if count == 1 { await refused(2) }
                state.withLock { $0.keys[endpoint == .events] = "new" }
                running.withLock { $0 -= 1 }
            })
        async let categories = service.categories()
        async let response = service.send([.numbered(1)])
        #expect(try await categories == [])
        #expect(try await response.accepted == 1)
        #expect(Set(renewed.withLock { $0 }) == [.categories, .events])
        #expect(renewed.withLock { $0.count } == 2)
    }

    @Test("A renewal that hangs ends with the time limit of the request, and is cancelled when nobody waits")
    func isLimited() async throws {
        let cancelled = AsyncStream.makeStream(of: Void.self)
        let isFirst = Lock(false)
        let begun = AsyncStream.makeStream(of: Void.self)
        let service = service(try network()) { _ in
            guard isFirst.claim() else { return }
            let (forever, keptOpen) = AsyncStream<Never>.makeStream()
            begun.continuation.yield()
            for await _ in forever {}
            keptOpen.finish()
            cancelled.continuation.yield()
            try Task.checkCancellation()
        }
        let reading = Task { try await service.categories() }
        for await _ in begun.stream { break }
        clock.advance(by: .seconds(20))
        let error = await #expect(throws: RequestError.self) { try await reading.value }
        #expect(error == .timedOut)
        for await _ in cancelled.stream { break }
        #expect(sent == ["/categories old"])
        #expect(try await service.categories() == [])
        #expect(renewals.count == 2)
    }

    @Test(
        "A request that is cancelled while it waits throws at once, also where the renewal can't be cancelled"
    )
    func leavesAtOnce() async throws {
        let (stalled, end) = AsyncStream<Never>.makeStream()
        defer { end.finish() }
        let begun = AsyncStream.makeStream(of: Void.self)
        let service = service(try network()) { _ in
            begun.continuation.yield()
            await Task.detached { for await _ in stalled {} }.value
        }
        let reading = Task { try await service.categories() }
        for await _ in begun.stream { break }
        reading.cancel()
        await #expect(throws: RequestError.cancelled) { try await reading.value }
    }

    @MainActor
    @Test(
        "An environment's service and its uploader have the configuration's keys and renewal, and the observer"
    )
    func ofTheEnvironment() async throws {
        let network = try network()
        state.withLock { state in
            state.keys[false] = "data"
            state.accepted = ["new", "data"]
        }
        var configuration = try AppConfiguration(
            defaultBaseURL: network.baseURL,
            headers: { [state] endpoint in
                ["Authorization": state.withLock { $0.keys[endpoint == .events] ?? "" }]
            },
            renewKey: { [state] endpoint in
                state.withLock { state in
                    state.renewals.append(endpoint)
                    state.keys[endpoint == .events] = "new"
                }
            }, arguments: [], environment: [:])
        configuration.userID = { "user" }
        let observed = Lock<[ServiceEndpoint]>([])
        let environment = AppEnvironment(
            configuration: configuration, urlSession: network.session,
            requestObserver: { attempt in observed.withLock { $0.append(attempt.endpoint) } },
            locationFetcher: MockLocationFetcher(), eventQueue: try EventFolder().queue())
        environment.trackingModel.sendTrackingEvent(.launch)
        #expect(await environment.eventUploader?.flush() == nil)
        #expect(try await environment.service.categories() == [])
        #expect(renewals == [.events])
        #expect(sent == ["/events old", "/events new", "/categories data"])
        #expect(observed.withLock { $0 } == [.events, .events, .categories])
    }
}

extension KeyRenewals {
    /// Has a request wait for a renewal. The call is in the actor's queue before the caller's next one.
    fileprivate func startWaiting() -> Task<Bool, any Error> {
        Task { try await renew(for: .place, since: [:]) }
    }
}

@Suite("The requests that wait for a renewal", .timeLimit(.minutes(1)))
struct KeyRenewalsTests {
    @Test("A request that is cancelled leaves at once, and the others have their renewal")
    func goesOn() async throws {
        let stalled = AsyncStream.makeStream(of: Never.self)
        let renewals = KeyRenewals { _ in
            for await _ in stalled.stream {}
            try Task.checkCancellation()
        }
        let (cancelled, other) = (await renewals.startWaiting(), await renewals.startWaiting())
        #expect(await renewals.ended == [:])
        cancelled.cancel()
        await #expect(throws: RequestError.cancelled) { try await cancelled.value }
        stalled.continuation.finish()
        #expect(try await other.value)
        #expect(await renewals.ended == [.others: 1])
    }

    @Test("When the last one leaves, the renewal is cancelled, and counts for nothing also where it goes on")
    func isGivenUp() async throws {
        let wasCancelled = AsyncStream.makeStream(of: Bool.self)
        let renewals = KeyRenewals { _ in
            let (forever, keptOpen) = AsyncStream<Never>.makeStream()
            for await _ in forever {}
            keptOpen.finish()
            wasCancelled.continuation.yield(Task.isCancelled)
        }
        for task in [await renewals.startWaiting(), await renewals.startWaiting()] {
            task.cancel()
            await #expect(throws: RequestError.cancelled) { try await task.value }
        }
        var ends = wasCancelled.stream.makeAsyncIterator()
        #expect(await ends.next() == true)
        #expect(await renewals.ended == [:])
    }

    @Test("A key that was renewed since a request's header fields were made isn't renewed again")
    func isOverMeanwhile() async throws {
        let renewed = Lock<[ServiceEndpoint]>([])
        let renewals = KeyRenewals { endpoint in renewed.withLock { $0.append(endpoint) } }
        #expect(try await renewals.renew(for: .place, since: [:]))
        #expect(try await renewals.renew(for: .own, since: [:]))
        #expect(try await !renewals.renew(for: .events, since: [:]), "it may have the same key")
        let seen = await renewals.ended
        #expect(try await renewals.renew(for: .events, since: seen))
        #expect(try await renewals.renew(for: .events, since: seen))
        #expect(renewed.withLock { $0 } == [.place, .events])
        #expect(try await renewals.renew(for: .own, since: await renewals.ended))
        #expect(renewed.withLock { $0 } == [.place, .events, .own])
        #expect(try await renewals.renew(for: .editing, since: await renewals.ended))
        #expect(try await renewals.renew(for: .editing, since: [:]))
        #expect(try await !renewals.renew(for: .editing, since: [.editing: 1]), "another key was renewed")
        #expect(renewed.withLock { $0 } == [.place, .events, .own, .editing])
    }
}

@Suite("An app's header fields", .timeLimit(.minutes(1)))
struct HeaderOriginTests {
    @Test(
        "They, and a renewal, are only for the service's origin, whatever an endpoint of the app's own asks",
        arguments: [
            ("https://service.test", "https://service.test/own", true),
            ("https://service.test/api", "https://SERVICE.test:443/own", true),
            ("http://service.test", "https://service.test/own", true),
            ("https://service.test", "http://service.test/own", false),
            ("https://service.test", "https://service.test:444/own", false),
            ("https://service.test", "https://stranger.test/own", false),
            ("https://service.test", "https://service.test@stranger.test/own", false),
            ("https://service.test", "https://service.test.stranger.test/own", false),
        ])
    func stayAtHome(baseURL: String, target: String, isOwn: Bool) async throws {
        let keys = Lock<[String?]>([])
        let network = try MockNetwork { request in
            keys.withLock { $0.append(request.value(forHTTPHeaderField: "Authorization")) }
            return (401, "")
        }
        let calls = Lock<[String]>([])
        let service = PointsOfInterestService(
            baseURL: try #require(URL(string: baseURL)), urlSession: network.session,
            headers: { _ in
                calls.withLock { $0.append("headers") }
                return ["Authorization": "key"]
            }, renewKey: { _ in calls.withLock { $0.append("renewal") } })
        let own = OwnRequest(url: try #require(URL(string: target)))
        await #expect(throws: RequestError.unexpectedStatus(401)) {
            try await service.loader(for: own).loadAPIRequest(requestData: ())
        }
        #expect(keys.withLock { $0 } == (isOwn ? ["key", "key"] : [nil]))
        #expect(calls.withLock { $0 } == (isOwn ? ["headers", "renewal", "headers"] : []))
    }
}
