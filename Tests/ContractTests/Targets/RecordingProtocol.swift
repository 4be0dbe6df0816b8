import Foundation
import PointsOfInterestTesting

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLSessionConfiguration {
    /// Passes requests on, and records them with their responses when this process ends.
    static var recording: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.uncached
        configuration.protocolClasses = [RecordingProtocol.self]
        return configuration
    }
}

/// Stands where the network is, passes requests on to it, and takes note.
private final class RecordingProtocol: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        let loader = Loader(value: self)
        // Elsewhere: on Linux sessions share the queue that calls this, and wait for it to make a task.
        DispatchQueue.global().async {
            var request = loader.value.request
            // A problem contains its request's id, which is always this one here.
            request.setValue("recorded", forHTTPHeaderField: "X-Request-Id")
            URLSession.uncached.dataTask(with: request) { data, response, error in
                loader.value.finish(response as? HTTPURLResponse, data ?? Data(), error)
            }
            .resume()
        }
    }

    override func stopLoading() {}

    private func finish(_ response: HTTPURLResponse?, _ body: Data, _ error: (any Error)?) {
        do {
            guard let response else { throw error ?? URLError(.badServerResponse) }
            try RecordedService.note(RecordedExchange(request, response, body))
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            client?.urlProtocol(self, didLoad: body)
            client?.urlProtocolDidFinishLoading(self)
        } catch {
            client?.urlProtocol(self, didFailWithError: error)
        }
    }

    /// Carries a loader to the end of its request; unchecked, since nothing else uses it in between.
    private struct Loader: @unchecked Sendable {
        let value: RecordingProtocol
    }
}

extension RecordedService {
    private static let notes = Notes()

    fileprivate static func note(_ exchange: RecordedExchange) { notes.add(exchange) }

    /// The exchanges of this run; unchecked, since the lock guards them.
    private final class Notes: @unchecked Sendable {
        private let lock = NSLock()
        private var exchanges: [ExchangeKey: RecordedExchange] = [:]

        init() { atexit { RecordedService.notes.write() } }

        func add(_ exchange: RecordedExchange) {
            lock.withLock { exchanges[ExchangeKey(exchange)] = exchange }
        }

        private func write() {
            let text = lock.withLock { RecordedExchange.text(of: Array(exchanges.values)) }
            do {
                try text.write(to: RecordedService.file, atomically: true, encoding: .utf8)
            } catch {
                FileHandle.standardError.write(Data("the recording can't be written: \(error)\n".utf8))
            }
        }
    }
}

extension RecordedExchange {
    /// The response's headers that don't change from one response to the next, nor with a server's settings.
    private static let keptNames = ["Content-Type", "Cache-Control", "Link"]

    fileprivate init(_ request: URLRequest, _ response: HTTPURLResponse, _ body: Data) throws {
        let key = try ExchangeKey(request)
        let kept = Self.keptNames.compactMap { name in
            response.value(forHTTPHeaderField: name).map { "\(name): \($0)\n" }
        }
        let sent = key.headers.map { "\($0): \($1)\n" }
        try self.init(
            text: "\(key.method) \(key.target)\n\(sent.joined())\n\(response.statusCode)\n\(kept.joined())\n"
                + String(decoding: body, as: UTF8.self) + "\n")
    }
}
