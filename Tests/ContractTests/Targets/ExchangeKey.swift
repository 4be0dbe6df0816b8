import Foundation
import PointsOfInterestTesting

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What an answer depends on: requests with the same key have the same answer.
struct ExchangeKey: Hashable {
    let method: String
    let target: String
    let headers: [String: String]

    /// What a request sends of its own; the rest differs between platforms.
    private static let names = ["Accept", "If-None-Match", "Origin"]

    init(_ exchange: RecordedExchange) {
        method = exchange.method
        target = exchange.target
        headers = exchange.requestHeaders.filter { Self.names.contains($0.key) }
    }

    init(_ request: URLRequest) throws {
        guard let url = request.url,
            let components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { throw URLError(.badURL) }
        method = request.httpMethod ?? "GET"
        target = components.percentEncodedPath + (components.percentEncodedQuery.map { "?" + $0 } ?? "")
        headers = Dictionary(
            uniqueKeysWithValues: Self.names.compactMap { name in
                request.value(forHTTPHeaderField: name).map { (name, $0) }
            })
    }
}
