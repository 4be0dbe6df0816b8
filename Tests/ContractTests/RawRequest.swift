import Foundation
import PointsOfInterestClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request for a path and query just as they are, right or wrong.
struct RawRequest: APIRequest {
    struct NoURL: Error {
        let text: String
    }

    let baseURL: URL

    func makeRequest(from target: String) throws -> URLRequest {
        let base = baseURL.absoluteString
        let text = (base.hasSuffix("/") ? String(base.dropLast()) : base) + target
        guard let url = URL(string: text, encodingInvalidCharacters: false) else { throw NoURL(text: text) }
        return URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
    }

    func parseResponse(data: Data) -> Data { data }
}
