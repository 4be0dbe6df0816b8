import Foundation
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
        guard case .problem(let problem) = try await failure(fault) else { throw CancellationError() }
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

    @Test("A fault can be a status without a problem, or a success that is no JSON")
    func asAPage() async throws {
        #expect(try await failure(.page(status: 502)) == .unexpectedStatus(502))
        guard case .undecodableBody = try await failure(.page(status: 200)) else {
            Issue.record("a page was taken for places")
            return
        }
    }

    @Test(
        "A fault can be a lost connection",
        arguments: [.reset, .truncatedBody(), .truncatedBody(bytes: 0)] as [MockFault])
    func asALostConnection(fault: MockFault) async throws {
        let error = try await failure(fault)
        guard case .transport = error else {
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

    @Test("A fault can be a body that can't be decoded")
    func asMalformedJSON() async throws {
        guard case .undecodableBody = try await failure(.malformedJSON) else {
            Issue.record("half of a document was taken for a whole")
            return
        }
        // A client that keeps responses doesn't keep that one, and one that has a good response gets the fault all
        // the same.
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

    @Test("A fault can make a response slow, and whole in the end")
    func asASlowDrip() async throws {
        let session = try await SharedMock.session()
        let fault = MockFault.slowDrip(bytes: 512, intervalSeconds: 0.001)
        try await session.setFaults([MockFaultRule(fault: fault)])
        #expect(try await session.places().count == 20)
        #expect(try await session.faults().map(\.timesUsed) == [1])
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
