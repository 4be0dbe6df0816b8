/// One name and value of a query, not percent-encoded.
public struct QueryItem: Hashable, Sendable {
    /// The parameter's name.
    public let name: String
    /// The parameter's value.
    public let value: String

    /// Makes an item of text that is not percent-encoded.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    init(_ parameter: some QueryParameter, _ number: Double) {
        var digits = ByteBuffer(capacity: 32)
        digits.appendDecimal(number)
        self.init(name: parameter.name.description, value: String(decoding: digits.bytes, as: UTF8.self))
    }

    init(_ parameter: some QueryParameter, _ number: Int) {
        self.init(name: parameter.name.description, value: String(number))
    }
}

extension [QueryItem] {
    /// The items as a query, everything but RFC 3986's unreserved characters escaped: `+` is `%2B`.
    public var percentEncodedQuery: String {
        map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }
            .joined(separator: "&")
    }
}
