/// A request that a session has got, and what became of it.
public struct MockRequest: Hashable, Sendable, Identifiable, Codable {
    /// A header field.
    public struct Header: Hashable, Sendable, Codable {
        /// The field's name as it was sent.
        public let name: String
        /// The field's value.
        public let value: String

        /// Makes a field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The request's number in its session, from 1, in the order in which requests arrive.
    public let id: Int
    /// When it arrived, in seconds since 1970-01-01T00:00:00Z.
    public let time: Double
    /// The method.
    public let method: String
    /// Path and query as they were sent, below the session's prefix.
    public let target: String
    /// The fields, in order.
    public let headers: [Header]
    /// The body, where there is one and it is text in UTF-8.
    public let body: String?
    /// The body in Base64 (RFC 4648, section 4), where it is no text.
    public let bodyBase64: String?
    /// Whether the mock is done with it: it was answered, its connection was reset, or its client is gone.
    public var isDone: Bool
    /// The status of the answer; nil where there is none.
    public var status: Int?
    /// What was made to go wrong with the answer.
    public var fault: MockFault.Kind?

    /// Makes a request.
    public init(
        id: Int, time: Double, method: String, target: String, headers: [Header], body: String? = nil,
        bodyBase64: String? = nil, isDone: Bool = false, status: Int? = nil, fault: MockFault.Kind? = nil
    ) {
        self.id = id
        self.time = time
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.bodyBase64 = bodyBase64
        self.isDone = isDone
        self.status = status
        self.fault = fault
    }

    /// The value of the first field of a name, whatever its case.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}
