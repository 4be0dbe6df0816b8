import Foundation
import Locking
import PointsOfInterestTesting
import Testing

/// What an app writes: an unlabeled trailing closure binds to the first parameter that is a function (SE-0286), so none
/// may stand before the one that a reader expects.
@MainActor
@Suite("A trailing closure", .timeLimit(.minutes(1)))
struct TrailingClosureTests {
    private let session = MockURLProtocol.session {
        try MockURLProtocol.response(Problem(.overloaded), to: $0)
    }

    private var unavailable: PointsOfInterestService {
        PointsOfInterestService(
            baseURL: AppConfiguration.mock.baseURL, urlSession: session, retryPolicy: .never)
    }

    @Test("Of an uploader, it gets the reports")
    func uploader() async throws {
        try await withQueue { queue in
            let reports = Lock<[EventUploader.Report]>([])
            let uploader = EventUploader(queue: queue, service: unavailable) { report in
                reports.withLock { $0.append(report) }
            }
            let error = try #require(await uploader.flush())
            let other = EventUploader(
                queue: queue, service: unavailable, policy: EventUploader.Policy(batchEvents: 1),
                clock: HeldClock()
            ) { report in
                reports.withLock { $0.append(report) }
            }
            #expect(await other.flush() == error)
            #expect(reports.withLock { $0 } == [.failed(error), .failed(error)])
        }
    }

    @Test("Of a service, it is asked for header fields")
    func service() async throws {
        let asked = Lock<[ServiceEndpoint]>([])
        let service = PointsOfInterestService(
            baseURL: AppConfiguration.mock.baseURL, urlSession: session, retryPolicy: .never
        ) { endpoint in
            asked.withLock { $0.append(endpoint) }
            return [:]
        }
        await #expect(throws: RequestError.self) { try await service.categories() }
        #expect(asked.withLock { $0 } == [.categories])
    }

    @Test("Of an environment, it gets the reports")
    func environments() async throws {
        try await withQueue { queue in
            let reports = Lock<[EventUploader.Report]>([])
            let environment = AppEnvironment(
                configuration: .mock, urlSession: session, retryPolicy: .never,
                locationFetcher: MockLocationFetcher(), eventQueue: queue
            ) { report in
                reports.withLock { $0.append(report) }
            }
            let error = try #require(await environment.eventUploader?.flush())
            #expect(reports.withLock { $0 } == [.failed(error)])
        }
    }

    @Test("Of a configuration, it is asked for header fields, and after all other labels for the user")
    func configuration() async throws {
        let url = AppConfiguration.mock.baseURL
        let withHeaders = AppConfiguration(baseURL: url) { endpoint in ["Endpoint": "\(endpoint)"] }
        #expect(try await withHeaders.headers(.events) == ["Endpoint": "\(ServiceEndpoint.events)"])
        let withUser = AppConfiguration(baseURL: url, isUnitTesting: true) { "someone" }
        #expect(withUser.userID() == "someone")
    }

    @Test("Of a model, it is asked for the user, and of a recorder whether an event matches")
    func tracking() async throws {
        let tracker = MockTracker()
        let model = TrackingModel(tracker: tracker) { "someone" }
        let recorder = EventRecorder(model)
        model.sendTrackingEvent(.launch)
        #expect(try await recorder.next { $0.userID == "someone" }.event == .launch)
    }

    /// Runs a test with a queue that has an event.
    private func withQueue(_ body: (EventQueue) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "events-\(UUID().uuidString)")
        let queue = try EventQueue(directory: folder)
        defer {
            queue.close()
            try? FileManager.default.removeItem(at: folder)
        }
        queue.track(TrackedEvent(userID: "someone", time: 1, event: .launch))
        try await body(queue)
    }
}
