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
        } catch let error as RequestError {
            throw error
        } catch  where error is URLError || error is CancellationError {
            throw RequestError(transportError: error)
        } catch {
            // The app's own, and not one that passes by sending again.
            throw .transport(
                code: URLError.userAuthenticationRequired.rawValue, reason: error.localizedDescription)
        }
        return try await base.send(request)
    }
}

/// Makes the fields that an app adds to each request; asked before each attempt, so that tokens may be renewed.
///
/// A fixed key is `{ ["Authorization": "Bearer \(key)"] }`. What it throws ends the request: a `RequestError` as
/// it is, a `URLError` as one of transport, anything else with the code `userAuthenticationRequired`.
public typealias HeaderProvider = @Sendable () async throws -> [String: String]
