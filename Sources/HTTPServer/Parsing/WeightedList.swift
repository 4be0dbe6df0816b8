/// Reads the lists of `Accept` and `Accept-Encoding`: elements with parameters, of which `q` is the weight (RFC 9110
/// section 12.4.2).
///
/// Lenient, as section 5.6.1 demands: empty elements are skipped, and so are elements whose weight isn't a number from
/// 0 to 1. Digits after the third are ignored.
enum WeightedList {
    struct Element {
        /// The element without its parameters and the blanks around it; not empty. Valid while the closure runs that gets it.
        let value: UnsafeRawBufferPointer
        /// Whether there are parameters before the weight.
        let hasParameters: Bool
        /// The weight in thousandths, 0…1000.
        let weight: Int
    }

    /// Calls a closure with each element of all fields of a kind, in order.
    static func forEach(of field: KnownField, in headers: HTTPHeaders, _ body: (Element) -> Void) {
        for value in headers.values(of: field) {
            value.withUnsafeBytes { value in
                var rest = value
                while !rest.isEmpty {
                    let element = takePart(of: &rest, upTo: ASCII.comma)
                    if let element = Element(element) { body(element) }
                }
            }
        }
    }

    /// Removes the bytes before the next unquoted separator, and the separator; returns the bytes.
    fileprivate static func takePart(
        of rest: inout UnsafeRawBufferPointer, upTo separator: UInt8
    ) -> UnsafeRawBufferPointer {
        var isQuoted = false
        var isEscaped = false
        var index = 0
        while index < rest.count {
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
            index &+= 1
        }
        let part = UnsafeRawBufferPointer(rebasing: rest[..<index])
        rest = UnsafeRawBufferPointer(rebasing: rest[min(index + 1, rest.count)...])
        return part
    }
}

extension WeightedList.Element {
    fileprivate init?(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        value = UnsafeRawBufferPointer(
            rebasing: ASCII.trimmed(WeightedList.takePart(of: &rest, upTo: ASCII.semicolon)))
        guard !value.isEmpty else { return nil }
        var hasParameters = false
        while !rest.isEmpty {
            let parameter = UnsafeRawBufferPointer(
                rebasing: ASCII.trimmed(WeightedList.takePart(of: &rest, upTo: ASCII.semicolon)))
            if parameter.isEmpty { continue }
            if ASCII.lowercased(parameter[0]) == UInt8(ascii: "q"), parameter.count > 1,
                parameter[1] == UInt8(ascii: "=")
            {
                let number = UnsafeRawBufferPointer(rebasing: parameter[2...])
                guard let weight = Self.weight(number) else { return nil }
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
    private static func weight(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard !bytes.isEmpty, bytes[0] == ASCII.zero || bytes[0] == ASCII.zero + 1 else { return nil }
        var weight = Int(bytes[0] - ASCII.zero) * 1000
        guard bytes.count > 1 else { return weight }
        guard bytes[1] == ASCII.dot else { return nil }
        var place = 100
        for index in 2..<bytes.count {
            guard ASCII.isDigit(bytes[index]) else { return nil }
            weight += Int(bytes[index] - ASCII.zero) * place
            place /= 10
        }
        return weight <= 1000 ? weight : nil
    }
}
