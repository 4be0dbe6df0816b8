import MockServerAPI
import Testing

@testable import MockService

@Suite("A session's journal")
struct RequestLogTests {
    private func request(
        _ id: Int, method: String = "GET", target: String = "/locations?a=1", body: String? = nil
    )
        -> MockRequest
    {
        MockRequest(id: id, time: 0, method: method, target: target, headers: [], body: body)
    }

    @Test("The journal has the requests in order, with their statuses")
    func hasRequests() {
        var log = RequestLog()
        #expect(log.append { request($0) } == 1)
        #expect(log.append { request($0, target: "/categories") } == 2)
        log.update(2) { $0.status = 200 }
        log.update(3) { $0.status = 500 }
        let journal = log.journal(MockJournalQuery())
        #expect(journal.requests.map(\.id) == [1, 2])
        #expect(journal.requests.map(\.status) == [nil, 200])
        #expect(journal.dropped == 0)
    }

    @Test("The journal selects requests by method, path and number")
    func tellsSome() {
        var log = RequestLog()
        for (method, target) in [
            ("GET", "/locations?lat=1"), ("HEAD", "/locations"), ("GET", "/locations/7?lat=1"),
            ("GET", "/locations/8"),
        ] { _ = log.append { request($0, method: method, target: target) } }
        func ids(_ query: MockJournalQuery) -> [Int] { log.journal(query).requests.map(\.id) }
        #expect(ids(MockJournalQuery(path: "/locations")) == [1, 2])
        #expect(ids(MockJournalQuery(method: "GET", path: "/locations")) == [1])
        #expect(ids(MockJournalQuery(path: "/locations/{id}")) == [3, 4])
        #expect(ids(MockJournalQuery(after: 3)) == [4])
        #expect(ids(MockJournalQuery(after: 4)) == [])
    }

    @Test("The journal keeps the newest thousand requests, and counts those that it dropped")
    func isBoundedInCount() {
        var log = RequestLog()
        for _ in 0..<1010 { _ = log.append { request($0) } }
        log.update(5) { $0.status = 1 }
        log.update(11) { $0.status = 2 }
        let journal = log.journal(MockJournalQuery())
        #expect(journal.requests.map(\.id) == Array(11...1010))
        #expect(journal.requests.first?.status == 2)
        #expect(journal.dropped == 10)
    }

    @Test("The journal keeps four mebibytes, and the newest request whatever its size")
    func isBoundedInBytes() {
        var log = RequestLog()
        let body = String(repeating: "b", count: 1 << 20)
        for _ in 0..<10 { _ = log.append { request($0, body: body) } }
        #expect(log.journal(MockJournalQuery()).requests.map(\.id) == [8, 9, 10])
        _ = log.append { request($0, body: String(repeating: "b", count: 5 << 20)) }
        #expect(log.journal(MockJournalQuery()).requests.map(\.id) == [11])
        #expect(log.journal(MockJournalQuery()).dropped == 10)
        // What was dropped counts no more.
        for _ in 0..<3 { _ = log.append { request($0, body: body) } }
        #expect(log.journal(MockJournalQuery()).requests.map(\.id) == [12, 13, 14])
    }

    @Test("The journal can be emptied, and its numbers go on")
    func forgets() {
        var log = RequestLog()
        for _ in 0..<1005 { _ = log.append { request($0) } }
        log.removeAll()
        #expect(log.journal(MockJournalQuery()) == MockJournal(requests: [], dropped: 0))
        log.update(1005) { $0.status = 200 }
        #expect(log.append { request($0) } == 1006)
    }

    @Test(
        "The query of the journal is read, or refused with all of its faults",
        arguments: [
            ("", MockJournalQuery(), nil),
            ("after=3&wait=60", MockJournalQuery(after: 3, waitSeconds: 60), nil),
            (
                "path=%2Flocations%2F%7Bid%7D&method=GET",
                MockJournalQuery(method: "GET", path: "/locations/{id}"), nil
            ),
            ("done=false", MockJournalQuery(untilDone: false), nil),
            ("done=no", nil, "done must be true or false"),
            ("wait=61", nil, "wait must be a whole number from 0 to 60"),
            ("after=-1", nil, "after must be a whole number from 0 to 9223372036854775807"),
            ("after=99999999999999999999", nil, "after must be a whole number from 0 to 9223372036854775807"),
            ("after", nil, "after has no value that is encoded properly"),
            ("path=%ff", nil, "path has no value that is encoded properly"),
            ("wait=1&wait=1", nil, "wait must be given once"),
            ("limit=1", nil, "limit is not known; known are after, wait, done, method, path"),
        ] as [(String, MockJournalQuery?, String?)])
    func isQueried(text: String, query: MockJournalQuery?, fault: String?) {
        do {
            #expect(try MockJournalQuery(query: text) == query)
        } catch {
            #expect("\(error.parameter) \(error.detail)" == fault)
        }
    }
}
