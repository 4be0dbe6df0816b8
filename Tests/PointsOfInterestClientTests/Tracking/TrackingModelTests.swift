import Foundation
import Locking
import PointsOfInterestTesting
import Testing

@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP

@Suite("Tracking", .timeLimit(.minutes(1)))
struct TrackingModelTests {
    private enum OwnEvent: TrackableEvent {
        case order(items: Int)
        case other(EventContent)

        init(_ content: EventContent) { self = .other(content) }

        var content: EventContent {
            switch self {
            case .order(let items): EventContent(name: "order", value: ["items": .integer(items)])
            case .other(let content): content
            }
        }
    }

    @Test("A model adds the id, the user and the time to each event")
    func completesEvents() {
        let tracker = MockTracker()
        let model = TrackingModel.mock(tracker: tracker)
        model.sendTrackingEvent(.launch)
        model.sendOwnEvent(OwnEvent.order(items: 3))
        let boxed: any TrackableEvent = TrackingEvent.locationCheck
        model.sendOwnEvent(boxed)
        #expect(
            tracker.events.map(\.event) == [
                .launch, .other(EventContent(name: "order", value: ["items": 3])), .locationCheck,
            ])
        #expect(Set(tracker.events.map(\.id)).count == 3)
        #expect(
            tracker.events.allSatisfy {
                $0.userID == "user-of-a-test" && $0.time == 1536753250.92 && $0.isTest
            })
    }

    @Test("Each observer gets every event from its start on, in order")
    func tellsObservers() async {
        let tracker = MockTracker()
        let model = TrackingModel.mock(tracker: tracker)
        let first = model.dispatcher.events()
        model.sendTrackingEvent(.launch)
        let second = model.dispatcher.events()
        model.sendTrackingEvent(.background)
        model.dispatcher.finish()
        model.sendTrackingEvent(.featuredShown)
        var events: [[TrackingEvent]] = []
        for stream in [first, second, model.dispatcher.events()] {
            var own: [TrackingEvent] = []
            for await event in stream { own.append(event.event) }
            events.append(own)
        }
        #expect(events == [[.launch, .background], [.background], []])
        #expect(tracker.events.count == 3)
    }

    @Test("Observers and the tracker get events of many threads in the same order")
    func keepsOrder() async {
        let tracker = MockTracker()
        let model = TrackingModel.mock(tracker: tracker)
        let stream = model.dispatcher.events()
        DispatchQueue.concurrentPerform(iterations: 500) {
            model.sendTrackingEvent(.search(query: "", page: $0))
        }
        model.dispatcher.finish()
        var events: [TrackedEvent] = []
        for await event in stream { events.append(event) }
        #expect(events.count == 500)
        #expect(events == tracker.events)
    }

    @Test(
        "AppEnvironment's model has the app's user and queue; it hands on how events are sent, and what comes of it"
    )
    @MainActor
    func handsOnUploads() async throws {
        let folder = EventFolder()
        let queue = try folder.queue()
        for number in 1...2 { queue.track(.numbered(number)) }
        var configuration = AppConfiguration.mock
        configuration.userID = { "someone" }
        let problem = Problem(.forbidden)
        let reports = Lock<[EventUploader.Report]>([])
        let sent = Lock<[TrackedEvent]>([])
        let environment = AppEnvironment(
            configuration: configuration,
            urlSession: MockURLProtocol.session { request in
                let body = try JSONDecoder().decode([TrackedEvent].self, from: try #require(request.httpBody))
                sent.withLock { $0 += body }
                return try MockURLProtocol.response(problem, to: request)
            }, locationFetcher: MockLocationFetcher(), eventQueue: queue,
            eventUploadPolicy: EventUploader.Policy(batchEvents: 3),
            eventUploadReport: { report in reports.withLock { $0.append(report) } })
        for _ in 0..<2 { environment.trackingModel.sendTrackingEvent(.launch) }
        #expect(await environment.eventUploader?.flush() == .problem(problem))
        // As many as a batch may have, the last of them by the model.
        let events = sent.withLock { $0 }
        #expect(events.count == 3)
        #expect(events.last?.userID == "someone" && events.last?.isTest == true)
        #expect(reports.withLock { $0 } == [.unauthorized(.problem(problem))])
        #expect(queue.count == 4)
    }

    @Test("Without a queue, only observers see an event")
    @MainActor
    func needsQueue() async {
        let environment = AppEnvironment(
            configuration: .mock,
            urlSession: MockURLProtocol.session { request in
                Issue.record("\(request) was sent")
                throw CancellationError()
            }, locationFetcher: MockLocationFetcher())
        #expect(environment.eventUploader == nil)
        let observer = EventRecorder(environment.trackingModel)
        environment.trackingModel.sendTrackingEvent(.launch)
        #expect(await observer.remainingEvents() == [.launch])
    }
}
