import Foundation
import Locking
import Testing

@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Time limits", .timeLimit(.minutes(1)))
struct TimeLimitTests {
    private let clock = TestClock(limit: .seconds(20))

    private func service(
        _ network: MockNetwork, _ limits: TimeLimits = TimeLimits(), headers: HeaderProvider? = nil
    ) -> PointsOfInterestService {
        PointsOfInterestService(
            baseURL: network.baseURL, urlSession: network.session, timeLimits: limits, clock: clock,
            headers: headers, jitter: { 1 })
    }

    /// The error of a request that took too long.
    private func expectTimeout(_ error: RequestError?) {
        #expect(error?.urlErrorCode == .timedOut, "\(String(describing: error))")
    }

    @Test("A read that stalls fails at its limit, is cancelled on the wire, and isn't sent again")
    func endsReads() async throws {
        let network = try MockNetwork { _ in nil }
        let service = service(network)
        let reading = Task { try await service.categories() }
        var events = network.events.makeAsyncIterator()
        guard case .started = await events.next() else { throw CancellationError() }
        clock.advance(by: .seconds(20))
        expectTimeout(await #expect(throws: RequestError.self) { try await reading.value })
        guard case .stopped = await events.next() else {
            Issue.record("another attempt")
            return
        }
        #expect(clock.pauses.isEmpty)
    }

    @Test("The limit of a read is for all attempts and pauses together")
    func countsAttempts() async throws {
        let number = Lock(0)
        let network = try MockNetwork { [clock] _ in
            let attempt = number.withLock { number in
                number += 1
                return number
            }
            // The second one stalls: its time is over 9.75 s after it began.
            clock.advance(by: attempt == 1 ? .seconds(10) : .milliseconds(9_750))
            if attempt == 1 { throw URLError(.timedOut) }
            return nil
        }
        let error = await #expect(throws: RequestError.self) { try await service(network).categories() }
        #expect(error == .timedOut)
        #expect(number.withLock { $0 } == 2)
        #expect(clock.pauses == [.milliseconds(250)])
    }

    @Test("No pause begins that would end after the limit: the last response is final")
    func omitsPauses() async throws {
        let number = Lock(0)
        let network = try MockNetwork { [clock] request in
            number.withLock { $0 += 1 }
            clock.advance(by: .seconds(15))
            let response = HTTPURLResponse(
                url: try #require(request.url), statusCode: 503, httpVersion: "HTTP/1.1",
                headerFields: ["Retry-After": "5"])
            return (try #require(response), Data())
        }
        await #expect(throws: RequestError.unexpectedStatus(503)) { try await service(network).categories() }
        #expect(number.withLock { $0 } == 1)
        #expect(clock.pauses.isEmpty)
    }

    @Test("Each attempt of a read may take 10 s to its first byte, an upload a minute, or what is set")
    func limitsAttempts() async throws {
        let intervals = Lock<[TimeInterval]>([])
        let network = try MockNetwork { request in
            intervals.withLock { $0.append(request.timeoutInterval) }
            throw URLError(.timedOut)
        }
        for limits in [
            TimeLimits(), TimeLimits(firstByte: .milliseconds(1500), upload: .seconds(70)),
        ] {
            _ = try? await service(network, limits).categories()
            _ = try? await service(network, limits).send([.numbered(1)])
            _ = try? await service(network, limits).health()
        }
        #expect(intervals.withLock { $0 } == [10, 10, 10, 60, 10, 2, 2, 2, 70, 2])
    }

    @Test("An upload has its own limit, which grows with its body")
    func endsUploads() async throws {
        var upload = URLRequest(url: try #require(URL(string: "https://h/events")))
        upload.httpMethod = "POST"
        let limits = TimeLimits()
        #expect(limits.total(for: URLRequest(url: try #require(upload.url))) == .seconds(20))
        for (bytes, seconds) in [(0, 60), (400_000, 60), (1_000_000, 135)] {
            upload.httpBody = Data(count: bytes)
            #expect(limits.total(for: upload) == .seconds(seconds))
            #expect(limits.interval(for: upload) == .seconds(seconds))
        }
        // What is sent again needs time for that.
        upload.setValue("a", forHTTPHeaderField: "Idempotency-Key")
        upload.httpBody = Data(count: 16_000)
        #expect(limits.total(for: upload) == .seconds(60))
        #expect(limits.interval(for: upload) == .seconds(12))
        let network = try MockNetwork { _ in nil }
        let service = service(network)
        let sending = Task { try await service.send([.numbered(1)]) }
        var events = network.events.makeAsyncIterator()
        guard case .started = await events.next() else { throw CancellationError() }
        clock.advance(by: .seconds(60))
        expectTimeout(await #expect(throws: RequestError.self) { try await sending.value })
    }

    @Test("The limit holds while the app makes its header fields, also where these can't be cancelled")
    func includesHeaders() async throws {
        let network = try MockNetwork { _ in
            Issue.record("something was sent")
            return nil
        }
        let (stalled, end) = AsyncStream<Never>.makeStream()
        defer { end.finish() }
        let (asked, asking) = AsyncStream<Void>.makeStream()
        let service = service(network) { _ in
            asking.yield()
            await Task.detached { for await _ in stalled {} }.value
            throw CancellationError()
        }
        let reading = Task { try await service.categories() }
        for await _ in asked { break }
        clock.advance(by: .seconds(20))
        expectTimeout(await #expect(throws: RequestError.self) { try await reading.value })
    }

    @Test("A request that is cancelled in time throws .cancelled, and nothing waits for its limit any more")
    func cancels() async throws {
        let network = try MockNetwork { _ in nil }
        let service = service(network)
        let reading = Task { try await service.categories() }
        var events = network.events.makeAsyncIterator()
        guard case .started = await events.next() else { throw CancellationError() }
        reading.cancel()
        await #expect(throws: RequestError.cancelled) { try await reading.value }
        guard case .stopped = await events.next() else {
            Issue.record("the request goes on")
            return
        }
        for await _ in clock.endedLimits { break }
    }

    @Test("A server that accepts a connection and never responds is given up by the session itself")
    func stalledServer() async throws {
        let listener = try LocalListener()
        let service = PointsOfInterestService(
            baseURL: listener.baseURL, retryPolicy: .never,
            timeLimits: TimeLimits(firstByte: .milliseconds(200), read: .seconds(3600)))
        expectTimeout(await #expect(throws: RequestError.self) { try await service.categories() })
    }
}
