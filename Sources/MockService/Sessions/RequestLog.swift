import MockServerAPI

/// A session's journal as it grows: a value, bounded in count and in bytes.
struct RequestLog {
    /// The most requests that are kept.
    static let maximumCount = 1000
    /// The most bytes that the requests' fields and bodies may have together.
    static let maximumBytes = 4 * 1024 * 1024

    private(set) var requests: [MockRequest] = []
    private(set) var dropped = 0
    private var lastID = 0
    private var bytes = 0

    /// Takes a request that has arrived; makes it of its number, which is the greatest so far.
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

    /// Takes note of what became of a request, if it is still kept.
    mutating func update(_ id: Int, _ change: (inout MockRequest) -> Void) {
        // Numbers follow one another, so a request's place is told by the first one's.
        guard let first = requests.first?.id, requests.indices.contains(id - first) else { return }
        change(&requests[id - first])
    }

    /// The requests that a query asks for.
    func journal(_ query: MockJournalQuery) -> MockJournal {
        let template = query.path.map { PathTemplate($0) }
        let asked = requests.filter { request in
            request.id > query.after && (query.method ?? request.method) == request.method
                && template?.matches(request.path) ?? true
        }
        return MockJournal(requests: asked, dropped: dropped)
    }

    /// Forgets all requests so far; numbers go on.
    mutating func removeAll() {
        requests = []
        bytes = 0
        dropped = 0
    }
}

extension MockRequest {
    /// The target without its query.
    fileprivate var path: String { String(target.prefix { $0 != "?" }) }

    fileprivate var approximateBytes: Int {
        headers.reduce(target.utf8.count + 64) { $0 + $1.name.utf8.count + $1.value.utf8.count + 16 }
            + (body?.utf8.count ?? 0) + (bodyBase64?.utf8.count ?? 0)
    }
}
