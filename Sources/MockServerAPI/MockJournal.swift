import Foundation

/// The requests that a session has received, in the order in which they arrived.
public struct MockJournal: Hashable, Sendable, Codable {
    /// The requests that are kept, the newest last.
    public let requests: [MockRequest]
    /// How many older ones were dropped, because a journal is bounded.
    public let dropped: Int

    /// Makes a journal.
    public init(requests: [MockRequest], dropped: Int) {
        self.requests = requests
        self.dropped = dropped
    }
}

/// A request that a session has received, and its outcome.
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
    /// The body in Base64 (RFC 4648, section 4), where it isn't text in UTF-8.
    public let bodyBase64: String?
    /// Whether the mock is done with it: the mock has responded or reset the connection, or the client is gone.
    public var isDone: Bool
    /// The status of the response; nil where there is none.
    public var status: Int?
    /// The fault that was applied to the response; nil where there was none.
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

    /// Returns the value of the first header of a name, in whatever case it is written.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// A query of a session's journal: which requests to return, and whether to wait for one.
public struct MockJournalQuery: Hashable, Sendable {
    /// Only requests with a greater number than this, from 0.
    public var after: Int
    /// How long to wait for the first of them, in whole seconds, 0…60.
    public var waitSeconds: Int
    /// Whether to wait until the mock is done with a request, or only until it has arrived.
    public var untilDone: Bool
    /// The method of the requests; nil is any.
    public var method: String?
    /// The path of the requests, or the template of a route, as in `MockFaultRule.path`; nil is any.
    public var path: String?

    /// Makes a query.
    public init(
        after: Int = 0, waitSeconds: Int = 0, untilDone: Bool = true, method: String? = nil,
        path: String? = nil
    ) {
        self.after = after
        self.waitSeconds = waitSeconds
        self.untilDone = untilDone
        self.method = method
        self.path = path
    }
}

extension MockJournalQuery {
    private enum Name: String, CaseIterable {
        case after, wait, done, method, path
    }

    /// What is wrong with a query, as the rest of a sentence that begins with the parameter's name.
    package struct Fault: Error, Hashable {
        /// The parameter's name.
        package let parameter: String
        /// What is wrong with it.
        package let detail: String
    }

    /// The query's items.
    public var queryItems: [URLQueryItem] {
        let values: [(Name, String?)] = [
            (.after, String(after)), (.wait, String(waitSeconds)), (.done, untilDone ? nil : "false"),
            (.method, method), (.path, path),
        ]
        return values.compactMap { name, value in
            value.map { URLQueryItem(name: name.rawValue, value: $0) }
        }
    }

    /// Reads a raw query. Each parameter may occur once.
    ///
    /// - Throws: the first `Fault`.
    package init(query: String) throws(Fault) {
        var values: [Name: String] = [:]
        for item in query.split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Name(rawValue: String(parts[0])) else {
                let known = Name.allCases.map(\.rawValue).joined(separator: ", ")
                throw Fault(
                    parameter: String(parts[0].prefix(40)), detail: "is not known; known are \(known)")
            }
            guard parts.count == 2, let value = String(parts[1]).removingPercentEncoding else {
                throw Fault(parameter: name.rawValue, detail: "has no value that is encoded properly")
            }
            guard values.updateValue(value, forKey: name) == nil else {
                throw Fault(parameter: name.rawValue, detail: "must be given once")
            }
        }
        self.init(
            after: try Self.integer(values, .after, in: 0...Int.max),
            waitSeconds: try Self.integer(values, .wait, in: 0...60),
            untilDone: try Self.flag(values, .done),
            method: values[.method], path: values[.path])
    }

    private static func integer(
        _ values: [Name: String], _ name: Name, in range: ClosedRange<Int>
    ) throws(Fault) -> Int {
        guard let text = values[name] else { return 0 }
        guard let number = Int(text), range.contains(number) else {
            throw Fault(
                parameter: name.rawValue,
                detail: "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func flag(_ values: [Name: String], _ name: Name) throws(Fault) -> Bool {
        switch values[name] {
        case nil, "true": return true
        case "false": return false
        default: throw Fault(parameter: name.rawValue, detail: "must be true or false")
        }
    }
}
