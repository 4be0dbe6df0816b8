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

    init(_ parameter: some QueryParameter, _ text: String) {
        self.init(name: parameter.name.description, value: text)
    }

    init(_ parameter: some QueryParameter, _ number: Double) {
        self.init(parameter, [number])
    }

    init(_ parameter: some QueryParameter, _ numbers: [Double]) {
        var digits = ByteBuffer(capacity: 32 * numbers.count)
        for (index, number) in numbers.enumerated() {
            if index > 0 { digits.append(UInt8(ascii: ",")) }
            digits.appendDecimal(number)
        }
        self.init(parameter, String(decoding: digits.bytes, as: UTF8.self))
    }

    init(_ parameter: some QueryParameter, _ number: Int) {
        self.init(parameter, String(number))
    }
}

extension [QueryItem] {
    /// The items as a query, everything but RFC 3986's unreserved characters escaped: `+` is `%2B`.
    public var percentEncodedQuery: String {
        var query: [UInt8] = []
        query.reserveCapacity(48 * count)
        for item in self {
            if !query.isEmpty { query.append(UInt8(ascii: "&")) }
            PercentEncoding.encode(item.name, onto: &query)
            query.append(UInt8(ascii: "="))
            PercentEncoding.encode(item.value, onto: &query)
        }
        return String(decoding: query, as: UTF8.self)
    }
}
