import Foundation
import PointsOfInterestHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends the events of a queue to the service in their order, until the service has them, and beside them the reports.
///
/// It sends one request with events at a time, which keeps the order, and one report at a time. A request that fails is sent
/// again after a pause that grows. Since each event has an id, one that arrives twice counts once. Only events that the service refuses are dropped. A
/// batch that is too large for the service is sent in halves. If the service wants another key, the events stay in the
/// queue, and nothing is sent until `resume()`. In each of these cases the service responds with a problem document that
/// has a code of its own; any other response that doesn't say that the events are stored is a failure, whatever its
/// status. Of reports the same is true, but for the halves; and where the service takes no reports, they stay in the queue
/// until `resume()`, or the next start of the app.
public actor EventUploader {
    /// What is sent without waiting for the other.
    private enum Lane {
        case events, reports
    }

    private let queue: EventQueue
    private let request: EventsEndpoint
    private let transport: any Transport
    private let reportsTransport: any Transport
    private let policy: EventUploader.Policy
    private let clock: any Clock<Duration>
    private let jitter: @Sendable () -> Double
    private let now: @Sendable () -> Date
    private let report: @Sendable (EventUploader.Report) -> Void

    /// The maximum number of events in the next batch: less than the policy's while the service finds batches too
    /// large.
    private var batchEvents: Int
    /// Why nothing of a lane is sent until `resume()`.
    private var blocks: [Lane: RequestError] = [:]

    /// Makes the uploader of a queue. A queue may have several, one after another: they send one request at a time.
    ///
    /// - Parameters:
    ///   - queue: where the events wait.
    ///   - service: where they are sent, with the service's session and header fields.
    ///   - policy: how many events are sent at once, and when they are sent again.
    ///   - clock: measures the pauses.
    ///   - report: called with the outcome of each request, for an app's log for instance.
    public init(
        queue: EventQueue, service: PointsOfInterestService,
        policy: EventUploader.Policy = EventUploader.Policy(),
        clock: any Clock<Duration> = ContinuousClock(),
        report: @escaping @Sendable (EventUploader.Report) -> Void = { _ in }
    ) {
        self.init(
            queue: queue, request: EventsEndpoint(baseURL: service.baseURL),
            transport: TimeLimitedTransport(base: service.transport(.events), limit: service.timeLimit),
            reportsTransport: TimeLimitedTransport(
                base: service.transport(.reports), limit: service.timeLimit),
            policy: policy, clock: clock,
            jitter: { .random(in: 0...1) }, now: { Date() }, report: report)
    }

    /// Makes one whose chance and time a test may replace: `jitter` returns the factor of each pause, 0…1.
    init(
        queue: EventQueue, request: EventsEndpoint, transport: any Transport,
        reportsTransport: (any Transport)? = nil, policy: EventUploader.Policy,
        clock: any Clock<Duration>, jitter: @escaping @Sendable () -> Double,
        now: @escaping @Sendable () -> Date, report: @escaping @Sendable (EventUploader.Report) -> Void
    ) {
        self.queue = queue
        self.request = request
        self.transport = transport
        self.reportsTransport = reportsTransport ?? transport
        self.policy = policy
        self.clock = clock
        self.jitter = jitter
        self.now = now
        self.report = report
        batchEvents = policy.batchEvents
    }

    /// Sends events and reports as they arrive, until the task is cancelled. An app starts this once, at its launch.
    ///
    /// A call waits while another one for the same queue runs, also one of another uploader, and takes over when that is
    /// cancelled. So each window of an app may call it.
    public func run() async {
        guard await queue.running.take() else { return }
        defer { queue.running.end() }
        async let reports: Void = run(.reports, queue.reports, gathering: .zero)
        await run(.events, queue.events, gathering: policy.gathering)
        await reports
    }

    private func run(
        _ lane: Lane, _ waiting: JournaledQueue<some JournaledBacklog & Sendable>, gathering: Duration
    ) async {
        for await _ in waiting.arrivals() {
            guard await pause(gathering) else { return }
            await sendAll(lane)
            if Task.isCancelled { return }
        }
    }

    /// Sends the waiting events and reports at once, without pauses, for an app that goes to the background. It stops at the
    /// first failure of each.
    ///
    /// - Returns: nil where the service has all events and reports, or the queue is closed; else the error because of which
    ///   some still wait.
    @discardableResult
    public func flush() async -> RequestError? {
        await queue.synchronize()
        // A person waits for what becomes of a report.
        let failure = await flush(.reports)
        return await flush(.events) ?? failure
    }

    private func flush(_ lane: Lane) async -> RequestError? {
        while true {
            switch await sendNext(lane) {
            case .nothingToSend: return nil
            case .progress: continue
            case .failed(let error, _): return error
            case .blocked(let error): return error
            }
        }
    }

    /// Sends again after the service refused the key. Call it when the header fields contain another one.
    public func resume() {
        blocks = [:]
        queue.events.wake()
        queue.reports.wake()
    }

    // MARK: - One batch after another

    private enum Step {
        case nothingToSend
        case progress
        case failed(RequestError, retryAfter: Duration?)
        case blocked(RequestError)
    }

    private func sendAll(_ lane: Lane) async {
        var failures = 0
        while !Task.isCancelled {
            switch await sendNext(lane) {
            // A new event or `resume()` wakes `run()`.
            case .nothingToSend, .blocked: return
            case .progress: failures = 0
            case .failed(_, let retryAfter):
                failures += 1
                let pause = policy.pause(failures: failures, retryAfter: retryAfter, jitter: jitter())
                guard await self.pause(pause) else { return }
            }
        }
    }

    /// Sends what is next, once what was sent before has its response.
    private func sendNext(_ lane: Lane) async -> Step {
        let turn = lane == .events ? queue.events.sending : queue.reports.sending
        guard await turn.take() else { return .failed(.cancelled, retryAfter: nil) }
        defer { turn.end() }
        if lane == .events { reportRejected() }
        if let block = blocks[lane] { return .blocked(block) }
        return lane == .events ? await sendNextBatch() : await sendNextReport()
    }

    private func sendNextBatch() async -> Step {
        guard
            let batch = queue.nextBatch(
                events: batchEvents, bytes: EventLimits.bodyBytes, time: now().timeIntervalSince1970)
        else { return .nothingToSend }
        let outcome = await outcome(of: batch)
        if case .failure(.cancelled) = outcome { return .failed(.cancelled, retryAfter: nil) }
        return settle(batch, BatchOutcome(outcome, eventCount: batch.numbers.count, now: now()))
    }

    /// Reports the events that the queue didn't take, as the service would have refused them.
    private func reportRejected() {
        let ids = queue.takeRejectedIDs()
        guard !ids.isEmpty else { return }
        let detail = "is 1 to \(EventLimits.userIDBytes) bytes without a NUL"
        report(
            .refused(
                ids,
                ids.indices.map {
                    EventFault(index: $0, code: .outOfRange, detail: detail, parameter: "user_id")
                }))
    }

    private func outcome(of batch: EventBatch) async -> Result<ServiceResponse, RequestError> {
        do throws(RequestError) {
            return await outcome(of: try request.makeRequest(body: batch.body), by: transport)
        } catch {
            return .failure(error)
        }
    }

    private func outcome(
        of request: URLRequest, by transport: any Transport
    ) async -> Result<ServiceResponse, RequestError> {
        let request = request.identified
        return await transport.outcome(of: request).mapError { $0.about(request) }
    }

    private func sendNextReport() async -> Step {
        guard let waiting = queue.nextReport() else { return .nothingToSend }
        let endpoint = ReportsEndpoint(baseURL: request.baseURL)
        let outcome: Result<ServiceResponse, RequestError>
        do throws(RequestError) {
            outcome = await self.outcome(
                of: try endpoint.makeRequest(body: waiting.json), by: reportsTransport)
        } catch {
            outcome = .failure(error)
        }
        if case .failure(.cancelled) = outcome { return .failed(.cancelled, retryAfter: nil) }
        switch ReportOutcome(outcome, of: endpoint, id: waiting.id, now: now()) {
        case .stored:
            queue.remove(waiting)
            report(.reportStored(waiting.id))
            return .progress
        case .refused(let faults):
            queue.remove(waiting)
            report(.reportRefused(waiting.id, faults))
            return .progress
        case .failed(let error, let retryAfter):
            report(.failed(error))
            return .failed(error, retryAfter: retryAfter)
        case .unauthorized(let error):
            blocks[.reports] = error
            report(.unauthorized(error))
            return .blocked(error)
        case .unavailable(let error):
            blocks[.reports] = error
            report(.failed(error))
            return .blocked(error)
        }
    }

    private func settle(_ batch: EventBatch, _ outcome: BatchOutcome) -> Step {
        switch outcome {
        case .stored(let response):
            queue.remove(batch, isAcknowledged: true)
            batchEvents = min(batchEvents * 2, policy.batchEvents)
            report(.acknowledged(batch.ids.compactMap { $0 }, response))
            return .progress
        case .refused(let faults):
            drop(batch, faults)
            return .progress
        case .tooLarge:
            guard batch.numbers.count > 1 else {
                drop(batch, [EventFault(index: 0, code: .tooLarge, detail: "was refused by itself")])
                return .progress
            }
            batchEvents = batch.numbers.count / 2
            report(.split(events: batchEvents))
            return .progress
        case .failed(let error, let retryAfter):
            // A proxy may have a lower limit. No event is dropped because of it.
            if error.isContentTooLarge { batchEvents = max(batch.numbers.count / 2, 1) }
            report(.failed(error))
            return .failed(error, retryAfter: retryAfter)
        case .unauthorized(let error):
            blocks[.events] = error
            report(.unauthorized(error))
            return .blocked(error)
        }
    }

    private func drop(_ batch: EventBatch, _ faults: [EventFault]) {
        let indices = Set(faults.map(\.index))
        queue.remove(batch, refused: Set(indices.map { batch.numbers[$0] }), isAcknowledged: false)
        report(.refused(indices.sorted().compactMap { batch.ids[$0] }, faults))
    }

    /// Returns false if the task was cancelled.
    private func pause(_ duration: Duration) async -> Bool {
        guard duration > .zero else { return !Task.isCancelled }
        do {
            try await clock.sleep(for: duration)
            return true
        } catch {
            return false
        }
    }
}

extension EventUploader {
    /// The outcome of a request with events or with a report, for an app's log or a test. A later version may have more cases.
    public enum Report: Hashable, Sendable {
        /// The service has stored these events. `EventsResponse` says how many of them it had before.
        case acknowledged([UUID], EventsResponse)
        /// The service refused these events, or the queue did, since their user's id isn't 1 to 200 bytes. They are dropped and
        /// counted.
        case refused([UUID], [EventFault])
        /// The batch was too large for the service, or it can't read it. It is sent in parts of at most `events` events.
        case split(events: Int)
        /// The request failed and will be sent again: a report to a service that takes none, at the next start of the app.
        case failed(RequestError)
        /// The service wants another key, for events or for reports. Nothing of these is sent until `EventUploader.resume()`; they
        /// stay in the queue.
        case unauthorized(RequestError)
        /// The service has stored the report with this id.
        case reportStored(UUID)
        /// The service refused the report with this id, because of these faults. It is dropped.
        case reportRefused(UUID, [Problem.MemberFault])
    }
}
