import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Replaces the network: passes requests on and records them with their responses, or replays what is recorded.
final class ExchangeProtocol: URLProtocol {
    /// What is recorded or replayed; one conversation at a time.
    static let conversation = Conversation()

    private static let network = URLSession(configuration: .withoutCache)

    override class func canInit(with request: URLRequest) -> Bool { true }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard Self.conversation.isRecording else {
            return finish(Self.conversation.replay(request))
        }
        let loader = Loader(self)
        // Elsewhere: on Linux sessions share the queue that calls this, and wait for it to make a task.
        DispatchQueue.global().async {
            let request = loader.value.request
            Self.network.dataTask(with: request) { data, response, error in
                guard let response = response as? HTTPURLResponse else {
                    return loader.value.finish(.failure(error ?? URLError(.badServerResponse)))
                }
                let recorded = Exchange.Response(response, data ?? Data())
                Self.conversation.record(Exchange(request: Exchange.Request(request), response: recorded))
                loader.value.finish(.success(recorded))
            }
            .resume()
        }
    }

    override func stopLoading() {}

    private func finish(_ outcome: Result<Exchange.Response, any Error>) {
        do {
            let recorded = try outcome.get()
            guard let url = request.url,
                let response = HTTPURLResponse(
                    url: url, statusCode: recorded.status, httpVersion: "HTTP/1.1",
                    headerFields: recorded.headers)
            else { throw URLError(.badURL) }
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            client?.urlProtocol(self, didLoad: Data(recorded.body.utf8))
            client?.urlProtocolDidFinishLoading(self)
        } catch {
            client?.urlProtocol(self, didFailWithError: error)
        }
    }

    /// Carries a loader to the end of its request; unchecked, since nothing else uses it in between.
    private struct Loader: @unchecked Sendable {
        let value: ExchangeProtocol

        init(_ value: ExchangeProtocol) { self.value = value }
    }
}

extension URLSessionConfiguration {
    /// On Linux, a task cancelled while its session looks into a cache can trap.
    static var withoutCache: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        return configuration
    }
}
