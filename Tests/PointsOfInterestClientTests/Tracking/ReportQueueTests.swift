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

@Suite("Reports in the queue", .timeLimit(.minutes(1)))
struct ReportQueueTests {
    private let folder = EventFolder()
    private let clock = TestClock()
    private let outcomes = AsyncStream.makeStream(of: EventUploader.Report.self)

    private func uploader(
        _ queue: EventQueue, events: any Transport = StubTransport([]), reports: any Transport
    ) throws -> EventUploader {
        EventUploader(
            queue: queue, request: EventsEndpoint(baseURL: try #require(URL(string: "https://h/api"))),
            transport: events, reportsTransport: reports, policy: EventUploader.Policy(gathering: .zero),
            clock: clock, jitter: { 1 }, now: { Date(timeIntervalSince1970: 1_700_000_000) },
            report: { [outcomes] in outcomes.continuation.yield($0) })
    }

    /// The outcomes so far.
    private func outcomesSoFar() async -> [EventUploader.Report] {
        outcomes.continuation.finish()
        var all: [EventUploader.Report] = []
        for await outcome in outcomes.stream { all.append(outcome) }
        return all
    }

    private func sent(_ requests: [URLRequest]) throws -> [PlaceReport] {
        try requests.map { try PlaceReport.decode(sent: try #require($0.httpBody)) }
    }

    /// What the next process finds, were this one killed now.
    private func reopened() throws -> EventQueue { try folder.copy("reports").queue() }

    private static let offline = RequestError.transport(code: -1009, reason: "offline")

    @Test("A report that was made offline survives the process, and the next one sends it, once by its id")
    func survives() async throws {
        let reports = [
            PlaceReport(place: 42, reason: .closed, text: "since\nMonday: é"),
            PlaceReport(position: try Coordinate(latitude: 1.5, longitude: -2), reason: .missing),
        ]
        let queue = try folder.queue()
        for report in reports { queue.report(report) }
        let stub = StubTransport([.failure(Self.offline)])
        #expect(await (try uploader(queue, reports: stub)).flush() == Self.offline)
        #expect(queue.reportCount == 2 && queue.count == 0 && queue.failure == nil)

        let next = try reopened()
        #expect(next.reportCount == 2)
        // The first response is lost on its way: the report is sent again as it was.
        let later = StubTransport(
            [.failure(Self.offline)] + reports.map { .success(.received($0.id)) })
        let uploader = try uploader(next, reports: later)
        #expect(await uploader.flush() == Self.offline)
        #expect(await uploader.flush() == nil)
        #expect(try sent(later.requests) == [reports[0], reports[0], reports[1]])
        #expect(next.reportCount == 0)
        let request = try #require(later.requests.first)
        #expect(request.url?.absoluteString == "https://h/api/reports" && request.httpMethod == "POST")
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/json")
    }

    @Test("What a person wrote isn't in the file any more once it is sent")
    func forgets() async throws {
        let queue = try folder.queue()
        let report = PlaceReport(place: 42, reason: .other, text: "my name")
        queue.report(report)
        await queue.synchronize()
        let file = folder.url.appendingPathComponent("reports")
        #expect(try Data(contentsOf: file).range(of: Data("my name".utf8)) != nil)
        let stub = StubTransport([.success(.received(report.id))])
        #expect(await (try uploader(queue, reports: stub)).flush() == nil)
        queue.close()
        #expect(try Data(contentsOf: file).isEmpty)
    }

    @Test("Reports and events don't wait for each other, and both are sent as they arrive")
    func lanes() async throws {
        let queue = try folder.queue()
        queue.track(.numbered(1))
        let report = PlaceReport(place: 42, reason: .wrong)
        queue.report(report)
        // Each lane fails first, and the other one goes on.
        let events = StubTransport([.failure(Self.offline), .success(.stored(1))])
        let reports = StubTransport([
            .success(.problem(Problem(.tooManyRequests))), .success(.received(report.id)),
        ])
        let uploader = try uploader(queue, events: events, reports: reports)
        let running = Task { await uploader.run() }
        await queue.drained()
        running.cancel()
        await running.value
        #expect(queue.count == 0 && queue.reportCount == 0)
        #expect(events.requests.count == 2 && reports.requests.count == 2)
        #expect(await outcomesSoFar().contains(.reportStored(report.id)))
    }

    @Test("A report that the service refuses is dropped, and the app is told why; the next one is sent")
    func refused() async throws {
        let queue = try folder.queue()
        let reports = [PlaceReport(place: 1, reason: .other), PlaceReport(place: 2, reason: .other)]
        for report in reports { queue.report(report) }
        let fault = Problem.MemberFault(pointer: "/text", code: .outOfRange, detail: "is too long")
        let stub = StubTransport([
            .success(.problem(Problem(.invalidContent, memberErrors: [fault]))),
            .success(.received(reports[1].id)),
        ])
        #expect(await (try uploader(queue, reports: stub)).flush() == nil)
        #expect(
            await outcomesSoFar() == [.reportRefused(reports[0].id, [fault]), .reportStored(reports[1].id)])
        #expect(try reopened().reportCount == 0)
    }

    @Test(
        "Where the service wants another key or takes no reports, they stay, and nothing is sent until resume()",
        arguments: [ProblemCode.unauthorized, .forbidden, .unknownPath, .methodNotAllowed])
    func blocked(code: ProblemCode) async throws {
        let queue = try folder.queue()
        let report = PlaceReport(place: 1, reason: .other)
        queue.report(report)
        let stub = StubTransport([.success(.problem(Problem(code))), .success(.received(report.id))])
        let uploader = try uploader(queue, reports: stub)
        for _ in 0..<2 { #expect(await uploader.flush()?.problem?.code == code) }
        #expect(stub.requests.count == 1 && queue.reportCount == 1)
        await uploader.resume()
        #expect(await uploader.flush() == nil)
        #expect(queue.reportCount == 0)
    }

    @Test(
        "A response that isn't for this report says nothing of it",
        arguments: [
            ServiceResponse.test(200, ["Content-Type": "text/html"], "<html>Welcome</html>"),
            .test(201, ["Content-Type": "application/json"], "{}"), .received(UUID()), .test(404),
            .test(422, ["Content-Type": "text/html"], "<html>"), .test(503),
        ])
    func distrustsOthers(response: ServiceResponse) async throws {
        let queue = try folder.queue()
        queue.report(PlaceReport(place: 1, reason: .other))
        #expect(await (try uploader(queue, reports: StubTransport([.success(response)]))).flush() != nil)
        #expect(queue.reportCount == 1)
    }

    @Test("A full queue drops the oldest report, and a damaged line leaves the others")
    func bounded() throws {
        var backlog = ReportBacklog(limit: 2)
        let reports = (1...3).map { PlaceReport(place: $0, reason: .other) }
        var lines: [[UInt8]] = []
        for report in reports { lines += backlog.append(report).map(\.line) }
        #expect(backlog.entries.map(\.id) == reports.dropFirst().map(\.id))
        var restored = ReportBacklog(limit: 2)
        for line in lines { try restored.apply(#require(JournalRecord(line: line.dropLast()))) }
        #expect(restored.entries.map(\.id) == backlog.entries.map(\.id))

        let queue = try folder.queue()
        for report in reports { queue.report(report) }
        queue.close()
        let file = folder.url.appendingPathComponent("reports")
        var bytes = try Data(contentsOf: file)
        let line = try #require(bytes.range(of: Data(#""place":2"#.utf8)))
        bytes[line.upperBound - 1] = UInt8(ascii: "9")
        try bytes.write(to: file)
        #expect(try folder.queue().reportCount == 2)
    }

    @Test("Without a queue an app's report is sent at once; with one it waits in the file")
    @MainActor
    func environment() async throws {
        let report = PlaceReport(place: 42, reason: .duplicate)
        let requests = Lock<[URLRequest]>([])
        let network = try MockNetwork { request in
            requests.withLock { $0.append(request) }
            return (201, String(decoding: PlaceReportReceipt(id: report.id).json, as: UTF8.self))
        }
        func environment(_ queue: EventQueue?) -> AppEnvironment {
            AppEnvironment(
                configuration: .mock, urlSession: network.session, locationFetcher: MockLocationFetcher(),
                eventQueue: queue)
        }
        try await environment(nil).report(report)
        #expect(requests.withLock { $0.map { $0.url?.path } } == ["/reports"])
        let queue = try folder.queue()
        let other = environment(queue)
        try await other.report(report)
        #expect(queue.reportCount == 1 && requests.withLock { $0.count } == 1)
        #expect(await other.eventUploader?.flush() == nil)
        #expect(queue.reportCount == 0 && requests.withLock { $0.count } == 2)
        // A response for another report isn't taken for this one's.
        await #expect(throws: RequestError.self) {
            try await environment(nil).report(PlaceReport(place: 1, reason: .other))
        }
    }
}

extension PlaceReport {
    fileprivate static func decode(sent body: Data) throws -> PlaceReport {
        try JSONDecoder().decode(PlaceReport.self, from: body)
    }
}

extension ServiceResponse {
    /// The service's, that it has a report.
    fileprivate static func received(_ id: UUID) -> ServiceResponse {
        .test(
            201, ["Content-Type": "application/json"],
            String(decoding: PlaceReportReceipt(id: id).json, as: UTF8.self))
    }
}
