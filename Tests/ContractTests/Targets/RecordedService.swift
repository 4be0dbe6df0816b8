import Foundation
import PointsOfInterestTesting

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Answers with what was recorded, and with nothing else: a request that wasn't is an error that says so.
enum RecordedService {
    /// A request of which nothing is recorded.
    struct NotRecorded: LocalizedError {
        let key: ExchangeKey

        var errorDescription: String? {
            "not recorded: \(key.method) \(key.target) \(key.headers); scripts/record-contract writes all anew"
        }
    }

    /// Where the answers to this suite's requests are.
    static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../Recorded/exchanges.http").standardized

    /// The answers to this suite's requests.
    static func exchanges() throws -> [RecordedExchange] {
        try RecordedExchange.all(in: String(contentsOf: file, encoding: .utf8))
    }

    private static let answers = Result {
        Dictionary(try exchanges().map { (ExchangeKey($0), $0) }, uniquingKeysWith: { $1 })
    }

    static func answer(to request: URLRequest) throws -> (HTTPURLResponse, Data) {
        let key = try ExchangeKey(request)
        guard let exchange = try answers.get()[key] else { throw NotRecorded(key: key) }
        return (
            try .fixture(for: request, status: exchange.status, headers: exchange.responseHeaders),
            exchange.body
        )
    }
}
