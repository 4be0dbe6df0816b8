import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One endpoint of a service, as a pair of pure functions around the network.
public protocol APIRequest: Sendable {
    /// What a request is made from.
    associatedtype RequestDataType: Sendable
    /// What a successful answer holds.
    associatedtype ResponseDataType: Sendable

    /// Makes the request to send.
    func makeRequest(from requestData: RequestDataType) throws -> URLRequest

    /// Reads the body of an answer whose status tells success.
    func parseResponse(data: Data) throws -> ResponseDataType

    /// Reads an answer whose status tells success, for endpoints that say something in its header fields; the
    /// default reads the body alone.
    func parseResponse(data: Data, head: ResponseHead) throws -> ResponseDataType
}

extension APIRequest {
    /// Reads the body alone.
    public func parseResponse(data: Data, head: ResponseHead) throws -> ResponseDataType {
        try parseResponse(data: data)
    }
}

/// Sends an API request and reads the answer.
public struct APIRequestLoader<T: APIRequest>: Sendable {
    /// The endpoint.
    public let apiRequest: T
    /// The session that carries requests.
    public let urlSession: URLSession

    private let transport: any Transport

    /// Makes a loader for an endpoint, which sends each request once.
    public init(apiRequest: T, urlSession: URLSession = .uncached) {
        self.init(
            apiRequest: apiRequest, urlSession: urlSession,
            transport: URLSessionTransport(urlSession: urlSession))
    }

    init(apiRequest: T, urlSession: URLSession, transport: any Transport) {
        self.apiRequest = apiRequest
        self.urlSession = urlSession
        self.transport = transport
    }

    /// Sends one request; returns at once when its task is cancelled, and cancels the request.
    ///
    /// Makes the request and reads the answer off the caller's actor: an app that asks on its main actor goes
    /// on drawing while a large answer is decoded.
    ///
    /// - Throws: `RequestError`; other errors only as `apiRequest` throws them itself.
    @concurrent
    public func loadAPIRequest(requestData: T.RequestDataType) async throws -> T.ResponseDataType {
        let request = try apiRequest.makeRequest(from: requestData)
        return try read(try await transport.send(request))
    }

    /// Sends one request and calls the handler once, on the session's delegate queue, after this function has
    /// returned.
    ///
    /// The handler's error is a `RequestError`; another only as `apiRequest` throws it itself.
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

    private func read(_ answer: Answer) throws -> T.ResponseDataType {
        guard (200..<300).contains(answer.head.status) else { throw RequestError(refusal: answer) }
        do {
            return try apiRequest.parseResponse(data: answer.body, head: answer.head)
        } catch let error as DecodingError {
            throw RequestError.undecodableBody(reason: String(describing: error))
        }
    }
}

/// An HTTP answer without its body.
public struct ResponseHead: Hashable, Sendable {
    /// The status, 100…599.
    public let status: Int
    /// The URL that answered; another than the request's where that was redirected.
    public let url: URL?

    /// The fields, their names in lower case.
    private let fields: [String: String]

    /// Makes a head.
    public init(status: Int, url: URL? = nil, fields: [String: String] = [:]) {
        self.status = status
        self.url = url
        // Of two spellings of a name, any one: an answer has only one.
        self.fields = Dictionary(
            fields.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    /// The value of a field, whatever the case of its name; several fields of a name are joined by commas.
    public func value(forField name: String) -> String? {
        fields[name.lowercased()]
    }

    init(_ response: HTTPURLResponse) {
        var fields: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
            if let name = name as? String, let value = value as? String { fields[name] = value }
        }
        self.init(status: response.statusCode, url: response.url, fields: fields)
    }

    /// The same head with another's fields in the place of its own, as a 304 brings them for the answer that is
    /// kept (RFC 9111, section 3.2). What describes the kept body stays.
    func updated(with newer: ResponseHead) -> ResponseHead {
        let changes = newer.fields.filter { !$0.key.hasPrefix("content-") && $0.key != "transfer-encoding" }
        return ResponseHead(status: status, url: url, fields: fields.merging(changes) { $1 })
    }

    /// The body's media type without parameters, in lower case.
    var mediaType: String? {
        value(forField: "Content-Type").map { value in
            value.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        }
    }
}
