import Foundation

/// Sends a queue's events to the service, in their order, until it has them.
///
/// One request is on its way at a time, so the order holds. A request that fails is sent again, with growing pauses;
/// since each event has an id, one that arrives twice counts once. Which events the service refuses (422) is in its
/// answer, and just these are dropped. A batch that it finds too large (413) goes in halves. Where it wants another key
/// (401, 403), all is kept and nothing sent until `resume()`.
public actor EventUploader {
    /// What became of the events that `flush()` was to send.
    public enum FlushOutcome: Hashable, Sendable {
        /// The service has all of them.
        case empty
        /// They wait; the error says what for.
        case waiting(RequestError)
    }

    private let queue: EventQueue
    private let request: EventsEndpoint
    private let transport: any Transport
    private let policy: EventUploadPolicy
    private let clock: any Clock<Duration>
    private let jitter: @Sendable () -> Double
    private let now: @Sendable () -> Date
    private let report: @Sendable (EventUploadReport) -> Void

    /// The most events of the next batch: less than the policy's while the service finds those too large.
    private var batchEvents: Int
    private var block: RequestError?
    /// The request that is on its way; the next one waits for it.
    private var sending: Task<Void, Never>?

    /// Makes an uploader of a queue to a service, with the service's headers. A queue has one.
    ///
    /// - Parameters:
    ///   - queue: where the events wait.
    ///   - service: where they go.
    ///   - policy: how many at once, and when again.
    ///   - clock: what pauses are measured by.
    ///   - jitter: a number of 0…1, another each time, by which pauses are shortened.
    ///   - now: the time.
    ///   - report: is told what became of each request.
    public init(
        queue: EventQueue, service: PointsOfInterestService, policy: EventUploadPolicy = EventUploadPolicy(),
        clock: any Clock<Duration> = ContinuousClock(),
        jitter: @escaping @Sendable () -> Double = { .random(in: 0...1) },
        now: @escaping @Sendable () -> Date = { Date() },
        report: @escaping @Sendable (EventUploadReport) -> Void = { _ in }
    ) {
        self.init(
            queue: queue, request: EventsEndpoint(baseURL: service.baseURL),
            transport: service.plainTransport,
            policy: policy, clock: clock, jitter: jitter, now: now, report: report)
    }

    init(
        queue: EventQueue, request: EventsEndpoint, transport: any Transport, policy: EventUploadPolicy,
        clock: any Clock<Duration>, jitter: @escaping @Sendable () -> Double,
        now: @escaping @Sendable () -> Date, report: @escaping @Sendable (EventUploadReport) -> Void
    ) {
        self.queue = queue
        self.request = request
        self.transport = transport
        self.policy = policy
        self.clock = clock
        self.jitter = jitter
        self.now = now
        self.report = report
        batchEvents = policy.batchEvents
    }

    /// Sends what comes, until the task is cancelled. An app starts it once, at its launch.
    public func run() async {
        for await _ in queue.arrivals() {
            guard await pause(policy.gathering) else { return }
            await sendAll()
            if Task.isCancelled { return }
        }
    }

    /// Sends all that waits now, without pauses: for an app that goes to the background. After a first failure it
    /// leaves the rest for later.
    public func flush() async -> FlushOutcome {
        await queue.synchronize()
        while true {
            switch await sendNext() {
            case .nothingToSend: return .empty
            case .progress: continue
            case .failed(let error, _): return .waiting(error)
            case .blocked(let error): return .waiting(error)
            }
        }
    }

    /// Sends again after the service had refused the key: the headers bring another one now.
    public func resume() {
        block = nil
        queue.wake()
    }

    // MARK: - One batch after the other

    private enum Step {
        case nothingToSend
        case progress
        case failed(RequestError, retryAfter: Duration?)
        case blocked(RequestError)
    }

    private func sendAll() async {
        var failures = 0
        while !Task.isCancelled {
            switch await sendNext() {
            // A new event wakes `run()`, and so does `resume()`.
            case .nothingToSend, .blocked: return
            case .progress: failures = 0
            case .failed(_, let retryAfter):
                failures += 1
                let pause = policy.pause(failures: failures, retryAfter: retryAfter, jitter: jitter())
                guard await self.pause(pause) else { return }
            }
        }
    }

    /// Sends the next batch, once the one before has its answer.
    private func sendNext() async -> Step {
        while let sending { await sending.value }
        if let block { return .blocked(block) }
        guard
            let batch = queue.nextBatch(
                events: batchEvents, bytes: EventLimits.bodyBytes, time: now().timeIntervalSince1970)
        else { return .nothingToSend }
        let (turn, end) = AsyncStream.makeStream(of: Never.self)
        sending = Task { for await _ in turn {} }
        defer {
            sending = nil
            end.finish()
        }
        let outcome = await outcome(of: batch)
        if case .failure(.cancelled) = outcome { return .failed(.cancelled, retryAfter: nil) }
        return settle(batch, EventVerdict(outcome, eventCount: batch.numbers.count, now: now()))
    }

    private func outcome(of batch: EventBatch) async -> Result<Answer, RequestError> {
        do throws(RequestError) {
            return .success(try await transport.send(try request.makeRequest(body: batch.body)))
        } catch {
            return .failure(error)
        }
    }

    private func settle(_ batch: EventBatch, _ verdict: EventVerdict) -> Step {
        switch verdict {
        case .stored(let answer):
            queue.remove(batch, isAcknowledged: true)
            batchEvents = min(batchEvents * 2, policy.batchEvents)
            report(.acknowledged(batch.ids.compactMap { $0 }, answer))
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
            report(.failed(error))
            return .failed(error, retryAfter: retryAfter)
        case .unauthorized(let error):
            block = error
            report(.unauthorized(error))
            return .blocked(error)
        }
    }

    private func drop(_ batch: EventBatch, _ faults: [EventFault]) {
        let indices = Set(faults.map(\.index))
        queue.remove(batch, refused: Set(indices.map { batch.numbers[$0] }), isAcknowledged: false)
        report(.refused(indices.sorted().compactMap { batch.ids[$0] }, faults))
    }

    /// False if the task was cancelled.
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

/// What became of a request with events: for an app's log, or a test.
public enum EventUploadReport: Hashable, Sendable {
    /// The service has these events for good. Some were there before, as `EventsResponse` tells.
    case acknowledged([UUID], EventsResponse)
    /// The service refused these events; they are dropped and counted.
    case refused([UUID], [EventFault])
    /// The batch was too large for the service; it goes in parts of at most so many events.
    case split(events: Int)
    /// The request failed; it is sent again.
    case failed(RequestError)
    /// The service wants another key: nothing is sent until `EventUploader.resume()`. Nothing is lost.
    case unauthorized(RequestError)
}
