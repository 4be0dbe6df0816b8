import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One endpoint of a service: a function that makes the request and one that reads the response. Both are pure.
public protocol APIRequest: Sendable {
    /// What a request is made of.
    associatedtype RequestDataType: Sendable
    /// What a successful response contains.
    associatedtype ResponseDataType: Sendable

    /// Makes the request to send.
    ///
    /// - Throws: `RequestError`, or an error of the endpoint's own.
    func makeRequest(from requestData: RequestDataType) throws -> URLRequest

    /// Reads the body of a response with a status of 200 to 299.
    ///
    /// - Throws: `RequestError.undecodableBody`, or an error of the endpoint's own. A `DecodingError` becomes
    ///   `RequestError.undecodableBody`.
    func parseResponse(data: Data) throws -> ResponseDataType

    /// Reads the body and the header fields of a response with a status of 200 to 299. The default ignores the
    /// header fields.
    func parseResponse(data: Data, head: ResponseHead) throws -> ResponseDataType
}

extension APIRequest {
    /// Reads the body and ignores the header fields.
    ///
    /// - Throws: what `parseResponse(data:)` throws.
    public func parseResponse(data: Data, head: ResponseHead) throws -> ResponseDataType {
        try parseResponse(data: data)
    }
}

/// An endpoint of the service, for the header fields that an app adds.
public enum ServiceEndpoint: Hashable, Sendable, CaseIterable {
    /// `GET /locations`, each page.
    case nearbyPlaces
    /// `GET /locations/{id}`.
    case place
    /// `GET /locations/clusters`.
    case clusters
    /// `GET /categories`.
    case categories
    /// `GET /attributions`.
    case attributions
    /// `POST /events`.
    case events
    /// `POST /reports`.
    case reports
    /// `GET /readyz`.
    case health
    /// What editors load and change, by the module `PointsOfInterestEditing`.
    case editing
    /// An endpoint of the app's own, by `PointsOfInterestService.loader(for:)`.
    case own
}

/// A request to an endpoint of the service, as opposed to one of the app's own.
protocol ServiceRequest: APIRequest {
    /// The endpoint.
    static var endpoint: ServiceEndpoint { get }
}

/// Sends requests to one endpoint and reads the responses.
public struct APIRequestLoader<T: APIRequest>: Sendable {
    /// The endpoint.
    public let apiRequest: T
    /// The session that sends the requests.
    public let urlSession: URLSession

    private let transport: any Transport
    /// Nil where only the session limits the time.
    private let timeLimit: TimeLimit?

    /// Makes a loader for an endpoint. It sends each request once; `PointsOfInterestService.loader(for:)` makes one
    /// that retries and keeps responses.
    public init(apiRequest: T, urlSession: URLSession = .uncached) {
        self.init(
            apiRequest: apiRequest, urlSession: urlSession,
            transport: URLSessionTransport(urlSession: urlSession))
    }

    init(apiRequest: T, urlSession: URLSession, transport: any Transport, timeLimit: TimeLimit? = nil) {
        self.apiRequest = apiRequest
        self.urlSession = urlSession
        self.transport = transport
        self.timeLimit = timeLimit
    }

    /// Sends one request and returns what the response contains.
    ///
    /// The request is made and the response is read off the caller's actor, so that decoding a large response
    /// doesn't block the main one. When the task is cancelled, this throws at once and cancels the request.
    ///
    /// - Throws: `RequestError`: `.problem` or `.unexpectedStatus` for a status outside of 200 to 299,
    ///   `.undecodableBody`, `.transport`, `.redirectRefused`, `.notHTTP`, `.cancelled`, for an endpoint of the service
    ///   also `.foreignResponse`; and any error that `apiRequest` throws.
    @concurrent
    public func loadAPIRequest(requestData: T.RequestDataType) async throws -> T.ResponseDataType {
        let request = try apiRequest.makeRequest(from: requestData).identified
        do {
            guard let timeLimit else { return try await load(request) }
            return try await timeLimit.during(request) { try await load($0) }
        } catch let error as RequestError {
            throw error.about(request)
        }
    }

    /// Sends the request, and keeps a response that was understood. A kept one that can't be read, though the service says
    /// that it is valid, is dropped and asked for once more.
    @concurrent
    private func load(_ request: URLRequest) async throws -> T.ResponseDataType {
        var response = try await transport.send(request)
        if let keeping = response.keeping, keeping.isKept {
            if let value = try? read(response) {
                await keeping.keep()
                return value
            }
            await keeping.drop()
            response = try await transport.send(request)
        }
        let value = try read(response)
        await response.keeping?.keep()
        return value
    }

    /// Sends one request and calls the handler once, on the session's delegate queue, after this function has
    /// returned.
    ///
    /// The handler gets the errors that the `async` function throws.
    public func loadAPIRequest(
        requestData: T.RequestDataType,
        completionHandler: @escaping @Sendable (Result<T.ResponseDataType, any Error>) -> Void
    ) {
        Task {
            let outcome: Result<T.ResponseDataType, any Error>
            do {
                outcome = .success(try await loadAPIRequest(requestData: requestData))
            } catch {
                outcome = .failure(error)
            }
            urlSession.delegateQueue.addOperation { completionHandler(outcome) }
        }
    }

    /// Sends one request and calls the handler once, as the form with a `Result` does: either with what the response
    /// contains and no error, or with no value and the error.
    public func loadAPIRequest(
        requestData: T.RequestDataType,
        completionHandler: @escaping @Sendable (T.ResponseDataType?, (any Error)?) -> Void
    ) {
        loadAPIRequest(requestData: requestData) { outcome in
            switch outcome {
            case .success(let contents): completionHandler(contents, nil)
            case .failure(let error): completionHandler(nil, error)
            }
        }
    }

    private func read(_ response: ServiceResponse) throws -> T.ResponseDataType {
        do {
            guard (200..<300).contains(response.head.status) else { throw RequestError(refusal: response) }
            return try apiRequest.parseResponse(data: response.body, head: response.head)
        } catch let error as DecodingError {
            throw judged(.undecodableBody(reason: String(describing: error)), by: response)
        } catch let error as RequestError {
            throw judged(error, by: response)
        }
    }

    private func judged(_ error: RequestError, by response: ServiceResponse) -> RequestError {
        T.self is any ServiceRequest.Type ? error.judged(by: response) : error.about(response)
    }
}

/// The status and the header fields of an HTTP response.
public struct ResponseHead: Hashable, Sendable, Codable {
    /// The status code, 100…599.
    public let status: Int
    /// The URL that the response came from; not the request's where that was redirected.
    public let url: URL?
    /// When the response was received, by the device's clock; after a 304, when the 304 was received. Nil where it isn't
    /// known.
    public let receivedAt: Date?

    /// The header fields by their names in lower case.
    private let fields: [String: String]

    /// Makes a head.
    public init(status: Int, url: URL? = nil, fields: [String: String] = [:], receivedAt: Date? = nil) {
        self.status = status
        self.url = url
        self.receivedAt = receivedAt
        // Two spellings of one name don't occur in a response, so it doesn't matter which one is kept.
        self.fields = Dictionary(
            fields.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the value of a header field, in whatever case the name is written. Several fields of one name are
    /// joined with commas.
    public func value(forField name: String) -> String? {
        fields[name.lowercased()]
    }

    package init(_ response: HTTPURLResponse, receivedAt: Date = Date()) {
        var fields: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
            if let name = name as? String, let value = value as? String { fields[name] = value }
        }
        self.init(status: response.statusCode, url: response.url, fields: fields, receivedAt: receivedAt)
    }

    /// Returns this head with the fields of a 304 in place of its own, except those that describe the kept body
    /// (RFC 9111, section 3.2).
    func updated(with newer: ResponseHead) -> ResponseHead {
        let changes = newer.fields.filter { !$0.key.hasPrefix("content-") && $0.key != "transfer-encoding" }
        return ResponseHead(
            status: status, url: url, fields: fields.merging(changes) { $1 },
            receivedAt: newer.receivedAt ?? receivedAt)
    }

    /// This head without cookies and what proves who the client is, and without a name and password in its URL.
    var withoutSecrets: ResponseHead {
        ResponseHead(
            status: status, url: url?.withoutUser,
            fields: fields.filter { !["set-cookie", "authentication-info"].contains($0.key) },
            receivedAt: receivedAt)
    }

    /// The body's media type without parameters, in lower case.
    var mediaType: String? {
        value(forField: "Content-Type").map { value in
            value.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        }
    }
}

extension URL {
    /// This URL without a name and password.
    var withoutUser: URL? {
        var components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        components?.user = nil
        components?.password = nil
        return components?.url
    }
}
