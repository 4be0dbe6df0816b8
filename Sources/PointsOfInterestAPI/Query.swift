/// One name and value of a query, not percent-encoded.
package struct QueryItem: Hashable, Sendable {
    /// The parameter's name.
    package let name: String
    /// The parameter's value.
    package let value: String

    /// Makes an item of text that is not percent-encoded.
    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    init(_ name: String, _ text: String) {
        self.init(name: name, value: text)
    }

    init(_ name: String, _ number: Double) {
        self.init(name, [number])
    }

    init(_ name: String, _ numbers: [Double]) {
        var digits = ByteBuffer(capacity: 32 * numbers.count)
        for (index, number) in numbers.enumerated() {
            if index > 0 { digits.append(UInt8(ascii: ",")) }
            digits.appendDecimal(number)
        }
        self.init(name, String(decoding: digits.bytes, as: UTF8.self))
    }

    init(_ name: String, _ number: Int) {
        self.init(name, String(number))
    }
}

extension [QueryItem] {
    /// The items as a query, everything but RFC 3986's unreserved characters escaped: `+` is `%2B`.
    package var percentEncodedQuery: String {
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

/// Percent-encoding of names and values in a query (RFC 3986, section 2.1). The server's side decodes.
package enum PercentEncoding {
    /// Appends a text, everything but RFC 3986's unreserved characters escaped.
    fileprivate static func encode(_ text: String, onto encoded: inout [UInt8]) {
        for byte in text.utf8 {
            if isUnreserved(byte) {
                encoded.append(byte)
            } else {
                encoded.append(UInt8(ascii: "%"))
                encoded.append(hexDigit(byte >> 4))
                encoded.append(hexDigit(byte & 15))
            }
        }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default:
            false
        }
    }

    private static func hexDigit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + nibble - 10
    }
}

extension [String] {
    /// Each text once, in the order of its UTF-8.
    ///
    /// By bytes, not by `Set<String>` and `<`: those compare strings by canonical equivalence, which takes time with
    /// the square of a run of combining marks.
    package var uniqueInByteOrder: [String] {
        Set(map { [UInt8]($0.utf8) }).sorted { $0.lexicographicallyPrecedes($1) }
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
