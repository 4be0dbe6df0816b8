import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Hands each request to the mock network that its host belongs to.
final class MockURLProtocol: URLProtocol {
    static let networks = Locked<[String: MockNetwork.Connection]>([:])

    private var connection: MockNetwork.Connection? {
        request.url?.host.flatMap { host in Self.networks.withLock { $0[host] } }
    }

    override class func canInit(with request: URLRequest) -> Bool { true }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let connection else {
            client?.urlProtocol(self, didFailWithError: URLError(.cannotFindHost))
            return
        }
        connection.events.yield(.started(request))
        do {
            guard let (response, body) = try connection.handler(request) else { return }
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            client?.urlProtocol(self, didLoad: body)
            client?.urlProtocolDidFinishLoading(self)
        } catch {
            client?.urlProtocol(self, didFailWithError: error)
        }
    }

    override func stopLoading() {
        connection?.events.yield(.stopped)
    }
}
