import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Adds the app's own fields to each request, a token for instance.
struct AuthorizingTransport: Transport {
    let base: any Transport
    let headers: HeaderProvider

    func send(_ request: URLRequest) async throws(RequestError) -> Answer {
        var request = request
        do {
            for (name, value) in try await headers() { request.setValue(value, forHTTPHeaderField: name) }
        } catch {
            throw RequestError(transportError: error)
        }
        return try await base.send(request)
    }
}

/// Makes the fields that an app adds to each request; asked before each one, so that tokens may be renewed.
public typealias HeaderProvider = @Sendable () async throws -> [String: String]
