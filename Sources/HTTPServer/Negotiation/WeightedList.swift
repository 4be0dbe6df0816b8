/// Reads the lists of `Accept` and `Accept-Encoding`: elements with parameters, of which `q` is the weight (RFC 9110
/// section 12.4.2).
///
/// Lenient, as section 5.6.1 demands: empty elements are skipped, and so are elements whose weight isn't a number from
/// 0 to 1. Digits after the third are ignored.
enum WeightedList {
    struct Element {
        /// The element without its parameters and the blanks around it; not empty.
        let value: Slice<UnsafeRawBufferPointer>
        /// Whether there are parameters before the weight.
        let hasParameters: Bool
        /// The weight in thousandths, 0…1000.
        let weight: Int
    }

    /// Calls a closure with each element of all fields of a name, in order.
    static func forEach(of name: HTTPHeaderName, in headers: HTTPHeaders, _ body: (Element) -> Void) {
        headers.forEachValue(of: name) { value in
            var rest = value
            while !rest.isEmpty {
                let element = takePart(of: &rest, upTo: ASCII.comma)
                if let element = Element(element) { body(element) }
            }
        }
    }

    /// Removes the bytes before the next unquoted separator, and the separator; returns the bytes.
    fileprivate static func takePart(
        of rest: inout Slice<UnsafeRawBufferPointer>, upTo separator: UInt8
    ) -> Slice<UnsafeRawBufferPointer> {
        var isQuoted = false
        var isEscaped = false
        var index = rest.startIndex
        while index < rest.endIndex {
            let byte = rest[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == separator, !isQuoted {
                break
            }
            index += 1
        }
        let part = rest[rest.startIndex..<index]
        rest = rest[min(index + 1, rest.endIndex)...]
        return part
    }
}

extension WeightedList.Element {
    fileprivate init?(_ bytes: Slice<UnsafeRawBufferPointer>) {
        var rest = bytes
        value = ASCII.trimmed(WeightedList.takePart(of: &rest, upTo: ASCII.semicolon))
        guard !value.isEmpty else { return nil }
        var hasParameters = false
        while !rest.isEmpty {
            let parameter = ASCII.trimmed(WeightedList.takePart(of: &rest, upTo: ASCII.semicolon))
            guard let first = parameter.first else { continue }
            if ASCII.lowercased(first) == UInt8(ascii: "q"), parameter.dropFirst().first == UInt8(ascii: "=")
            {
                guard let weight = Self.weight(parameter.dropFirst(2)) else { return nil }
                // Extensions may follow the weight; none was ever defined.
                self.weight = weight
                self.hasParameters = hasParameters
                return
            }
            hasParameters = true
        }
        self.weight = 1000
        self.hasParameters = hasParameters
    }

    /// Reads a number from 0 to 1, in thousandths; nil for anything else.
    private static func weight(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int? {
        guard let first = bytes.first, first == ASCII.zero || first == ASCII.zero + 1 else { return nil }
        var weight = Int(first - ASCII.zero) * 1000
        let fraction = bytes.dropFirst()
        guard !fraction.isEmpty else { return weight }
        guard fraction.first == ASCII.dot else { return nil }
        var place = 100
        for byte in fraction.dropFirst() {
            guard ASCII.isDigit(byte) else { return nil }
            weight += Int(byte - ASCII.zero) * place
            place /= 10
        }
        return weight <= 1000 ? weight : nil
    }
}
