import Foundation
import Locking
import PointsOfInterestClient
import PointsOfInterestTesting

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Responds with what was recorded; any other request fails with an error that says so.
enum RecordedService {
    struct NotRecorded: LocalizedError {
        let key: ExchangeKey

        var errorDescription: String? {
            "not recorded: \(key.method) \(key.target) \(key.headers); scripts/record/record-contract writes all anew"
        }
    }

    /// Where the responses to this suite's requests are.
    static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../Recorded/exchanges.http").standardized

    static func exchanges() throws -> [RecordedExchange] {
        try RecordedExchange.all(in: String(contentsOf: file, encoding: .utf8))
    }

    private static let responses = Result {
        Dictionary(try exchanges().map { (ExchangeKey($0), $0) }, uniquingKeysWith: { $1 })
    }

    static func response(to request: URLRequest) throws -> (HTTPURLResponse, Data) {
        let key = try ExchangeKey(request)
        guard let recorded = try responses.get()[key] else { throw NotRecorded(key: key) }
        return (
            try .fixture(for: request, status: recorded.status, headers: recorded.responseHeaders),
            recorded.body
        )
    }
}

extension RecordedExchange {
    /// The line between two exchanges of a file, as in the `.http` files of editors.
    private static let separator = "###\n"

    static func all(in text: String) throws -> [RecordedExchange] {
        // The end of the last line is not the body's.
        try text.components(separatedBy: "\n" + separator).filter { !$0.isEmpty }
            .map { try RecordedExchange(text: $0 + "\n") }
    }

    /// Writes a file of exchanges, in an order that doesn't depend on when they happened.
    static func text(of exchanges: [RecordedExchange]) -> String {
        exchanges.map(\.text).sorted().map { $0 + "\n" + separator }.joined()
    }

    private var text: String {
        let request = ["\(method) \(target)"] + Self.lines(of: requestHeaders)
        let response = ["\(status)"] + Self.lines(of: responseHeaders)
        return (request + [""] + response + ["", String(decoding: body, as: UTF8.self)]).joined(
            separator: "\n")
    }

    private static func lines(of headers: [String: String]) -> [String] {
        headers.map { "\($0): \($1)" }.sorted()
    }
}

/// What a response depends on: requests with the same key have the same response.
struct ExchangeKey: Hashable {
    let method: String
    let target: String
    let headers: [String: String]

    /// The header fields that requests set themselves; others differ between platforms.
    private static let names = ["Accept", "If-None-Match", "Origin"]

    init(_ exchange: RecordedExchange) {
        method = exchange.method
        target = exchange.target
        headers = exchange.requestHeaders.filter { Self.names.contains($0.key) }
    }

    init(_ request: URLRequest) throws {
        guard let url = request.url, let components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { throw URLError(.badURL) }
        method = request.httpMethod ?? "GET"
        target = components.percentEncodedPath + (components.percentEncodedQuery.map { "?" + $0 } ?? "")
        headers = Dictionary(
            uniqueKeysWithValues: Self.names.compactMap { name in
                request.value(forHTTPHeaderField: name).map { (name, $0) }
            })
    }
}

// MARK: - Writing

extension RecordedService {
    private static let notes = Notes()

    static func note(_ exchange: Exchange) { notes.add(exchange) }

    /// The exchanges of this run, which are written when the process ends.
    private final class Notes: Sendable {
        private let exchanges = Lock<[ExchangeKey: RecordedExchange]>([:])

        init() { atexit { RecordedService.notes.write() } }

        func add(_ exchange: Exchange) {
            do {
                let (key, recorded) = (try ExchangeKey(exchange.request), try RecordedExchange(exchange))
                exchanges.withLock { $0[key] = recorded }
            } catch {
                fail(error)
            }
        }

        private func write() {
            let text = exchanges.withLock { RecordedExchange.text(of: Array($0.values)) }
            do {
                try text.write(to: RecordedService.file, atomically: true, encoding: .utf8)
            } catch {
                fail(error)
            }
        }

        private func fail(_ error: any Error) {
            FileHandle.standardError.write(Data("the recording can't be written: \(error)\n".utf8))
        }
    }
}

extension RecordedExchange {
    /// The response's headers that don't change from one response to the next, nor with a server's settings.
    private static let keptNames = ["Content-Type", "Cache-Control", "Link"]

    fileprivate init(_ exchange: Exchange) throws {
        let key = try ExchangeKey(exchange.request)
        let kept = Self.keptNames.compactMap { name in exchange.header(name).map { "\(name): \($0)\n" } }
        let sent = key.headers.map { "\($0): \($1)\n" }
        try self.init(
            text: "\(key.method) \(key.target)\n\(sent.joined())\n\(exchange.status)\n\(kept.joined())\n"
                + String(decoding: exchange.body, as: UTF8.self) + "\n")
    }
}
