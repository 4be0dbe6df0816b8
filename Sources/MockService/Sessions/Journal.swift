import EventLoop
import Foundation
import HTTPServer
import MockServerAPI
import Telemetry

/// A session's journal, and the requests that wait for it to grow. Belongs to one loop.
final class Journal {
    private let loop: EventLoop
    private var log = RequestLog()
    private var waiters: [Int: AsyncStream<Never>.Continuation] = [:]
    private var lastWaiter = 0
    private var isClosed = false

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// Returns the request's number.
    func begin(_ request: HTTPRequest, target: String, fault: MockFault.Kind?) -> Int {
        let text = String(validating: request.body, as: UTF8.self)
        defer { wakeWaiters() }
        return log.append { id in
            MockRequest(
                id: id, time: Timestamp.now.secondsSince1970,
                method: request.method.rawValue, target: target,
                headers: request.headers.map { MockRequest.Header(name: $0.name, value: $0.value) },
                body: request.body.isEmpty ? nil : text,
                bodyBase64: text == nil ? Data(request.body).base64EncodedString() : nil, fault: fault)
        }
    }

    /// - Parameter status: nil if there was no response.
    func end(_ id: Int, status: Int?) {
        log.update(id) { request in
            request.status = status
            request.isDone = true
        }
        wakeWaiters()
    }

    /// Returns as soon as the request that the query waits for is there, or when its time is over.
    func requests(_ query: MockJournalQuery) async -> MockJournal {
        let deadline = loop.now + .seconds(query.waitSeconds)
        while true {
            let journal = log.journal(query)
            let rest = deadline - loop.now
            let isThere = journal.requests.contains { $0.isDone || !query.untilDone }
            if isThere || rest <= .zero || isClosed || Task.isCancelled {
                return journal
            }
            await change(within: rest)
        }
    }

    func removeAll() {
        log.removeAll()
    }

    /// From now on, no call waits.
    func close() {
        isClosed = true
        wakeWaiters()
    }

    private func change(within time: Duration) async {
        let (changes, waiter) = AsyncStream.makeStream(of: Never.self)
        lastWaiter += 1
        let number = lastWaiter
        waiters[number] = waiter
        let timer = LoopTimer(loop: loop) { waiter.finish() }
        timer.start(after: time)
        for await _ in changes {}
        timer.close()
        waiters[number] = nil
    }

    private func wakeWaiters() {
        for waiter in waiters.values { waiter.finish() }
    }
}

struct RequestLog {
    static let maximumCount = 1000
    /// Of the fields and bodies of all requests.
    static let maximumBytes = 4 * 1024 * 1024

    private(set) var requests: [MockRequest] = []
    private(set) var dropped = 0
    private var lastID = 0
    private var bytes = 0

    mutating func append(_ make: (_ id: Int) -> MockRequest) -> Int {
        lastID += 1
        let request = make(lastID)
        requests.append(request)
        bytes += request.approximateBytes
        while requests.count > Self.maximumCount || (bytes > Self.maximumBytes && requests.count > 1) {
            bytes -= requests.removeFirst().approximateBytes
            dropped += 1
        }
        return lastID
    }

    mutating func update(_ id: Int, _ change: (inout MockRequest) -> Void) {
        // Numbers are consecutive, so the first one tells each request's index.
        guard let first = requests.first?.id, requests.indices.contains(id - first) else { return }
        change(&requests[id - first])
    }

    func journal(_ query: MockJournalQuery) -> MockJournal {
        let template = query.path.map { PathTemplate($0) }
        let selected = requests.filter { request in
            request.id > query.after && (query.method ?? request.method) == request.method
                && template?.matches(request.path) ?? true
        }
        return MockJournal(requests: selected, dropped: dropped)
    }

    /// The numbers go on.
    mutating func removeAll() {
        requests = []
        bytes = 0
        dropped = 0
    }
}

extension MockRequest {
    fileprivate var path: String { String(target.prefix { $0 != "?" }) }

    fileprivate var approximateBytes: Int {
        headers.reduce(target.utf8.count + 64) { $0 + $1.name.utf8.count + $1.value.utf8.count + 16 }
            + (body?.utf8.count ?? 0) + (bodyBase64?.utf8.count ?? 0)
    }
}
